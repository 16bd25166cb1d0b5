import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../../../test/until.ts'
import { defaults } from '../../settings/defaults.ts'
import { createReadFiles } from '../files/read-files.ts'
import type { ToolEnv, ToolOutcome } from '../tool.ts'
import { bashTool } from './bash.ts'
import { commandEnvironment } from './environment.ts'
import { createJobs, jobsTool } from './jobs.ts'

const cwd = mkdtempSync(join(tmpdir(), 'pal-bash-'))
const jobs = createJobs()
afterAll(async () => {
  await jobs.close()
  rmSync(cwd, { recursive: true })
})

const kept = new Map<string, { bytes: number; head: string }>()
const env = (over: Partial<ToolEnv> = {}): ToolEnv => ({
  cwd,
  callId: 'call_1',
  readFiles: createReadFiles(),
  spill: async (name, given) => {
    const hash = createHash('sha256')
    let [bytes, head] = [0, '']
    for await (const piece of given instanceof Uint8Array ? [given] : given) {
      hash.update(piece)
      bytes += piece.byteLength
      if (head.length < 100) head += Buffer.from(piece).toString().slice(0, 100)
    }
    kept.set(name, { bytes, head })
    return { ok: true, blob: name, bytes, sha256: hash.digest('hex') }
  },
  expand: async () => ({ ok: false, why: 'nothing here' }),
  isShown: () => true,
  report: () => {},
  now: () => 0,
  ...over,
})
const bash = bashTool({ environment: { PATH: process.env['PATH'], HOME: cwd }, jobs })
const textOf = (outcome: ToolOutcome) =>
  outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const never = new AbortController().signal
const run = (
  command: string,
  more: { timeout?: number; background?: boolean } = {},
  signal = never,
  given = env(),
) => bash.run({ command, timeout: more.timeout, background: more.background }, given, signal)
const alive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
const pidIn = async (file: string): Promise<number> => {
  for (;;) {
    const text = existsSync(join(cwd, file)) ? readFileSync(join(cwd, file), 'utf8') : ''
    if (text.endsWith('\n')) return Number(text)
    await pause(10)
  }
}
const gone = (pid: number) => until(() => !alive(pid), `process ${pid} to be gone`)

describe('Bash', () => {
  it('[B20] shows both outputs in order, the exit code and the signal', async () => {
    const done = await run('echo one; echo two >&2; echo three')
    expect([textOf(done), done.isError]).toEqual(['one\ntwo\nthree', false])
    const failing = await run('echo bad; exit 3')
    expect([textOf(failing), failing.isError]).toEqual(['bad\n[exit code 3]', true])
    expect(textOf(await run('kill -SEGV $$'))).toBe('[ended by SIGSEGV]')
    expect(textOf(await run('echo "unclosed'))).toMatch(/unexpected EOF/)
  })

  it('[B20] names the folder where it is gone, and not the shell', async () => {
    const done = await run('echo one', {}, never, env({ cwd: join(cwd, 'gone') }))
    expect(done.isError).toBe(true)
    expect(textOf(done)).toBe(
      `The shell could not be started: the folder ${join(cwd, 'gone')} is gone (deleted or moved)`,
    )
  })

  it('[B21] has no input and a fresh shell each time', async () => {
    expect(textOf(await run('cat; X=1; export Y=2; cd /; echo end'))).toBe('end')
    expect(textOf(await run('echo "[$X$Y]"; pwd'))).toBe(`[]\n${cwd}`)
  })

  it('[B22] a timeout ends the whole group, grandchildren included', async () => {
    const stubborn = 'trap \\"\\" TERM; echo \\$\\$ > timeout.pid; sleep 600; sleep 600'
    // On a busy machine a command may need longer to begin.
    let timeout = 500
    let done: ToolOutcome
    do {
      done = await run(`(trap "" TERM; sh -c "${stubborn}") & echo begun; sleep 600`, { timeout })
      expect(textOf(done)).toContain(`[stopped: it took longer than ${timeout / 1000} s`)
      expect(done.isError).toBe(true)
      timeout *= 2
    } while (!textOf(done).startsWith('begun\n') || !existsSync(join(cwd, 'timeout.pid')))
    await gone(await pidIn('timeout.pid'))
  })

  it('[B23] an abort ends the whole group and says so', async () => {
    const abort = new AbortController()
    const running = run(
      'echo begun; sh -c "echo \\$\\$ > abort.pid; exec sleep 600" & wait',
      {},
      abort.signal,
    )
    const pid = await pidIn('abort.pid')
    expect(alive(pid)).toBe(true)
    abort.abort()
    const done = await running
    expect(textOf(done)).toMatch(/^\[interrupted\] The command was stopped\.\nbegun/)
    expect(done.isError).toBe(true)
    await gone(pid)
  })

  it('[B24] what a command leaves running is stopped and named', async () => {
    const done = await run('sleep 600 & echo $! > left.pid; echo done')
    expect(textOf(done)).toMatch(/^done\n\[what the command left running was stopped/)
    await gone(await pidIn('left.pid'))
  })

  it('[B25] a long output is kept whole elsewhere, redacted, and both ends are shown', async () => {
    const token = ['ghp', 'a7Kx2Qm9Zt'.repeat(4).slice(0, 36)].join('_')
    const done = await run(`echo first ${token}; seq 1 200000; echo last`)
    expect(done.spill?.bytes).toBe(kept.get('call_1')!.bytes)
    expect(kept.get('call_1')!.bytes).toBe(
      'first [secret:github-token:40]\n'.length + 1_288_895 + 'last\n'.length,
    )
    expect(kept.get('call_1')!.head).toMatch(/^first \[secret:github-token:40\]\n1\n2\n/)
    expect(textOf(done)).toMatch(
      /^<persisted-output ref="call_1" bytes="\d+">\nfirst [\s\S]*left out; Expand \{"ref": "call_1"\} returns them …[\s\S]*199999\n200000\nlast\n\n<\/persisted-output>$/,
    )
    expect(textOf(done).length).toBeLessThan(6000)
  })

  it('[B25] without a place to keep it, or when that fails, the middle is lost and said so', async () => {
    const nowhere = await run('seq 1 200000', {}, never, env({ spill: null }))
    expect(textOf(nowhere)).toMatch(
      /^1\n2\n[\s\S]*characters left out here: there is nowhere to keep it[\s\S]*200000$/,
    )
    expect(textOf(nowhere).length).toBeLessThan(50_000)
    const full = await run(
      'seq 1 200000',
      {},
      never,
      env({ spill: async () => ({ ok: false, why: 'disk full' }) }),
    )
    expect(textOf(full)).toMatch(/could not be kept: disk full/)
    expect(full.spill).toBeUndefined()
  })

  it('[B26] a command without end is stopped at the cap, in bounded memory', async () => {
    const before = process.memoryUsage().rss
    let most = 0
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
    const done = await run('yes "a line that is said again and again"')
    clearInterval(watch)
    expect(textOf(done)).toMatch(/\[stopped: it wrote more than 67108864 bytes\]/)
    expect(done.spill!.bytes).toBeGreaterThan(64 * 1024 * 1024 - 1)
    expect(done.spill!.bytes).toBeLessThan(66 * 1024 * 1024)
    expect(most - before).toBeLessThan(200 * 1024 * 1024)
  })

  it('[B27] the environment holds none of our keys', () => {
    const given = {
      PATH: '/bin',
      ANTHROPIC_API_KEY: 'x',
      GITHUB_TOKEN: 'y',
      DATABASE_URL: 'postgres://a:b1c2d3@h/x',
      PALIMPSEST_HOME: '/p',
      BASH_ENV: '/evil',
      SSH_AUTH_SOCK: '/s',
      MONKEY: 'ok',
    }
    const clean = commandEnvironment(given)
    const secret =
      'MYSQL_PWD SSHPASS GPG_PASSPHRASE PASSPHRASE SECRET_KEY_BASE API_KEYS AWS_CREDS DOCKER_AUTH_CONFIG AUTHORIZATION SESSION_COOKIE npm_config_//r.example/:_authToken'
    const named = Object.fromEntries(secret.split(' ').map((name) => [name, 'short']))
    const usual = { PWD: '/here', OLDPWD: '/there', MAX_TOKENS: '5', KEYS: 'a', PATHS: 'b' }
    const kept = commandEnvironment({ ...named, ...usual })
    expect(Object.keys(kept).filter((name) => name in named)).toEqual([])
    expect(kept).toMatchObject(usual)
    expect(Object.keys(clean).sort()).toEqual([
      'GIT_CONFIG_COUNT',
      'GIT_CONFIG_KEY_0',
      'GIT_CONFIG_KEY_1',
      'GIT_CONFIG_VALUE_0',
      'GIT_CONFIG_VALUE_1',
      'GIT_OPTIONAL_LOCKS',
      'GIT_PAGER',
      'GIT_TERMINAL_PROMPT',
      'MONKEY',
      'NO_COLOR',
      'PAGER',
      'PATH',
      'SSH_AUTH_SOCK',
      'TERM',
    ])
  })
})

describe('background jobs', () => {
  const tool = jobsTool(jobs)
  const ask = (action: 'read' | 'stop' | 'list', job?: string, wait?: number) =>
    tool.run({ action, job, wait }, env(), never)
  const ended = (id: string) =>
    until(() => jobs.list().find((job) => job.id === id)!.end !== null, `${id} to end`)

  it('[B28] a job is started, read piece by piece, and stopped with all it started', async () => {
    const started = textOf(
      await run(
        'echo up; sh -c "echo \\$\\$ > job.pid; exec sleep 600" & while [ ! -e go ]; do sleep 0.1; done; echo more; wait',
        { background: true },
      ),
    )
    const id = /job-\d+/.exec(started)![0]
    const longest = defaults.tools.backgroundWaitMs
    expect(textOf(await ask('read', id, longest))).toBe(`[${id} running]\nup\n`)
    writeFileSync(join(cwd, 'go'), '')
    expect(textOf(await ask('read', id, longest))).toBe(`[${id} running]\nmore\n`)
    expect(textOf(await ask('read', id))).toBe(`[${id} running]\n(nothing new)`)
    expect(textOf(await ask('list'))).toMatch(new RegExp(`${id} running: echo up`))
    // Stopped before what it started has begun, there would be nothing to look for.
    const pid = await pidIn('job.pid')
    expect(textOf(await ask('stop', id))).toBe(`${id} is stopped.`)
    await gone(pid)
    expect(textOf(await ask('read', id))).toMatch(/ended by SIGTERM/)
  })

  it('[B28] a job that ends tells its code; an unknown one is refused with the names', async () => {
    const id = /job-\d+/.exec(textOf(await run('echo bye; exit 4', { background: true })))![0]
    await ended(id)
    expect(textOf(await ask('read', id))).toBe(`[${id} ended with code 4]\nbye\n`)
    const wrong = await ask('read', 'job-99')
    expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringContaining(id)])
  })

  it('[B29] only the newest output of a job is kept', async () => {
    const id = /job-\d+/.exec(textOf(await run('seq 1 400000', { background: true })))![0]
    await ended(id)
    const text = textOf(await ask('read', id))
    expect(text).toMatch(/\[\d+ earlier characters are gone\][\s\S]*400000\n$/)
    expect(text.length).toBeLessThan(31_000)
  })

  it('[B28] closing stops what still runs', async () => {
    const own = createJobs()
    const options = { shell: 'bash', cwd, environment: { PATH: process.env['PATH']! } }
    const about = { since: 0, ended: () => Promise.resolve() }
    const started = await own.start('echo $$ > close.pid; sleep 600', options, about)
    expect(started.ok).toBe(true)
    const pid = await pidIn('close.pid')
    await own.close()
    await gone(pid)
  })
})
