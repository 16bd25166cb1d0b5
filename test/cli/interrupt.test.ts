import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, type ScriptStep } from '../../src/simulator/index.ts'
import { openWorkspace, linesOf, server, until, type Workspace } from './pal.ts'

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Starts a prompt and interrupts it when its output shows that it is in the middle. */
async function interrupted(
  { start }: Workspace,
  words: readonly string[],
  isThere: (out: string) => boolean | Promise<boolean>,
) {
  const { child, ended } = await start(['-p', '--output-format', 'stream-json', ...words])
  let [seen, said] = ['', '']
  child.stdout?.on('data', (text: string) => (seen += text))
  child.stderr?.on('data', (text: string) => (said += text))
  await until(() => isThere(seen), words.join(' '))
  child.kill('SIGINT')
  return { child, ended, said: () => said }
}

describe('Ctrl-C', () => {
  it('[G8] in the middle of a stream ends the turn, keeps what came, and the session goes on', async () => {
    const long = 'word '.repeat(400)
    const { access, simulator } = await server([long, 'went on'], {
      faults: [{ at: 1, fault: { kind: 'hang', afterEvents: 12 } }],
    })
    const at = await openWorkspace(access)
    const { ended } = await interrupted(at, ['talk'], (out) => out.split('text-delta').length > 3)
    const { code, out } = await ended
    expect(code).toBe(130)
    const result = linesOf(out).at(-1)
    expect(result).toMatchObject({ type: 'result', outcome: 'aborted', failure: null })
    expect(long.startsWith(String(result?.['text']))).toBe(true)
    const next = await at.pal(['-p', '--continue', 'go on'])
    expect(next).toMatchObject({ code: 0, out: 'went on\n' })
    expect(simulator.log.requests.map(({ error }) => error)).toEqual([null, null])
    const body = JSON.stringify(simulator.log.requests[1]?.body)
    expect(body).toContain(String(result?.['text']).trim().slice(0, 20))
  })

  const sleeper: ScriptStep = [call('Bash', { command: 'echo $$ > pid.txt; sleep 600' })]

  it('[G8] in the middle of a tool stops what the tool started, and the session goes on', async () => {
    const { access, simulator } = await server([sleeper, 'went on'])
    // In the sandbox its number would be another.
    const at = await openWorkspace({ ...access, PALIMPSEST_SANDBOX: 'off' })
    const file = join(at.project, 'pid.txt')
    const isRunning = async () => existsSync(file) && (await readFile(file, 'utf8')).trim() !== ''
    const { ended } = await interrupted(at, ['--allow', 'Bash', 'sleep'], isRunning)
    expect((await ended).code).toBe(130)
    const pid = Number(await readFile(file, 'utf8'))
    await until(() => !isAlive(pid), 'the command to be gone')
    expect(await at.pal(['-p', '--continue', 'go on'])).toMatchObject({ code: 0, out: 'went on\n' })
    expect(simulator.log.requests.map(({ error }) => error)).toEqual([null, null])
  })

  it('[G8] twice ends at once, and the session still goes on', async () => {
    const stubborn: ScriptStep = [
      call('Bash', { command: `trap '' TERM; echo $$ > pid.txt; while :; do sleep 1; done` }),
    ]
    const { access } = await server([stubborn, 'went on'])
    // In a sandbox nothing can refuse to end, and the second one would come too late to matter.
    const at = await openWorkspace({ ...access, PALIMPSEST_SANDBOX: 'off' })
    const file = join(at.project, 'pid.txt')
    const { child, ended, said } = await interrupted(at, ['--allow', 'Bash', 'sleep'], () => existsSync(file))
    await until(() => said().includes('Ctrl-C again'), 'the first one to be heard')
    child.kill('SIGINT')
    expect((await ended).code).toBe(130)
    expect(await at.pal(['-p', '--continue', 'go on'])).toMatchObject({ code: 0, out: 'went on\n' })
  })

  it('[G8] a reader that stops reading ends the turn, and the session goes on', async () => {
    // It is noticed by what can no longer be written: there is more of it than any machine is slow.
    const { access } = await server(['word '.repeat(40_000), 'went on'], { eventDelayMs: 10 })
    const at = await openWorkspace(access)
    const { child, ended } = await at.start(['-p', '--output-format', 'stream-json', 'talk'])
    child.stdout?.on('data', (text: string) => text.includes('text-delta') && child.stdout?.destroy())
    expect((await ended).code).toBe(130)
    expect(await at.pal(['-p', '--continue', 'go on'])).toMatchObject({ code: 0, out: 'went on\n' })
    const { turns } = JSON.parse((await at.pal(['cost', '--json'])).out) as { turns: unknown[] }
    expect(turns.length).toBe(2)
  })

  it('[G9] a session that another process writes is not touched, and can be forked from', async () => {
    const { access } = await server([sleeper, 'forked'])
    const at = await openWorkspace(access)
    const file = join(at.project, 'pid.txt')
    const { child, ended } = await at.start(['-p', '--allow', 'Bash', 'sleep'])
    await until(() => existsSync(file), 'the command to run')
    const held = await at.pal(['-p', '--continue', 'hi'])
    expect(held.code).toBe(4)
    expect(held.err).toContain(`is open in process ${child.pid}`)
    expect(held.err).toContain('pal --resume ID --fork-session branches off')
    expect(await at.pal(['-p', '--continue', '--fork-session', 'hi'])).toMatchObject({
      code: 0,
      out: 'forked\n',
    })
    child.kill('SIGTERM')
    expect((await ended).code).toBe(130)
  })
})
