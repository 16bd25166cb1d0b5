import { describe, expect, it } from 'vitest'
import { call, recording, result, text } from '../../../test/lab/recordings.ts'
import { defaults } from '../../settings/defaults.ts'
import { scriptOf } from '../playing/script.ts'
import { needsOf } from './needs.ts'
import { Recovery } from './recovery.ts'
import { isRepeatable } from './sources.ts'

const page = `the rows are in src/rows.ts\n${'filling words\n'.repeat(200)}`
const needs = needsOf(
  scriptOf(
    recording([
      ['user', [text('Take ticket_77 as its name.')]],
      ['assistant', [call('1', 'Read', { path: 'notes' }), call('2', 'Grep', { pattern: 'rows' })]],
      ['user', [result('1', page), result('2', 'rows of src/rows.ts')]],
      ['assistant', [call('3', 'Bash', { command: 'npm publish' })]],
      ['user', [result('3', 'published as build_4711')]],
      [
        'assistant',
        [
          call('4', 'Edit', {
            path: 'src/rows.ts',
            name: 'ticket_77 build_4711',
            old_string: 'rows of src/rows.ts',
          }),
        ],
      ],
    ]),
  ),
)
const weigh = (block: object): number => JSON.stringify(block).length
const [smallest] = needs.sourcesOf('src/rows.ts', 2).toSorted((a, b) => weigh(a.block) - weigh(b.block))
const round = defaults.lab.lookUpOutputTokens

describe('what forgetting costs', () => {
  it('[J23] is the smallest source that holds what is missing, each once, and the call', () => {
    const recovery = new Recovery(needs, weigh)
    const missing = { atoms: ['src/rows.ts', 'rows.ts'], texts: ['rows of src/rows.ts'] }
    expect(recovery.request(2, missing, false)).toEqual({
      carried: 0,
      fetched: weigh(smallest!.block) + round,
    })
  })

  it('[J23] is carried and not fetched again until the next reduction', () => {
    const recovery = new Recovery(needs, weigh)
    const missing = { atoms: ['src/rows.ts'], texts: [] }
    const { fetched } = recovery.request(2, missing, false)
    expect(fetched).toBeGreaterThan(round)
    expect(recovery.request(2, missing, false)).toEqual({ carried: fetched, fetched: 0 })
    expect(recovery.request(2, missing, true)).toEqual({ carried: 0, fetched })
    expect(recovery.request(2, { atoms: [], texts: [] }, true)).toEqual({ carried: 0, fetched: 0 })
  })

  it('[J24] is apart from what no look-up brings back: what somebody said, and what a command put out that changes things', () => {
    expect(needs.steps[2]!.saidOnce.toSorted()).toEqual(['build_4711', 'ticket_77'])
    const commands = ['cat a | head', 'cd x && git log -3', 'rg foo 2>/dev/null', 'ls; pwd']
    for (const command of commands) expect(isRepeatable('Bash', { command })).toBe(true)
    for (const command of ['npm test', 'cat a > b', 'git push', 'ls && rm x', 'sed -i s/a/b/ x'])
      expect(isRepeatable('exec_command', { cmd: command })).toBe(false)
    expect(isRepeatable('Read', {})).toBe(true)
    expect(isRepeatable('Task', {})).toBe(false)
  })
})
