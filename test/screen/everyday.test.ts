// What people do every day at the screen, each as it was once wrong.
import { existsSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server, until } from '../cli/pal.ts'
import { isShown, leave, open, say, sayNext, sees, shows } from './seen.ts'
import { keys, runInTerminal, type SeenTerminal } from './terminal.ts'

/** Every transcript below a folder. */
async function transcriptText(folder: string): Promise<string> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jsonl'))
  return (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('')
}

/** The exit code, or null for one that goes on. */
const endsSoon = (seen: SeenTerminal): Promise<number | null> => {
  let code: number | null = null
  void seen.ended.then((ended) => (code = ended))
  return until(() => code !== null, 'the end').then(
    () => code,
    () => null,
  )
}
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const small = { PALIMPSEST_WINDOW: '60000', PALIMPSEST_MODEL_SUMMARY: 'off' }

describe('a resumed session', () => {
  it('[TE27] that used a tool is shown without a spinner', async () => {
    const { access } = await server([[call('Glob', { pattern: '*.txt' })], 'looked through'])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'a.txt'), 'x')
    await at.pal(['-p', 'look'])
    const seen = open(at, ['--continue'])
    await shows(seen, 'looked through')
    await shows(seen, /K of \S+ \(\d+%\)/)
    // What only the model was told is not shown again.
    expect(seen.all()).not.toContain('<mode')
    expect(seen.lines().filter((line) => /^\s*[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u.test(line))).toEqual([])
    await leave(seen)
  })
})

describe('another model', () => {
  it('[TE1] its window is the one that fills, at once and after a resume', async () => {
    const { access } = await server(['Hello.'])
    const at = await openWorkspace(access)
    const seen = open(at)
    await shows(seen, / of 1M \(\d+%\)/)
    await say(seen, 'hello')
    await shows(seen, /cache \d+%/)
    await say(seen, '/model claude-haiku-4-5')
    await shows(seen, 'Model set to claude-haiku-4-5')
    expect(await sees(seen, /claude-haiku-4-5 · \S+ of 200K \(\d+%\)/)).toBe(true)
    await leave(seen)
    const again = open(at, ['--continue'])
    expect(await sees(again, /claude-haiku-4-5 · \S+ of 200K \(\d+%\)/)).toBe(true)
    await leave(again)
  })
})

describe('a narrow terminal', () => {
  it('[G73] shows prices beside models', async () => {
    const { access } = await server([])
    const at = await openWorkspace(access)
    const seen = open(at, [], 60)
    await shows(seen, '/help')
    await say(seen, '/model')
    expect(await sees(seen, /claude-sonnet-5 .*\$2\.00 in/)).toBe(true)
    seen.kill('SIGKILL')
  })
})

describe('a notification', () => {
  it('[TE33] comes by the bell when a turn ends, as the settings say, and never into a pipe', async () => {
    const { access } = await server(['one', 'two', 'three'])
    const at = await openWorkspace({ ...access, PALIMPSEST_NOTIFY_AFTER: '0' })
    const notified = async (notify: string, answer: string): Promise<SeenTerminal> => {
      const seen = open({ ...at, environment: { ...at.environment, PALIMPSEST_NOTIFY: notify } })
      await shows(seen, '/help')
      await say(seen, 'hello')
      await shows(seen, answer)
      await shows(seen, /cache \d+%/)
      await leave(seen)
      return seen
    }
    const rung = await notified('bell', 'one')
    await until(() => rung.bells() === 1, 'the bell')
    const off = await notified('off', 'two')
    expect(off.bells()).toBe(0)
    expect(off.raw()).not.toContain('\u001B]9;')
    const desktop = await notified('desktop', 'three')
    expect(desktop.raw()).toContain('\u001B]9;pal: turn finished after ')
    expect(desktop.bells()).toBe(0)
    const piped = await at.pal(['--lines'], { input: '/help\n' })
    expect(piped.out + piped.err).not.toContain('\u0007')
  })
})

describe('after a compaction', () => {
  it('[TE28] messages that it replaced can be rewound to, and an empty list swallows no keys', async () => {
    const long = 'a long answer about the parser\n'.repeat(900)
    const { access, simulator } = await server([long, 'the second answer', 'anew'])
    const at = await openWorkspace({ ...access, ...small })
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, 'the first question')
    await shows(seen, 'a long answer about the parser')
    await say(seen, 'the second question')
    await shows(seen, 'the second answer')
    await sayNext(seen, '/compact')
    await shows(seen, /\/undo \d+ restores it/)
    await sayNext(seen, '/rewind')
    const offered = () => isShown(seen, 'which message?') && isShown(seen, 'the first question  ')
    expect(await sees(seen, offered)).toBe(true)
    seen.type(keys.down)
    seen.type(keys.enter)
    await shows(seen, 'Restore the files')
    seen.type(keys.enter)
    await shows(seen, 'rewound to before "the first question"')
    await until(() => seen.lines().some((line) => line.trim() === 'the first question'), 'the text')
    seen.type(keys.enter)
    await shows(seen, 'anew')
    expect(JSON.stringify(simulator.log.last()?.body)).not.toContain('a long answer about the parser')
    await leave(seen)
  })
})

describe('a rewind', () => {
  it('[TE36] takes the messages that were left out of the log, and the transcript keeps them', async () => {
    const { access } = await server(['answer one', 'answer two', 'answer three', 'answer four'])
    const at = await openWorkspace(access)
    const seen = open(at)
    await shows(seen, '/help')
    for (const [said, answered] of [
      ['question one', 'answer one'],
      ['//question two', 'answer two'],
      ['question three', 'answer three'],
    ] as const) {
      await sayNext(seen, said)
      await shows(seen, answered)
    }
    await sayNext(seen, '/rewind')
    await shows(seen, 'which message?')
    seen.type(keys.down)
    await until(() => isShown(seen, '→ /question two'), 'the second message')
    seen.type(keys.enter)
    await shows(seen, 'Restore the files')
    seen.type(keys.enter)
    await shows(seen, 'rewound to before "/question two"')
    const inSight = (): string => seen.lines().join('\n')
    expect(inSight()).toMatch(/› question one\s+answer one\s+rewound to before/)
    expect(inSight()).not.toMatch(/answer two|question three|answer three|› \/rewind/)
    await until(() => seen.lines().some((line) => line.trim() === '//question two'), 'the text')
    seen.type(keys.enter)
    await shows(seen, 'answer four')
    await leave(seen)
    expect(await transcriptText(at.state)).toMatch(/answer two.*answer three/s)
  })

  it('[TE36] to a message that is not in sight shows what the model sees', async () => {
    const long = 'a long answer about the parser\n'.repeat(900)
    const { access } = await server([long, 'answer two', 'answer three'])
    const at = await openWorkspace({
      ...access,
      ...small,
      PALIMPSEST_EXTRACTION: 'off',
      PALIMPSEST_NOTES: 'off',
    })
    await at.pal(['-p', 'question one'])
    await at.pal(['-p', '--continue', 'question two'])
    expect((await at.pal(['compact'])).code).toBe(0)
    const seen = open(at, ['--continue'])
    await shows(seen, '/help')
    await shows(seen, /K of \S+ \(\d+%\)/)
    await say(seen, 'question three')
    await shows(seen, 'answer three')
    await say(seen, '/rewind 2')
    await shows(seen, 'Restore the files')
    seen.type(keys.enter)
    await shows(seen, 'rewound to before "question one"')
    expect(seen.lines().join('\n')).not.toMatch(/summary|answer|question (?:two|three)/)
    seen.type(keys.ctrlC)
    await leave(seen)
  })
})

describe('the exit', () => {
  it('[TE37] leaves the last line as it was', async () => {
    const { access } = await server([])
    const seen = open(await openWorkspace(access))
    await shows(seen, '/help')
    await say(seen, '/exit')
    expect(await seen.ended).toBe(0)
    expect(seen.lines().map((line) => line.trimEnd())).toContain('› /exit')
  })
})

describe('an end that nobody is there for', () => {
  it.each(['SIGTERM', 'SIGHUP'] as const)('[TE40] %s stops a shell command and ends', async (signal) => {
    const { access } = await server([])
    const at = await openWorkspace(access)
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, '!echo $$ > pid.txt; exec sleep 600')
    const pid = async (): Promise<number> =>
      Number(await readFile(join(at.project, 'pid.txt'), 'utf8').catch(() => '0'))
    await until(async () => (await pid()) > 0, 'the command to run')
    seen.kill(signal)
    expect(await endsSoon(seen)).toBe(0)
    await until(async () => !isAlive(await pid()), 'the command to end')
  })

  it('[TE40] a request to end also ends a question that is open', async () => {
    const { access } = await server([])
    const seen = open(await openWorkspace(access))
    await shows(seen, '/help')
    await say(seen, '/model')
    await shows(seen, 'Which model?')
    seen.kill('SIGTERM')
    expect(await endsSoon(seen)).toBe(0)
  })
})

describe('a session that is open elsewhere', () => {
  it('[G9] [TE37] is refused in a sentence that outlasts the screen', async () => {
    const { access } = await server(['one'])
    const at = await openWorkspace(access)
    const first = open(at)
    await shows(first, '/help')
    await say(first, 'hello')
    await shows(first, /cache \d+%/)
    const second = open(at, ['--continue'], 60)
    expect(await endsSoon(second)).toBe(4)
    expect(second.all().replaceAll(/\s+/g, ' ')).toMatch(
      /pal: session \S+ is open in process \d+ on \S+ since .*close it there/,
    )
    await leave(first)
  })
})

describe('ctrl+z', () => {
  it('[TE41] suspends pal as the shell expects, and fg brings the screen back', async () => {
    const { access } = await server(['still here'])
    const at = await openWorkspace(access)
    const seen = runInTerminal('bash', ['--norc', '-i'], { cwd: at.project, environment: at.environment })
    seen.type(`${process.execPath} ${at.file}\r`)
    await shows(seen, 'ctrl+d to exit')
    seen.type('\u001A')
    expect(await sees(seen, 'Stopped')).toBe(true)
    seen.type('echo in-the-$((40 + 2))-shell\r')
    await shows(seen, 'in-the-42-shell')
    seen.type('fg\r')
    await until(() => !isShown(seen, 'in-the-42-shell'), 'the screen is drawn again')
    await say(seen, 'hello')
    await shows(seen, 'still here')
    seen.kill('SIGKILL')
  })
})

describe('advice in a conversation', () => {
  it('[TE29] names its own commands, and the status line follows what they do', async () => {
    const { access } = await server(['a long answer about the parser\n'.repeat(900), 'short'])
    const at = await openWorkspace({ ...access, ...small })
    const seen = open(at)
    const size = (): number => Number(/ ([\d.]+)K of 60K/.exec(seen.lines().join('\n'))?.[1] ?? 0)
    await shows(seen, '/help')
    await say(seen, 'the first question')
    await shows(seen, 'a long answer about the parser')
    await say(seen, 'the second question')
    await shows(seen, 'short')
    await sayNext(seen, '/compact')
    await shows(seen, /\/undo \d+ restores it/)
    const compacted = size()
    await say(seen, `/undo ${/\/undo (\d+) restores it/.exec(seen.all())?.[1]}`)
    await shows(seen, /\/release\s+\d+\s+allows/)
    expect(await sees(seen, () => size() > compacted + 1)).toBe(true)
    await say(seen, `/release ${/\/release\s+(\d+)\s+allows/.exec(seen.all())?.[1]}`)
    await shows(seen, 'is released')
    await leave(seen)
  })
})

describe('a session by its id', () => {
  it('[G75] is found by the short id that the list shows, although others and its forks were made in the same minute', async () => {
    const { access } = await server(['one', 'two', 'three', 'again'])
    const at = await openWorkspace({ ...access, PALIMPSEST_EXTRACTION: 'off', PALIMPSEST_NOTES: 'off' })
    await at.pal(['-p', 'about apples'])
    await at.pal(['-p', '--continue', '--fork-session', 'about pears'])
    await at.pal(['-p', 'about plums'])
    const listed = (await at.pal(['sessions'])).out
    const short = /^(\S+) .*about plums/m.exec(listed)?.[1] ?? ''
    expect(short).toMatch(/^[\da-f]{8}$/)
    const again = await at.pal(['-p', '--resume', short, 'and now'])
    expect([again.code, again.out]).toEqual([0, 'again\n'])
  })
})

describe('lines and lists at the screen', () => {
  it('[TE30] [TE31] [G73] escape stops a shell command, a model is chosen with its price, and init asks first', async () => {
    const { access, simulator } = await server(['never asked'])
    const at = await openWorkspace(access)
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, '!echo begun > begun.txt; sleep 600')
    await until(() => existsSync(join(at.project, 'begun.txt')), 'the command to run')
    seen.type(keys.escape)
    expect(await sees(seen, /exit code \S+/)).toBe(true)
    await say(seen, '/model')
    expect(await sees(seen, /claude-sonnet-5 .*\$2\.00 in, \$10\.00 out/)).toBe(true)
    seen.type(keys.down)
    seen.type(keys.enter)
    await shows(seen, /Model set to \S+ for this session/)
    const model = /Model set to (\S+) for/.exec(seen.all())?.[1] ?? ''
    expect(await sees(seen, `${model} · `)).toBe(true)
    await say(seen, '/init')
    await shows(seen, 'Create AGENTS.md?')
    seen.type(keys.escape)
    expect(await sees(seen, () => !isShown(seen, 'Create AGENTS.md?'))).toBe(true)
    expect(simulator.log.requests).toEqual([])
    await leave(seen)
  })
})
