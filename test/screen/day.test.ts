import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, text } from '../../src/simulator/index.ts'
import { openWorkspace, server, until } from '../cli/pal.ts'
import { answer, isShown, leave, open, say, sayNext, shows } from './seen.ts'
import { keys } from './terminal.ts'

describe('a day at the screen', () => {
  it('[TE8] carries a whole task: a named file, an approval, an interrupt, a compaction, undo, and going on later', async () => {
    const long = Array.from(
      { length: 900 },
      (_, line) => `line ${line} of a long answer about the parser`,
    ).join('\n')
    const { access, simulator } = await server(
      [
        [text('I change it.'), call('Edit', { file_path: 'app.ts', old_string: 'one', new_string: 'two' })],
        'changed the constant',
        long,
        'never seen',
        'after the interrupt',
        'later, in another run',
      ],
      { faults: [{ at: 4, fault: { kind: 'hang', afterEvents: 1 } }] },
    )
    const at = await openWorkspace({ ...access, PALIMPSEST_WINDOW: '60000', PALIMPSEST_MODEL_SUMMARY: 'off' })
    await writeFile(join(at.project, 'app.ts'), 'export const n = "one"\n')
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, 'look at @app.ts and change one to two')
    await shows(seen, 'attached: ')
    await shows(seen, 'Yes, for this session')
    await answer(seen, 'y', 'Yes')
    await shows(seen, 'changed the constant')
    expect(await readFile(join(at.project, 'app.ts'), 'utf8')).toContain('"two"')
    const first = JSON.stringify(simulator.log.requests[0]?.body)
    expect(first).toContain('export const n')
    await say(seen, 'tell me about the parser')
    await shows(seen, 'line 899 of a long answer')
    await say(seen, 'this one is stopped')
    await until(() => simulator.log.requests.length >= 4, 'the request')
    seen.type(keys.escape)
    await shows(seen, 'Interrupted. What should I do instead?')
    await say(seen, 'go on')
    await shows(seen, 'after the interrupt')
    await sayNext(seen, '/compact')
    await shows(seen, /tokens became/)
    const place = /undo\s+(\d+)\s+restores/.exec(seen.all())?.[1]
    expect(place).toBeDefined()
    await say(seen, `/undo ${place}`)
    await shows(seen, 'is undone')
    await leave(seen)
    const again = open(at, ['--continue'])
    await shows(again, 'after the interrupt')
    await say(again, 'and now')
    await shows(again, 'later, in another run')
    const last = JSON.stringify(simulator.log.last()?.body)
    expect(last).toContain('line 899 of a long answer')
    expect(last).toContain('look at @app.ts')
    await leave(again)
  })

  it('[TE9] shift+tab changes the mode: in plan nothing is changed, and the model is told', async () => {
    const { access, simulator } = await server([
      [call('Write', { file_path: 'x.txt', content: 'x' })],
      'planned',
      [call('Write', { file_path: 'x.txt', content: 'x' })],
      'written',
    ])
    const at = await openWorkspace(access)
    const seen = open(at)
    await shows(seen, '/help')
    seen.type(keys.shiftTab)
    await until(() => seen.lines().join('\n').includes('acceptEdits'), 'the mode')
    seen.type(keys.shiftTab)
    await until(() => /· plan/.test(seen.lines().join('\n')), 'the mode')
    await say(seen, 'write x')
    await shows(seen, 'planned')
    expect(JSON.stringify(simulator.log.requests[0]?.body)).toMatch(/<mode name=[^>]*plan/)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('plan mode is read-only')
    seen.type(keys.shiftTab)
    seen.type(keys.shiftTab)
    await until(() => seen.lines().join('\n').includes('acceptEdits'), 'the mode')
    await say(seen, 'now write x')
    await shows(seen, 'written')
    expect(await readFile(join(at.project, 'x.txt'), 'utf8')).toBe('x')
    await leave(seen)
  })

  it('[EX8] a plan is shown and agreed to, ends its mode, and stands after a compaction', async () => {
    const plan = '1. measure the TURNIP\n2. write it down'
    const { access, simulator } = await server([
      [call('Plan', { plan })],
      [call('Plan', { plan })],
      [call('Write', { file_path: 'turnip.txt', content: '3 cm' })],
      'planned and begun',
      'long words '.repeat(4000),
      'after',
    ])
    const at = await openWorkspace({ ...access, PALIMPSEST_NOTES: 'off', PALIMPSEST_MODEL_SUMMARY: 'off' })
    const seen = open(at)
    await shows(seen, '/help')
    seen.type(keys.shiftTab)
    seen.type(keys.shiftTab)
    await until(() => / · plan/.test(seen.lines().join('\n')), 'the mode')
    await say(seen, 'what about the turnip?')
    await shows(seen, 'measure the TURNIP')
    await answer(seen, 'n', 'No')
    await shows(seen, 'just no')
    seen.type(keys.enter)
    // Only with the answer to the first question on the screen is what is asked there the second.
    await shows(seen, 'The user did not approve the plan')
    const isAgain = /did not approve[\s\S]*start the work\?/
    await until(() => isAgain.test(seen.lines().join('\n')), 'the question again')
    await answer(seen, 'y', 'Yes')
    await until(() => isShown(seen, 'it changes'), 'the question about the file')
    await answer(seen, 'y', 'Yes')
    await shows(seen, 'planned and begun')
    expect(/ · plan/.test(seen.lines().join('\n'))).toBe(false)
    await say(seen, 'more')
    await shows(seen, 'long words')
    await sayNext(seen, '/compact')
    await shows(seen, /tokens became/)
    await say(seen, 'go on')
    await shows(seen, 'after')
    const last = JSON.stringify(simulator.log.last()?.body)
    expect(last).toContain('The plan the user approved:\\n1. measure the TURNIP')
    expect(last.lastIndexOf('mode name=\\"default')).toBeGreaterThan(last.lastIndexOf('mode name=\\"plan'))
    await leave(seen)
  })

  it('[TE10] finds what was typed before with the up key, also in the next run, and offers commands and files', async () => {
    const { access } = await server(['one'])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'telescope.md'), 'x')
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, 'remember these words')
    await shows(seen, 'one')
    await leave(seen)
    const again = open(at)
    await shows(again, '/help')
    again.type(keys.up)
    await until(() => again.lines().some((line) => line.trim() === 'remember these words'), 'the words')
    again.type(keys.ctrlC)
    again.type('/com')
    await shows(again, 'replace older')
    again.type(keys.ctrlC)
    again.type('see @teles')
    await until(
      () => again.lines().some((line) => line.includes('→') && line.includes('telescope.md')),
      'the file',
    )
    again.type(keys.ctrlC)
    await leave(again)
  })
})
