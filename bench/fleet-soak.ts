// A fleet as it runs all day: sessions are sent to, claimed, written, renewed and given back, without pause. Printed: whether rows are
// updated in place (HOT), and how large the tables are in the middle and at the end.
//   npm run bench -- fleet-soak [--minutes 10] [--sessions 1000] [--idle 10000] [--rate 20] [--size small]
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { fleetOn, type TestFleet } from '../test/fleet/fleet.ts'
import { idleSessions } from './fleet/idle.ts'
import { freshDatabase, skipReason, sql, startServer, type TestDatabase } from '../test/postgres/server.ts'
import { noteEntry } from '../src/testing/store-steps.ts'
import { seq, sessionId } from '../src/transcript/ids.ts'

const { values } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    minutes: { type: 'string', default: '10' },
    sessions: { type: 'string', default: '1000' },
    idle: { type: 'string', default: '10000' },
    // Inputs a second: a day of work, not a race.
    rate: { type: 'string', default: '20' },
    size: { type: 'string' },
  },
})

if (skipReason !== null) {
  process.stdout.write(`fleet-soak: not run: ${skipReason}\n`)
  process.exit(0)
}
const minutes = values['size'] === undefined ? Number(values['minutes']) : 0.1
const sessions = Number(values['sessions'])
const idle = Number(values['idle'])
const betweenMs = 1000 / Number(values['rate'])
const lanes = 4
const leaseMs = 6000
const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** One worker's part: claims, writes like a turn with two rounds, holds some longer than half a lease, gives back. */
async function lane({ queue, store }: TestFleet, until: number): Promise<number> {
  let turns = 0
  while (performance.now() < until) {
    const askedAt = performance.now()
    const found = await queue.claim({ host: 'soak', pid: 1 }, leaseMs, randomUUID(), 8)
    if (!found.ok) throw new Error(found.failure.message)
    await Promise.all(
      found.claimed.map(async ({ session, epoch, token, next, n }) => {
        const lease = { session: sessionId(session), epoch, token }
        store.adopt(lease, next, askedAt)
        for (let at = next ?? 0, end = at + 6; at < end; at++) {
          const done = await store.append(lease, [noteEntry(at, 'x'.repeat(600))], seq(at), 'now')
          if (!done.ok) throw new Error(`append: ${done.why}`)
          await pause(turns % 10 === 0 ? leaseMs / 8 : 20)
        }
        await queue.finish({ session, token }, n)
        await store.release(lease)
        turns++
      }),
    )
    if (found.claimed.length === 0) await pause(20)
  }
  return turns
}

async function sending({ queue }: TestFleet, until: number): Promise<void> {
  while (performance.now() < until) {
    const session = `s${Math.floor(Math.random() * sessions)}`
    await queue.send({ session, id: randomUUID(), kind: 'mail', body: 'x'.repeat(200) })
    await pause(betweenMs)
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function sizes({ adminUrl }: TestDatabase, when: string): Promise<void> {
  const rows = await sql(
    adminUrl,
    `select relname as name, n_live_tup as live, n_dead_tup as dead, n_tup_upd as updates, n_tup_hot_upd as hot,
       pg_relation_size(relid) / 1024 as kb, pg_indexes_size(relid) / 1024 as index_kb
       from pg_stat_user_tables where schemaname = 'pal' and n_tup_ins > 0 order by 1`,
  )
  say(`  ${when}:`)
  for (const { name, live, dead, updates, hot, kb, index_kb: index } of rows) {
    const inPlace =
      Number(updates) === 0
        ? 'no updates'
        : `${String(updates)} updates, ${((100 * Number(hot)) / Number(updates)).toFixed(1)}% in place`
    say(
      `    ${String(name).padEnd(12)} ${String(kb).padStart(7)} kB + ${String(index).padStart(6)} kB of indexes, ${String(live)} rows, ${String(dead)} dead; ${inPlace}`,
    )
  }
}

say(
  `fleet-soak: ${minutes} minutes, ${sessions} sessions sent to and ${idle} idle, ${values['rate']} inputs a second, load ${readFileSync('/proc/loadavg', 'utf8').split(' ')[0]} at the start`,
)
const server = await startServer({ max_connections: '100', autovacuum_naptime: '15s' })
try {
  const database = await freshDatabase(server)
  await idleSessions(database.adminUrl, idle)
  const fleets = Array.from({ length: lanes + 1 }, () =>
    fleetOn(database.url, { connections: 4, leaseMs, renewMs: leaseMs / 4 }),
  )
  const began = performance.now()
  const end = began + minutes * 60_000
  const working = Promise.all([
    sending(fleets[lanes]!, end),
    ...fleets.slice(0, lanes).map((fleet) => lane(fleet, end)),
  ])
  await pause((minutes * 60_000) / 2)
  await sizes(database, `after ${(minutes / 2).toFixed(1)} minutes`)
  const [, ...turns] = await working
  await pause(1500)
  say(
    `  ${turns.reduce((sum, each) => sum + each, 0)} turns in ${((performance.now() - began) / 60_000).toFixed(1)} minutes`,
  )
  await sizes(database, 'at the end')
  for (const fleet of fleets) await fleet.close()
} finally {
  await server.stop()
}
