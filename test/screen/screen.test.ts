import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, text } from '../../src/simulator/index.ts'
import { holding, openWorkspace, server, until } from '../cli/pal.ts'
import { leave, open, say, sees, shows } from './seen.ts'
import { keys } from './terminal.ts'

describe('a turn on the screen', () => {
  it('[TE1] streams answers as markdown, calls with their results, and a status line that adds up', async () => {
    const { access } = await server([
      [text('I look.'), call('Glob', { pattern: '*.txt' })],
      '**done** and `well`',
    ])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'a.txt'), 'x')
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, 'hello there')
    await shows(seen, 'done and well')
    expect(seen.all()).toMatch(/› hello there[\s\S]*I look\.[\s\S]*● Glob \*\.txt\s+a\.txt/)
    await until(() => /K of \S+ \(\d+%\) · cache \d+% · \$0\.0/.test(seen.lines().join('\n')), 'the status')
    await leave(seen)
    expect(seen.all()).toContain('pal --continue')
    expect(seen.cursor().isAltScreen).toBe(false)
  })

  it('[TE2] keeps what is typed while a turn runs, stops it at escape, and goes on', async () => {
    const { answerer, letGo } = holding([[call('Glob', { pattern: 'one' })], 'half an answer', 'third'], 1)
    const { access, simulator } = await server([], {
      answerer,
      faults: [{ at: 2, fault: { kind: 'hang', afterEvents: 3 } }],
    })
    const at = await openWorkspace(access)
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, 'begin')
    await until(() => simulator.log.requests.length >= 1, 'a request')
    await say(seen, 'and this too')
    await shows(seen, 'Queued')
    letGo()
    await until(() => simulator.log.requests.length >= 2, 'the second request')
    seen.type(keys.escape)
    await shows(seen, 'Interrupted')
    await say(seen, 'go on')
    await shows(seen, 'third')
    const bodies = JSON.stringify(simulator.log.last()?.body)
    expect(bodies.split('and this too').length - 1).toBe(1)
    await leave(seen)
  })
})

describe('another width', () => {
  it('[TE42] while an answer comes leaves the log whole, with nothing twice', async () => {
    const words = Array.from({ length: 120 }, (_, at) => `word-${at}-of-it`)
    const slow = { kind: 'slow', delayMs: 40 } as const
    const { access } = await server([words.join(' ')], { faults: [{ at: () => true, fault: slow }] })
    const at = await openWorkspace(access)
    const seen = open(at, [], 100)
    await shows(seen, '/help')
    await say(seen, 'begin')
    await shows(seen, 'word-2-of-it')
    for (const columns of [60, 120, 47]) {
      seen.resize(columns, 30)
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    await shows(seen, 'word-119-of-it')
    await shows(seen, /K of \S+ \(\d+%\)/)
    // The last width is drawn when the program comes to it.
    const times = (word: string): number => seen.all().split(word).length - 1
    await sees(seen, () => words.every((word) => times(word) === 1))
    expect(words.filter((word) => times(word) !== 1)).toEqual([])
    expect(times('› begin')).toBe(1)
    await leave(seen)
  })
})

describe('a provider that cannot be reached', () => {
  it('[TE13] is waited for with a countdown, and escape ends the wait', async () => {
    const busy = {
      kind: 'status',
      status: 529,
      type: 'overloaded_error',
      message: 'Overloaded',
      retryAfterSeconds: 20,
    } as const
    const { access, simulator } = await server(['at last'], {
      faults: [{ at: ({ number }) => number <= 1, fault: busy }],
    })
    const at = await openWorkspace(access)
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, 'are you there?')
    await shows(seen, /attempt \d+ in \d+ s/)
    const first = /in (\d+) s/.exec(seen.all())?.[1]
    await until(() => /in (\d+) s/.exec(seen.all())?.[1] !== first, 'the countdown')
    seen.type(keys.escape)
    await shows(seen, 'Interrupted')
    expect(simulator.log.requests.length).toBe(1)
    await say(seen, 'again')
    await shows(seen, 'at last')
    await leave(seen)
  })
})

describe('going back on the screen', () => {
  it('[TE3] rewinds to a message picked from a list and gives the files back', async () => {
    const { access } = await server([
      [call('Write', { file_path: 'note.txt', content: 'first\n' })],
      'written',
      [call('Edit', { file_path: 'note.txt', old_string: 'first', new_string: 'second' })],
      'edited',
      'anew',
    ])
    const at = await openWorkspace(access)
    const seen = open(at, ['--allow', 'Write,Edit'])
    await shows(seen, '/help')
    await say(seen, 'write the note')
    await shows(seen, 'written')
    await say(seen, 'change the note')
    await shows(seen, 'edited')
    expect(seen.all()).toContain('-first')
    expect(seen.all()).toContain('+second')
    await say(seen, '/rewind')
    await shows(seen, 'Rewind to before which message?')
    seen.type(keys.enter)
    await shows(seen, 'Restore the files that were changed since?')
    seen.type(keys.down)
    seen.type(keys.enter)
    await shows(seen, 'restored:')
    expect(await readFile(join(at.project, 'note.txt'), 'utf8')).toBe('first\n')
    // The words are back where they were typed.
    await until(() => seen.lines().some((line) => line.trim() === 'change the note'), 'the words')
    seen.type(keys.ctrlC)
    await until(() => !seen.lines().some((line) => line.trim() === 'change the note'), 'an empty line')
    await leave(seen)
  })

  it('[TE4] goes on with a session chosen from a list, and shows what was said', async () => {
    const { access, simulator } = await server(['the first answer', 'the second answer', 'the third answer'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'about apples'])
    await at.pal(['-p', 'about pears'])
    const seen = open(at, ['--resume'])
    await shows(seen, 'Which session?')
    await shows(seen, 'about apples')
    seen.type(keys.down)
    seen.type(keys.enter)
    await shows(seen, 'the first answer')
    await say(seen, 'and now')
    await shows(seen, 'the third answer')
    const sent = JSON.stringify(simulator.log.last()?.body)
    expect(sent).toContain('about apples')
    expect(sent).not.toContain('about pears')
    await leave(seen)
  })
})
