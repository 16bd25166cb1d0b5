// The run under faults. Inputs are sent over the whole time; workers, the server and connections fail at random; at the end
// everything is counted.
import { spawn, type ChildProcess } from 'node:child_process'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { program } from '../../test/faults/child.ts'
import { fleetOn, type TestFleet } from '../../test/fleet/fleet.ts'
import { freshDatabase, sql, type Server, type TestDatabase } from '../../test/postgres/server.ts'
import { connect } from '../../src/postgres/index.ts'
import { createSimulator, type LoggedRequest } from '../../src/simulator/index.ts'
import { noteEntry } from '../../src/testing/store-steps.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { serverSeconds } from './cpu.ts'
import type { Moment } from './places.ts'
import { report, type Acknowledged, type Told } from './report.ts'

export interface RunOptions {
  readonly sessions: number
  readonly workers: number
  readonly minutes: number
  readonly inputs: number
  readonly isCalm: boolean
}

const leaseMs = 6000
const pollMs = 250
const places = 12
const progressMs = 30_000

export async function faultRun(server: Server, options: RunOptions): Promise<void> {
  const { sessions, workers, minutes, inputs } = options
  const say = (text: string): void => void process.stdout.write(`  ${text}\n`)
  const database = await freshDatabase(server)
  const insertLoop = await plainInserts(server, database)
  const heard = new Map<string, LoggedRequest>()
  const simulator = createSimulator({
    answerer: {
      answer: ({ request }) => ({
        content: [{ type: 'text', text: `answer ${request.messages.length}` }],
        stop_reason: 'end_turn',
      }),
    },
    eventDelayMs: 5,
    log: { requests: 1 },
    heard: (request) => request.messageId !== null && heard.set(request.messageId, request),
  })
  const { url } = await simulator.start()
  const proxy = await cuttableProxy(server.port)
  const child = await program('../test/fleet/worker-child.ts')
  const told: Told[] = []
  const acknowledged: Acknowledged[] = []
  const running = new Map<number, Worker>()
  const faults: Faults = { killed: 0, stopped: 0, crashed: 0, cut: 0, moments: [] }
  let started = 0
  const startWorker = (slot: number): void => {
    const number = started++
    const address = database.url.replace(`:${server.port}/`, `:${proxy.port}/`)
    const spawned = spawn(
      process.execPath,
      [
        child.file,
        '--simulator',
        url,
        '--lease',
        `${leaseMs}`,
        '--sessions',
        `${places}`,
        '--connections',
        '5',
        '--acknowledged',
      ],
      {
        env: { ...process.env, PAL_DATABASE_URL: address },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let rest = ''
    spawned.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const event = JSON.parse(line) as Told | Acknowledged
        if (event.type === 'acknowledged') acknowledged.push(event as Acknowledged)
        else told.push({ ...(event as Told), worker: number })
      }
    })
    running.set(slot, { number, process: spawned })
  }
  for (let slot = 0; slot < workers; slot++) startWorker(slot)
  const fleet = fleetOn(database.url, { connections: 4 })
  // One budget over everything, so that each request is reserved and each answer counted.
  await fleet.budgets.set({ scope: 'tenant', name: '', from: '2000-01-01', to: '2100-01-01', cap: 1_000_000 })
  const began = performance.now()
  const end = began + minutes * 60_000
  const cpuBefore = { seconds: serverSeconds(server.pid()), lost: 0 }
  const faulting = options.isCalm
    ? Promise.resolve()
    : makeFaults({ server, end, running, startWorker, proxy, faults, workers, cpuBefore })
  const beside = plainBeside(database, () => performance.now() < end)
  const progress = setInterval(() => {
    const text = `${((performance.now() - began) / 60_000).toFixed(1)} min: ${told.filter(({ type }) => type === 'ended').length} times worked on a session, ${acknowledged.length} appends`
    process.stderr.write(`fleet: ${text}\n`)
  }, progressMs)
  const sent = await sendInputs(fleet, sessions, inputs, began, end)
  await faulting
  const plainWaits = await beside
  const drainedIn = await drained(fleet, running, startWorker)
  clearInterval(progress)
  const seconds = (performance.now() - began) / 1000
  const cpu = serverSeconds(server.pid()) - cpuBefore.seconds + cpuBefore.lost
  for (const worker of running.values()) worker.process.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, 3000))
  for (const worker of running.values()) worker.process.kill('SIGKILL')
  say(
    `${sessions} sessions, ${workers} worker processes, ${(seconds / 60).toFixed(1)} minutes (${minutes} of them with input and faults, then until nothing was left), lease ${leaseMs} ms, poll ${pollMs} ms`,
  )
  say(
    `faults: ${faults.killed} workers killed, ${faults.stopped} stopped for longer than a lease, ${faults.crashed} times the server killed, ${faults.cut} times all connections cut`,
  )
  await report({
    database,
    sent,
    heard,
    told,
    faults: faults.moments,
    places,
    acknowledged,
    seconds,
    cpu,
    insertLoop,
    plainWaits,
    drainedIn,
    leaseMs,
    pollMs,
    say,
  })
  await fleet.close()
  await simulator.stop()
  await proxy.close()
  await child.remove()
}

/** One entry after the other by plain inserts into a table without anything, for comparison. */
async function plainInserts(
  server: Server,
  { adminUrl }: TestDatabase,
): Promise<{ readonly cpu: number; readonly own: number }> {
  const fleet = fleetOn(adminUrl, { connections: 4 })
  await sql(adminUrl, 'create table plain (session text, seq bigint, line text, primary key (session, seq))')
  const count = 3000
  const line = 'x'.repeat(700)
  const measure = async (work: (n: number) => Promise<unknown>): Promise<number> => {
    const before = serverSeconds(server.pid())
    for (let n = 0; n < count; n++) await work(n)
    return (serverSeconds(server.pid()) - before) / count
  }
  const cpu = await measure((n) =>
    fleet.connection.query('insert into plain values ($1, $2, $3)', ['s', n, line]),
  )
  const leased = await fleet.store.lease(sessionId('bench-append'))
  if (!leased.ok) throw new Error('taken')
  const own = await measure((n) => fleet.store.append(leased.lease, [noteEntry(n, line)], seq(n), 'now'))
  await fleet.store.remove(sessionId('bench-append'))
  await fleet.close()
  return { cpu, own }
}

/** How long one plain insert takes while everything else runs; while the server is down none is counted. */
async function plainBeside({ adminUrl }: TestDatabase, goesOn: () => boolean): Promise<readonly number[]> {
  const connection = connect({ url: adminUrl, connections: 1, patienceMs: 0 })
  const waits: number[] = []
  for (let n = 0; goesOn(); n++) {
    const began = performance.now()
    const done = await connection.query('insert into plain values ($1, $2, $3)', [
      'beside',
      n,
      'x'.repeat(700),
    ])
    if (done.ok) waits.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  await connection.close()
  return waits
}

async function sendInputs(
  { queue }: TestFleet,
  sessions: number,
  inputs: number,
  began: number,
  end: number,
): Promise<Map<string, number>> {
  const sent = new Map<string, number>()
  const total = sessions * inputs
  let n = 0
  const lanes = Array.from({ length: 4 }, async () => {
    while (n < total) {
      const mine = n++
      const [session, id] = [`s${mine % sessions}`, `i${Math.floor(mine / sessions)}`]
      // Spread over the time; what is late is sent at once.
      const due = began + ((end - began) * mine) / total
      if (due > performance.now())
        await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
      for (;;) {
        const done = await queue.send({ session, id, kind: 'input', body: `${session} ${id}` })
        if (done.ok) break
      }
      sent.set(`${session}/${id}`, Date.now())
    }
  })
  await Promise.all(lanes)
  return sent
}

interface Worker {
  /** Each process that was started has its own. */
  readonly number: number
  readonly process: ChildProcess
}

interface Faults {
  killed: number
  stopped: number
  crashed: number
  cut: number
  readonly moments: Moment[]
}

interface Faulting {
  readonly server: Server
  readonly end: number
  readonly running: Map<number, Worker>
  readonly startWorker: (slot: number) => void
  readonly proxy: { cut(): void }
  readonly faults: Faults
  readonly workers: number
  readonly cpuBefore: { seconds: number; lost: number }
}

async function makeFaults(on: Faulting): Promise<void> {
  const { server, end, running, startWorker, proxy, faults, workers, cpuBefore } = on
  const stopped: Promise<void>[] = []
  const note = (worker: number | null, what: Moment['what']): void =>
    void faults.moments.push({ at: Date.now(), worker, what })
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 1500 + Math.random() * 2500))
    const slot = Math.floor(Math.random() * workers)
    const draw = Math.random()
    if (draw < 0.45) {
      const { number, process: worker } = running.get(slot)!
      worker.kill('SIGKILL')
      note(number, 'gone')
      faults.killed++
      startWorker(slot)
    } else if (draw < 0.7) {
      const { number, process: worker } = running.get(slot)!
      worker.kill('SIGSTOP')
      note(number, 'stopped')
      faults.stopped++
      stopped.push(
        new Promise((resolve) =>
          setTimeout(() => {
            worker.kill('SIGCONT')
            note(number, 'resumed')
            resolve()
          }, leaseMs * 1.5),
        ),
      )
    } else if (draw < 0.9) {
      proxy.cut()
      faults.cut++
    } else {
      // What its processes have used so far would be forgotten with them.
      cpuBefore.lost += serverSeconds(server.pid()) - cpuBefore.seconds
      note(null, 'stopped')
      await server.crash()
      note(null, 'resumed')
      cpuBefore.seconds = serverSeconds(server.pid())
      faults.crashed++
    }
  }
  await Promise.all(stopped)
}

async function drained(
  fleet: TestFleet,
  running: ReadonlyMap<number, Worker>,
  startWorker: (slot: number) => void,
): Promise<number> {
  const began = performance.now()
  for (;;) {
    for (const [slot, { process: worker }] of running)
      if (worker.exitCode !== null || worker.signalCode !== null) startWorker(slot)
    const rows = await fleet.queue.rows()
    if (
      rows.ok &&
      rows.rows.every(
        ({ waiting, wantedFor, owner, parked }) =>
          parked !== null || (waiting === 0 && wantedFor === null && owner === null),
      )
    )
      return (performance.now() - began) / 1000
    await new Promise((resolve) => setTimeout(resolve, 1000))
    if (performance.now() - began > 15 * 60_000) throw new Error('it was not drained in 15 minutes')
  }
}

async function cuttableProxy(port: number) {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connectTo(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream)
    upstream.pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
