// What the inspector's server takes of a machine with a session of 1 GB and about a million entries: time to open it the first time
// and again, memory, and how soon an append is told. `npm run bench -- inspect-server [--size=MB]`. Beside it the bare parsing of the same lines.
import { spawn, spawnSync } from 'node:child_process'
import { createReadStream, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { RequestChunk, SessionHead } from '../src/inspector/protocol.ts'
import { slugOf } from '../src/preset/project.ts'
import { fileStore } from '../src/stores/index.ts'
import { transcriptName } from '../src/stores/files/layout.ts'
import type { Fact } from '../src/transcript/fact.ts'
import { seq, sessionId, systemIds } from '../src/transcript/ids.ts'
import { clientOf, type Client } from '../test/inspector/client.ts'
import { writeTranscript } from './long-transcript.ts'

const MB = 1024 * 1024
const goals = { rssMb: 256, appendMs: 300 } as const
const asked = (name: string): string | undefined =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const size = Number(asked('size') ?? 1024)
const session = sessionId('long')

const parsing = asked('parse')
if (parsing !== undefined) {
  const start = process.cpuUsage()
  for await (const line of createInterface({ input: createReadStream(parsing, { highWaterMark: MB }) }))
    JSON.parse(line)
  const { user, system } = process.cpuUsage(start)
  process.stdout.write(`${(user + system) / 1e6} ${process.resourceUsage().maxRSS / 1024}`)
  process.exit(0)
}

const failed: string[] = []
const line = (what: string, value: number, unit: string, most?: number): void => {
  const isOver = most !== undefined && value > most
  if (isOver) failed.push(what)
  const shown = `${value.toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`
  process.stdout.write(
    `${what.padEnd(58)} ${shown.padStart(16)}  ${most === undefined ? '' : `${isOver ? 'over' : 'goal'} ≤ ${most}`}\n`,
  )
}

const cache = join(process.cwd(), 'node_modules', '.cache')
await mkdir(cache, { recursive: true })
// The command beside the packages; the home outside of any project.
const place = await mkdtemp(join(cache, 'inspect-server-'))
const home = await realpath(await mkdtemp(join(tmpdir(), 'inspect-server-')))
const project = join(home, 'project')
const root = join(home, '.palimpsest', 'projects', slugOf(project), 'sessions')
const file = join(root, session, transcriptName)

interface Running extends Client {
  readonly pid: number
  stop(): Promise<void>
}

async function inspected(): Promise<Running> {
  const child = spawn(process.execPath, [join(place, 'pal.js'), 'inspect', '--json', '--no-open'], {
    cwd: project,
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', resolve)
    child.once('close', (code) => reject(new Error(`pal inspect ended with ${code}`)))
  })
  const { port, hash } = new URL((JSON.parse(address) as { readonly url: string }).url)
  return {
    ...clientOf(Number(port), hash.replace('#t=', '')),
    pid: child.pid!,
    stop: async () => {
      child.kill('SIGINT')
      await new Promise((resolve) => child.once('close', resolve))
    },
  }
}

/** The most memory that a process has had, in MB. */
const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
/** Seconds of processor time so far. */
const cpuOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /u, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

async function timed<T>(what: string, work: () => Promise<T>, most?: number): Promise<T> {
  const start = performance.now()
  const answer = await work()
  line(what, performance.now() - start, 'ms', most)
  return answer
}

async function opened(server: Running, what: string): Promise<SessionHead> {
  const [cpu, start] = [cpuOf(server.pid), performance.now()]
  const head = await server.get<SessionHead>(`/api/s/${session}`)
  line(`${what}, by the clock`, (performance.now() - start) / 1000, 's')
  line(`${what}, processor time`, cpuOf(server.pid) - cpu, 's')
  line(`${what}, most memory so far`, peakOf(server.pid), 'MB', goals.rssMb)
  return head
}

async function looked(server: Running, head: SessionHead): Promise<void> {
  const { seq: places } = await timed('the newest 2,000 requests', () =>
    server.get<RequestChunk>(`/api/s/${session}/requests`),
  )
  await timed('the newest 8,192 entries of the index', () => server.raw({ path: `/api/s/${session}/index` }))
  const before = Math.floor(head.head! / 2)
  const half = await server.get<RequestChunk>(`/api/s/${session}/requests?before=${before}&count=1`)
  for (const [what, at] of [
    ['the last', places.at(-1)!],
    ['one from the middle', half.seq[0]!],
  ] as const)
    await timed(`${what} request, composed again`, () => server.get(`/api/s/${session}/request/${at}`))
  await timed('a block from the middle with its life', () =>
    server.get(`/api/s/${session}/block/${half.seq[0]! - 1}/0`),
  )
  await timed('what 500 entries have cost', () =>
    server.get(`/api/s/${session}/carried?from=${before}&to=${before + 499}`),
  )
  await timed('all edits', () => server.get(`/api/s/${session}/edits`))
  await timed('a search that finds nothing in the newest 32 MB', () =>
    server.get(`/api/s/${session}/find?text=${encodeURIComponent('nobody said this')}`),
  )
}

/** From the moment an entry is written to the moment its row can be drawn. */
async function appended(server: Running, head: number): Promise<void> {
  const store = fileStore({ root, fsync: 'none' })
  const lease = await store.lease(session)
  if (!lease.ok) throw new Error('the session is taken')
  const ids = systemIds()
  const live = await server.live(session)
  const waits: number[] = []
  let last = head
  for (let time = 0; time < 20; time++) {
    const fact: Fact = {
      type: 'user-message',
      content: [{ type: 'text', text: 'and now?' }],
      origin: 'typed',
    }
    const at = last + 1
    const start = performance.now()
    const entry = { v: 1 as const, seq: seq(at), uuid: ids.uuid(), parent: null, at: Date.now(), fact }
    const done = await store.append(lease.lease, [entry], seq(at), 'none')
    if (!done.ok) throw new Error(JSON.stringify(done))
    while (!live.events.some((event) => event.type === 'grew' && event.head >= at))
      await new Promise((resolve) => setTimeout(resolve, 2))
    await server.raw({ path: `/api/s/${session}/index?before=${at + 1}&count=1` })
    waits.push(performance.now() - start)
    last = at
  }
  live.close()
  await store.release(lease.lease)
  line('an append, until its row can be drawn, median', middle(waits), 'ms', goals.appendMs)
  line('an append, until its row can be drawn, slowest of 20', Math.max(...waits), 'ms')
}

try {
  const { bundle } = (await import(pathToFileURL(join(process.cwd(), 'scripts', 'bundle.mjs')).href)) as {
    bundle: (folder: string) => Promise<void>
  }
  await bundle(place)
  await mkdir(project, { recursive: true })
  process.stderr.write(`writing a session of ${size} MB\n`)
  const entries = await writeTranscript(root, session, {
    bytes: size * MB,
    boundaryBytes: 2 * MB,
    tailBytes: 300 * 1024,
    hasPin: true,
    resultLines: 95,
  })
  line('the session', (await stat(file)).size / MB, 'MB')
  line('entries', entries, '')
  const first = await inspected()
  await opened(first, 'opened the first time')
  await first.stop()
  const second = await inspected()
  const head = await opened(second, 'opened again')
  await looked(second, head)
  await appended(second, head.head!)
  line('most memory of all this', peakOf(second.pid), 'MB', goals.rssMb)
  await second.stop()
  const baseline = spawnSync(process.execPath, [process.argv[1]!, `--parse=${file}`], { encoding: 'utf8' })
  const [seconds, mb] = baseline.stdout.split(' ').map(Number)
  line('baseline, JSON.parse of the same lines: processor time', seconds!, 's')
  line('baseline, memory', mb!, 'MB')
} finally {
  for (const folder of [place, home]) await rm(folder, { recursive: true, force: true })
}
if (failed.length > 0) {
  process.stderr.write(`over its goal: ${failed.join('; ')}\n`)
  process.exit(1)
}
