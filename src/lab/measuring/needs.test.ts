import { describe, expect, it } from 'vitest'
import { call, recording, result, text } from '../../../test/lab/recordings.ts'
import { scriptOf } from '../playing/script.ts'
import { needsOf, replacedBy } from './needs.ts'

it('[J15] reasoning that says it was longer than any text can be is played all the same', () => {
  const block = { type: 'thinking', thinking: '', signature_chars: 1e308 } as const
  const made = recording([
    ['user', [text('Go.')]],
    ['assistant', [{ block, kind: undefined }, text('Done.')]],
  ])
  expect(() => scriptOf(made)).not.toThrow()
  expect(scriptOf(made).steps[0]!.answer.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
})

describe('needs', () => {
  it('[J2] are the atoms of a call that had been seen before it, each once a step', () => {
    const needs = needsOf(
      scriptOf(
        recording([
          ['user', [text('Look at src/a.ts and totalRows.')]],
          ['assistant', [call('1', 'Read', { path: 'src/a.ts', near: 'neverSeen' })]],
          ['user', [result('1', 'line 812: rowCount')]],
          ['assistant', [call('2', 'Grep', { pattern: 'rowCount|rowCount', at: 812, path: 'src/b.ts' })]],
          ['user', [result('2', 'nothing')]],
          ['assistant', [text('neverSeen src/b.ts'), call('3', 'Read', { path: 'src/b.ts neverSeen' })]],
        ]),
      ),
    )
    expect(needs.steps.map(({ atoms }) => [...atoms].sort())).toEqual([
      ['a.ts', 'src/a.ts'],
      ['812', 'rowCount'],
      // What the model itself named in an earlier answer had been seen; what it names in this one had not.
      ['b.ts', 'neverSeen', 'src/b.ts'],
    ])
  })

  it('[J2] of code that calls tools are those of what it gives them: not its own words, nor what only looks like one as it is written', () => {
    const code = (cmd: string) =>
      `const r = await tools.exec_command({cmd:${JSON.stringify(cmd)},max_output_tokens:20000}); text(r)`
    const needs = needsOf(
      scriptOf(
        recording([
          ['user', [text('Look at src/a.ts.')]],
          ['assistant', [call('1', 'exec', { input: code('cat src/a.ts\nrowCount b') })]],
          ['user', [result('1', 'line 812: rowCount')]],
          ['assistant', [call('2', 'exec', { input: code('sed -n 812p src/a.ts\nrowCount') })]],
        ]),
      ),
    )
    expect(needs.steps.map(({ atoms }) => [...atoms].sort())).toEqual([
      ['a.ts', 'src/a.ts'],
      ['a.ts', 'rowCount', 'src/a.ts'],
    ])
  })

  it('[J2] a number that a call was given is a need where something else showed it, and shows it to nobody', () => {
    const needs = needsOf(
      scriptOf(
        recording([
          ['user', [text('Look.')]],
          ['assistant', [call('1', 'Bash', { command: 'npm start', timeout: 60_000, lines: '4500' })]],
          ['user', [result('1', 'session 88896 listens')]],
          ['assistant', [call('2', 'Wait', { session: 88_896, timeout: 60_000, lines: '4500' })]],
          ['user', [result('2', 'nothing yet')]],
          ['assistant', [call('3', 'Bash', { command: 'kill -s 60000', timeout: 60_000 })]],
          ['user', [result('3', 'done')]],
          ['assistant', [call('4', 'Bash', { command: 'true', timeout: 60_000 })]],
        ]),
      ),
    )
    // The last one: a command has named it by then.
    expect(needs.steps.map(({ atoms }) => atoms)).toEqual([[], ['88896'], [], ['60000']])
  })

  it('[J3] of edits are the texts they replace that had been shown word for word', () => {
    const needs = needsOf(
      scriptOf(
        recording([
          ['user', [text('Fix it.')]],
          ['assistant', [call('1', 'Read', { path: 'a' })]],
          ['user', [result('1', '    12→const x = 1\n    13→const y = 2\n')]],
          ['assistant', [call('2', 'Edit', { old_string: 'const x = 1\nconst y = 2', new_string: 'z' })]],
          ['user', [result('2', 'ok')]],
          ['assistant', [call('3', 'Edit', { old_string: 'const q = 9', new_string: 'z' })]],
        ]),
      ),
    )
    expect(needs.steps.map(({ replaced }) => replaced)).toEqual([[], ['const x = 1\nconst y = 2'], []])
  })

  it('[J3] reads the old side of patches and of every kind of edit', () => {
    const patch =
      '*** Begin Patch\n*** Update File: a\n@@\n keep one\n-old line\n+new line\n keep two\n@@\n+only added\n*** End Patch'
    expect(replacedBy({ input: patch })).toEqual(['keep one\nold line\nkeep two'])
    const code = `const patch = ${JSON.stringify(patch)};\ntext(await tools.apply_patch(patch));`
    expect(replacedBy({ input: code })).toEqual(['keep one\nold line\nkeep two'])
    expect(replacedBy({ edits: [{ oldText: 'abc' }, { old_str: 'def' }], new_str: 'ghi' })).toEqual([
      'abc',
      'def',
    ])
  })
})
