import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { defaults } from '../settings/defaults.ts'
import { commandHooks, type HookCommandOptions } from './hook-commands.ts'
import { until } from '../../test/until.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function hooks(command: string, more: Partial<HookCommandOptions> = {}, tools?: string[]) {
  const cwd = await mkdtemp(join(tmpdir(), 'pal-hook-'))
  folders.push(cwd)
  const environment = { PATH: process.env['PATH'] ?? '' }
  const one = { command, ...(tools === undefined ? {} : { tools }) }
  const made = commandHooks({ PreToolUse: [one] }, { cwd, environment, ...more })
  const signal = new AbortController()
  return {
    cwd,
    signal,
    fire: () =>
      made.fire('PreToolUse', { session: 's', tool: 'Bash', input: { command: 'ls' } }, signal.signal),
  }
}

describe('hooks as commands', () => {
  it('[G20] get the moment as JSON and answer with text or JSON', async () => {
    const { fire, cwd } = await hooks('cat > seen.json; echo plain words')
    expect(await fire()).toEqual({ context: 'plain words', block: null, failures: [] })
    const seen: unknown = JSON.parse(await readFile(join(cwd, 'seen.json'), 'utf8'))
    expect(seen).toEqual({ hook: 'PreToolUse', session: 's', tool: 'Bash', input: { command: 'ls' } })
    const blocking = await hooks(`echo '{"block": "not today", "context": "more"}'`)
    expect(await blocking.fire()).toEqual({ context: 'more', block: 'not today', failures: [] })
    expect(await (await hooks('true')).fire()).toEqual({ context: null, block: null, failures: [] })
  })

  it('[G20] run for the tools they name only', async () => {
    const { fire } = await hooks('echo called', {}, ['Edit'])
    expect(await fire()).toEqual({ context: null, block: null, failures: [] })
  })

  it('[PM53] that should judge a call and cannot block it, and say why', async () => {
    const no: [string, Partial<HookCommandOptions>, RegExp][] = [
      ['echo half an answer; echo no such luck >&2; exit 3', {}, /ended with code 3: no such luck/],
      ['exit 1', {}, /ended with code 1/],
      ['kill -9 $$', {}, /ended with SIGKILL/],
      ['sleep 600', { timeoutMs: 300 }, /took longer than 300 ms/],
      ['true', { cwd: '/no/such/folder' }, /could not be started/],
      [`echo '{"block": "half'`, {}, /JSON that cannot be read/],
      [`echo '{"block": 7}'`, {}, /is no text/],
      [`echo '{"decision": "deny"}'`, {}, /neither "block" nor "context"/],
    ]
    for (const [command, more, why] of no) {
      const answer = await (await hooks(command, more)).fire()
      expect([command, answer.block]).toEqual([command, expect.stringMatching(why)])
      expect(answer.failures[0]).toMatch(why)
    }
    for (const command of ['false || true', 'true', `echo '{}'`])
      expect([command, (await (await hooks(command)).fire()).block]).toEqual([command, null])
  })

  it('[PM53] block with code 2, and their stderr is the reason', async () => {
    const answer = await (await hooks('echo not on fridays >&2; exit 2')).fire()
    expect(answer).toEqual({ context: null, block: 'not on fridays', failures: [] })
    expect((await (await hooks('exit 2')).fire()).block).not.toBeNull()
  })

  it('[G20] that fail at a moment they do not judge are shown and ignored', async () => {
    const environment = { PATH: process.env['PATH'] ?? '' }
    const made = commandHooks({ PostToolUse: [{ command: 'exit 3' }] }, { cwd: tmpdir(), environment })
    const answer = await made.fire(
      'PostToolUse',
      { session: 's', tool: 'Bash', input: {}, output: '' },
      new AbortController().signal,
    )
    expect(answer).toMatchObject({ context: null, block: null })
    expect(answer.failures[0]).toMatch(/ended with code 3; it was ignored/)
  })

  it('[G20] that take too long are ended with everything they started', async () => {
    let pid = 0
    // On a busy machine it may need longer to begin.
    for (let timeoutMs = 300; pid === 0; timeoutMs *= 2) {
      const { fire, cwd } = await hooks('sleep 600 & echo $! > pid.txt; wait', { timeoutMs })
      expect((await fire()).failures[0]).toContain(`took longer than ${timeoutMs} ms`)
      pid = Number(await readFile(join(cwd, 'pid.txt'), 'utf8').catch(() => '0'))
    }
    // A kill is done by the system when it comes to it.
    const stateNow = (): Promise<string> => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'gone Z')
    await until(async () => (await stateNow()).includes(' Z'), `process ${pid} to be gone`)
  })

  it('[G20] do not hold the turn by what they leave running, and end with it', async () => {
    const left = await hooks('sleep 600 & echo done')
    expect((await left.fire()).context).toBe('done')
    const { fire, signal, cwd } = await hooks('echo > begun.txt; sleep 600')
    const firing = fire()
    await until(() => existsSync(join(cwd, 'begun.txt')), 'the hook to run')
    signal.abort()
    expect((await firing).failures[0]).toContain('was interrupted')
  })

  it('[G20] do not hold the turn by what has left their group and keeps their output open', async () => {
    const lasting = `setsid sh -c 'echo > begun.txt; until [ -e enough.txt ]; do sleep 0.1; done' &`
    const { fire, cwd } = await hooks(`${lasting} until [ -e begun.txt ]; do sleep 0.1; done; echo done`)
    let said: string | null = null
    const fired = fire().then(({ context }) => (said = context))
    try {
      await until(() => said !== null, 'the answer of a hook that has ended')
      expect(said).toBe('done')
    } finally {
      await writeFile(join(cwd, 'enough.txt'), '')
      await fired
    }
  })

  it('[G20] answer within the limits of a tool result and without secrets', async () => {
    const { fire } = await hooks(`node -e 'process.stdout.write("x".repeat(9e6))'`)
    const { context } = await fire()
    expect(context?.length).toBeLessThan(defaults.results.maxChars + 200)
    expect(context).toContain('more characters of the hook')
    const secret = `sk-ant-api03-${'Ab3'.repeat(31)}AA`
    expect((await (await hooks(`echo key ${secret}`)).fire()).context).not.toContain(secret)
  })
})
