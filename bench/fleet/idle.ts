// The claim while many sessions are idle: it must cost the same with ten thousand as with one thousand. And whether rows are updated
// in place (HOT), so that tables do not grow by being written.
import { randomUUID } from 'node:crypto'
import { freshDatabase, sql, type Server } from '../../test/postgres/server.ts'
import { fleetOn } from '../../test/fleet/fleet.ts'
import { noteEntry } from '../../src/testing/store-steps.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { serverSeconds } from './cpu.ts'

const active = 1000
const rounds = 2000

export async function idleClaims(server: Server, idle: number): Promise<void> {
  const figures: { readonly idle: number; readonly empty: number; readonly cycle: number }[] = []
  for (const count of [Math.round(idle / 10), idle]) {
    const database = await freshDatabase(server)
    const fleet = fleetOn(database.url, { connections: 8, leaseMs: 600_000 })
    await fill(database.adminUrl, count)
    // Sessions under way: they are wanted and held.
    for (let n = 0; n < active; n++)
      await fleet.queue.send({ session: `active${n}`, id: '1', kind: 'input', body: 'x' })
    const owner = { host: 'bench', pid: 1 }
    for (let taken = 0; taken < active;) {
      const claimed = await fleet.queue.claim(owner, 600_000, randomUUID(), 200)
      if (!claimed.ok || claimed.claimed.length === 0) throw new Error('nothing to claim')
      taken += claimed.claimed.length
    }
    await sql(database.adminUrl, 'vacuum analyze')
    for (let n = 0; n < 200; n++) await fleet.queue.claim(owner, 600_000, randomUUID(), 1)
    const empty = await cost(server, rounds, () => fleet.queue.claim(owner, 600_000, randomUUID(), 1))
    const cycle = await cost(server, rounds / 2, async (n) => {
      const session = `idle${n % count}`
      await fleet.queue.send({ session, id: randomUUID(), kind: 'mail', body: 'x' })
      const claimed = await fleet.queue.claim(owner, 600_000, randomUUID(), 1)
      if (!claimed.ok || claimed.claimed.length !== 1) throw new Error('not claimed')
      const [one] = claimed.claimed
      await fleet.queue.finish(one!, one!.n)
      await fleet.store.release({ session: sessionId(session), epoch: one!.epoch, token: one!.token })
    })
    figures.push({ idle: count, empty, cycle })
    process.stdout.write(
      `  ${count} idle, ${active} under way: a claim that finds nothing ${micro(empty)}, send + claim + finish + release ${micro(cycle)} of server CPU\n`,
    )
    if (count === idle) await hotShare(database.url, database.adminUrl)
    await fleet.close()
  }
  const [small, large] = figures
  process.stdout.write(
    `  ratio ${large!.idle} to ${small!.idle}: claim ${(large!.empty / small!.empty).toFixed(2)}, cycle ${(large!.cycle / small!.cycle).toFixed(2)}\n`,
  )
}

const micro = (seconds: number): string => `${(seconds * 1e6).toFixed(0)} µs`

async function cost(server: Server, count: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const before = serverSeconds(server.pid())
  for (let n = 0; n < count; n++) await work(n)
  return (serverSeconds(server.pid()) - before) / count
}

const fill = (url: string, count: number): Promise<unknown> =>
  sql(
    url,
    `insert into pal.session (tenant, id, root, first, head, bytes, purpose) select 'acme', 'idle' || n, 'idle' || n, 0, 9, 20000, 'main'
       from generate_series(0, $1::int - 1) n`,
    [count],
  )

/** Appends and renewals as workers make them; then what the server says of the updates. */
async function hotShare(url: string, adminUrl: string): Promise<void> {
  const fleet = fleetOn(url, { connections: 8, leaseMs: 600_000, renewMs: 200 })
  await sql(adminUrl, 'select pg_stat_reset()')
  await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const session = sessionId(`soak${at}`)
      for (let round = 0; round < 10; round++) {
        await fleet.queue.send({ session, id: `${round}`, kind: 'mail', body: 'x' })
        const leased = await fleet.store.lease(session)
        if (!leased.ok) throw new Error('taken')
        let next = leased.next ?? 0
        for (let n = 0; n < 12; n++) {
          const done = await fleet.store.append(
            leased.lease,
            [noteEntry(next, 'x'.repeat(600))],
            seq(next),
            'now',
          )
          if (!done.ok) throw new Error(done.why)
          next++
        }
        await fleet.queue.finish(leased.lease, round + 1)
        await fleet.store.release(leased.lease)
      }
    }),
  )
  await fleet.close()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const rows = await sql(
    adminUrl,
    `select relname as name, n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_user_tables where schemaname = 'pal' and n_tup_upd > 0 order by 1`,
  )
  for (const { name, updates, hot } of rows)
    process.stdout.write(
      `  updates of ${String(name)}: ${String(updates)}, in place ${((100 * Number(hot)) / Number(updates)).toFixed(1)}%\n`,
    )
}
