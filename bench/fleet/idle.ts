// The claim while many sessions are idle: it must cost the same with ten thousand as with one thousand. Both databases lie on one
// server and are asked in turns, over one connection each, and only the processor time of that connection's process is counted: what
// the server tidies up meanwhile is no part of a claim.
import { randomUUID } from 'node:crypto'
import { freshDatabase, sql, type Server } from '../../test/postgres/server.ts'
import { fleetOn, type TestFleet } from '../../test/fleet/fleet.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { processSeconds } from './cpu.ts'

const active = 1000
const blocks = 15
const rounds = { empty: 200, cycle: 100 }
const owner = { host: 'bench', pid: 1 }
const hourMs = 3_600_000

interface Prepared {
  readonly count: number
  readonly fleet: TestFleet
  readonly figures: { readonly empty: number[]; readonly cycle: number[] }
}

export async function idleClaims(server: Server, idle: number): Promise<void> {
  const all: Prepared[] = []
  for (const count of [Math.round(idle / 10), idle]) all.push(await prepared(server, count))
  // Plans are made, caches are warm.
  for (const one of all) await block(one, false)
  for (let n = 0; n < blocks; n++)
    for (const one of n % 2 === 0 ? all : all.toReversed()) await block(one, true)
  for (const { count, figures } of all)
    process.stdout.write(
      `  ${count} idle, ${active} under way: a claim that finds nothing ${micro(median(figures.empty))}, send + claim + finish + release ${micro(median(figures.cycle))} of server CPU (medians of ${blocks} blocks in turns)\n`,
    )
  const [small, large] = all
  const ratio = (of: 'empty' | 'cycle'): string =>
    (median(large!.figures[of]) / median(small!.figures[of])).toFixed(2)
  process.stdout.write(
    `  ratio ${large!.count} to ${small!.count}: claim ${ratio('empty')}, cycle ${ratio('cycle')}\n`,
  )
  for (const { fleet } of all) await fleet.close()
}

export async function idleSessions(adminUrl: string, count: number): Promise<void> {
  await sql(
    adminUrl,
    `insert into pal.session (tenant, id, root, first, head, bytes, purpose) select 'acme', 'idle' || n, 'idle' || n, 0, 9, 20000, 'main'
       from generate_series(0, $1::int - 1) n`,
    [count],
  )
}

async function prepared(server: Server, count: number): Promise<Prepared> {
  const { url, adminUrl } = await freshDatabase(server)
  const fleet = fleetOn(url, { connections: 1, leaseMs: hourMs })
  await idleSessions(adminUrl, count)
  // Sessions under way: they are wanted and held.
  for (let n = 0; n < active; n++)
    await fleet.queue.send({ session: `active${n}`, id: '1', kind: 'input', body: 'x' })
  for (let taken = 0; taken < active;) {
    const claimed = await fleet.queue.claim(owner, hourMs, randomUUID(), 200)
    if (!claimed.ok || claimed.claimed.length === 0) throw new Error('nothing to claim')
    taken += claimed.claimed.length
  }
  await sql(adminUrl, 'vacuum analyze')
  return { count, fleet, figures: { empty: [], cycle: [] } }
}

async function block({ count, fleet, figures }: Prepared, counts: boolean): Promise<void> {
  // Asked each time: a connection that was idle while the other database had its turn may be another one now.
  const found = await fleet.connection.query('select pg_backend_pid() as pid', [])
  if (!found.ok) throw new Error(found.failure.message)
  const backend = Number(found.rows[0]!['pid'])
  const empty = await cost(backend, rounds.empty, () => fleet.queue.claim(owner, hourMs, randomUUID(), 1))
  const cycle = await cost(backend, rounds.cycle, () =>
    oneCycle(fleet, `idle${Math.floor(Math.random() * count)}`),
  )
  if (!counts) return
  figures.empty.push(empty)
  figures.cycle.push(cycle)
}

async function oneCycle({ queue, store }: TestFleet, session: string): Promise<void> {
  await queue.send({ session, id: randomUUID(), kind: 'mail', body: 'x' })
  const claimed = await queue.claim(owner, hourMs, randomUUID(), 1)
  if (!claimed.ok || claimed.claimed.length !== 1) throw new Error('not claimed')
  const [one] = claimed.claimed
  await queue.finish(one!, one!.n)
  await store.release({ session: sessionId(session), epoch: one!.epoch, token: one!.token })
}

async function cost(backend: number, count: number, work: () => Promise<unknown>): Promise<number> {
  const before = processSeconds(backend)
  for (let n = 0; n < count; n++) await work()
  return (processSeconds(backend) - before) / count
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
const micro = (seconds: number): string => `${(seconds * 1e6).toFixed(0)} µs`
