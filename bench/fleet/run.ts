// The run under faults. Inputs are sent over the whole time; workers, the server and connections fail at random; at the end
// everything is counted.
import { spawn, type ChildProcess } from 'node:child_process'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { program } from '../../test/faults/child.ts'
import { fleetOn, type TestFleet } from '../../test/fleet/fleet.ts'
import { freshDatabase, sql, type Server, type TestDatabase } from '../../test/postgres/server.ts'
import { createSimulator, type LoggedRequest } from '../../src/simulator/index.ts'
import { noteEntry } from '../../src/testing/store-steps.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { serverSeconds } from './cpu.ts'

export interface RunOptions {
  readonly sessions: number
  readonly workers: number
  readonly minutes: number
  readonly inputs: number
  readonly isCalm: boolean
}

const leaseMs = 6000
const pollMs = 250

interface Told {
  readonly type: string
  readonly at: number
  readonly session: string
  readonly isTakeover?: boolean
  readonly waitedMs?: number
}

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
  const running = new Map<number, ChildProcess>()
  const faults = { killed: 0, stopped: 0, crashed: 0, cut: 0 }
  const startWorker = (slot: number): void => {
    const address = database.url.replace(`:${server.port}/`, `:${proxy.port}/`)
    const started = spawn(
      process.execPath,
      [child.file, '--simulator', url, '--lease', `${leaseMs}`, '--sessions', '12', '--connections', '5'],
      {
        env: { ...process.env, PAL_DATABASE_URL: address },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let rest = ''
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) told.push(JSON.parse(line) as Told)
    })
    running.set(slot, started)
  }
  for (let slot = 0; slot < workers; slot++) startWorker(slot)
  const fleet = fleetOn(database.url, { connections: 4 })
  const began = performance.now()
  const end = began + minutes * 60_000
  const cpuBefore = { seconds: serverSeconds(server.pid()), lost: 0 }
  const faulting = options.isCalm
    ? Promise.resolve()
    : makeFaults({ server, end, running, startWorker, proxy, faults, workers, cpuBefore })
  const sent = await sendInputs(fleet, sessions, inputs, began, end)
  await faulting
  const drainedIn = await drained(fleet, running, startWorker)
  const seconds = (performance.now() - began) / 1000
  const cpu = serverSeconds(server.pid()) - cpuBefore.seconds + cpuBefore.lost
  for (const worker of running.values()) worker.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, 3000))
  for (const worker of running.values()) worker.kill('SIGKILL')
  say(
    `${sessions} sessions, ${workers} worker processes, ${(seconds / 60).toFixed(1)} minutes (${minutes} of them with input and faults, then until nothing was left), lease ${leaseMs} ms, poll ${pollMs} ms`,
  )
  say(
    `faults: ${faults.killed} workers killed, ${faults.stopped} stopped for longer than a lease, ${faults.crashed} times the server killed, ${faults.cut} times all connections cut`,
  )
  await report({ database, sent, heard, told, seconds, cpu, insertLoop, drainedIn, say })
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

interface Faulting {
  readonly server: Server
  readonly end: number
  readonly running: Map<number, ChildProcess>
  readonly startWorker: (slot: number) => void
  readonly proxy: { cut(): void }
  readonly faults: { killed: number; stopped: number; crashed: number; cut: number }
  readonly workers: number
  readonly cpuBefore: { seconds: number; lost: number }
}

async function makeFaults(on: Faulting): Promise<void> {
  const { server, end, running, startWorker, proxy, faults, workers, cpuBefore } = on
  const stopped: Promise<void>[] = []
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 1500 + Math.random() * 2500))
    const slot = Math.floor(Math.random() * workers)
    const draw = Math.random()
    if (draw < 0.45) {
      running.get(slot)!.kill('SIGKILL')
      faults.killed++
      startWorker(slot)
    } else if (draw < 0.7) {
      const worker = running.get(slot)!
      worker.kill('SIGSTOP')
      faults.stopped++
      stopped.push(
        new Promise((resolve) =>
          setTimeout(() => {
            worker.kill('SIGCONT')
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
      await server.crash()
      cpuBefore.seconds = serverSeconds(server.pid())
      faults.crashed++
    }
  }
  await Promise.all(stopped)
}

async function drained(
  fleet: TestFleet,
  running: Map<number, ChildProcess>,
  startWorker: (slot: number) => void,
): Promise<number> {
  const began = performance.now()
  for (;;) {
    for (const [slot, worker] of running)
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

interface Counted {
  readonly database: TestDatabase
  readonly sent: ReadonlyMap<string, number>
  readonly heard: ReadonlyMap<string, LoggedRequest>
  readonly told: readonly Told[]
  readonly seconds: number
  readonly cpu: number
  readonly insertLoop: { readonly cpu: number; readonly own: number }
  readonly drainedIn: number
  readonly say: (text: string) => void
}

async function report(counted: Counted): Promise<void> {
  const { database, sent, heard, told, seconds, cpu, insertLoop, say } = counted
  const { adminUrl } = database
  const lines = await sql(adminUrl, 'select session, seq, line from pal.entry order by session, seq')
  const sessions = await sql(adminUrl, 'select id, first, head, parked from pal.session')
  const delivered = new Map<string, number>()
  const answered = new Map<string, number>()
  const kept = new Map<string, string>()
  let open: string | null = null
  let before = ''
  let gaps = 0
  let place = -1
  for (const { session, seq: at, line } of lines as { session: string; seq: string; line: string }[]) {
    if (session !== before) [before, open, place] = [session, null, -1]
    if (place >= 0 && Number(at) !== place + 1) gaps++
    place = Number(at)
    const { fact } = JSON.parse(line) as {
      fact: { type: string; id?: string; messageId?: string; partial?: boolean; outcome?: string }
    }
    if (fact.type === 'user-message' && fact.id?.startsWith('cut-') === false) {
      open = `${session}/${fact.id}`
      delivered.set(open, (delivered.get(open) ?? 0) + 1)
    }
    if (fact.type === 'assistant-message') {
      kept.set(fact.messageId!, session)
      if (fact.partial !== true && open !== null) answered.set(open, (answered.get(open) ?? 0) + 1)
    }
  }
  const wrong = [...sent.keys()].filter((key) => delivered.get(key) !== 1 || answered.get(key) !== 1)
  const counts = new Map<string, number>()
  for (const { session } of lines as { session: string }[])
    counts.set(session, (counts.get(session) ?? 0) + 1)
  const heads = (sessions as { id: string; first: string | null; head: string }[]).filter(
    ({ id, head, first }) => first !== null && counts.get(id) !== Number(head) - Number(first) + 1,
  )
  say(
    `inputs: ${sent.size} sent, ${[...delivered.values()].filter((n) => n === 1).length} delivered once, ${[...answered.values()].filter((n) => n === 1).length} answered once, ${wrong.length} wrong${wrong.length > 0 ? ` (${wrong.slice(0, 5).join(', ')})` : ''}`,
  )
  say(
    `transcript: ${lines.length} entries, ${gaps} gaps, ${heads.length} heads that do not fit; parked: ${sessions.filter(({ parked }) => parked !== null).length}`,
  )
  await billed(adminUrl, heard, kept, say)
  const left = await sql(adminUrl, 'select count(*) as n from pal.reservation')
  say(`reservations left over: ${String(left[0]!['n'])}`)
  const takeovers = told.filter((event) => event.type === 'claimed' && event.isTakeover === true)
  const late = takeovers.map(({ waitedMs = 0 }) => waitedMs + leaseMs)
  if (late.length > 0)
    say(
      `takeovers: ${late.length}; from the last sign of life to the new holder at most: p50 ${quantile(late, 0.5)} ms, p95 ${quantile(late, 0.95)} ms, longest ${quantile(late, 1)} ms (lease ${leaseMs} + poll ${pollMs})`,
    )
  const waits = told
    .filter((event) => event.type === 'claimed' && event.isTakeover !== true)
    .map(({ waitedMs = 0 }) => waitedMs)
  say(
    `pickup: p50 ${quantile(waits, 0.5)} ms, p95 ${quantile(waits, 0.95)} ms after an input was sent, poll ${pollMs} ms`,
  )
  say(
    `throughput: ${(sent.size / seconds).toFixed(1)} turns/s, ${(lines.length / seconds).toFixed(1)} entries/s over the whole run; drained ${counted.drainedIn.toFixed(0)} s after the last input`,
  )
  say(
    `server CPU: ${((cpu * 1e6) / lines.length).toFixed(0)} µs for each entry with claims, renewals, budgets and restarts; one append alone ${(insertLoop.own * 1e6).toFixed(0)} µs, a plain insert of the same bytes ${(insertLoop.cpu * 1e6).toFixed(0)} µs`,
  )
}

/** By message: what the simulator billed for answers that were kept, against the rows of the database, to the token. */
async function billed(
  url: string,
  heard: ReadonlyMap<string, LoggedRequest>,
  kept: ReadonlyMap<string, string>,
  say: (text: string) => void,
): Promise<void> {
  const rows = await sql(url, 'select message, input, cache_read, cache_write, output, usd from pal.spend')
  const sum = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, usd: 0 }
  const bill = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, usd: 0 }
  let unlike = 0
  for (const row of rows) {
    const usage = heard.get(row['message'] as string)?.usage
    const own = [row['input'], row['cache_read'], row['cache_write'], row['output']].map(Number)
    const theirs = [
      usage?.input_tokens ?? 0,
      usage?.cache_read_input_tokens ?? 0,
      usage?.cache_creation_input_tokens ?? 0,
      usage?.output_tokens ?? 0,
    ]
    if (own.some((value, at) => value !== theirs[at])) unlike++
    sum.input += own[0]! + own[1]! + own[2]!
    sum.output += own[3]!
    sum.usd += Number(row['usd'])
    bill.input += theirs[0]! + theirs[1]! + theirs[2]!
    bill.output += theirs[3]!
    bill.usd += heard.get(row['message'] as string)?.bill?.dollars ?? 0
  }
  const lost = [...heard].filter(([message]) => !kept.has(message))
  const lostTokens = lost.reduce(
    (total, [, { usage }]) =>
      total +
      (usage === null
        ? 0
        : usage.input_tokens +
          usage.output_tokens +
          (usage.cache_read_input_tokens ?? 0) +
          (usage.cache_creation_input_tokens ?? 0)),
    0,
  )
  say(
    `spend: ${rows.length} answers, prompt ${sum.input} and output ${sum.output} tokens, $${sum.usd.toFixed(4)}; the simulator billed for them ${bill.input} and ${bill.output}, $${bill.usd.toFixed(4)}; ${unlike} rows differ, ${rows.length - kept.size} more rows than answers`,
  )
  say(
    `billed but never heard: ${lost.length} requests, ${lostTokens} tokens, whose worker died or was cut off before the answer was written`,
  )
}

const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)
}
