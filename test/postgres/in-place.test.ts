import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { noteEntry } from '../../src/testing/store-steps.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { fleetOn } from '../fleet/fleet.ts'
import { freshDatabase, skipReason, sql, startServer } from './server.ts'

const owner = { host: 'h', pid: 1 }

it.skipIf(skipReason !== null)(
  '[DB9] sending, claiming, appending, renewing, finishing and releasing change rows in place',
  async () => {
    const server = await startServer({ autovacuum: 'off' })
    const { url, adminUrl } = await freshDatabase(server)
    const { queue, store, connection, close } = fleetOn(url, { connections: 1 })
    for (let n = 0; n < 60; n++) {
      const session = `s${n % 10}`
      const body = 'x'
      for (const id of ['a', 'b']) await queue.send({ session, id: `${id}${n}`, kind: 'mail', body })
      const found = await queue.claim(owner, 30_000, randomUUID(), 1)
      if (!found.ok) throw new Error(found.failure.message)
      const [claimed] = found.claimed
      const lease = { ...claimed!, session: sessionId(session) }
      store.adopt(lease, lease.next, performance.now())
      const next = lease.next ?? 0
      for (const at of [next, next + 1])
        expect(await store.append(lease, [noteEntry(at, 'words')], seq(at), 'now')).toEqual({ ok: true })
      // Shorter than what is left of it, so that the wish is moved as well.
      await connection.query('select pal.renew($1, $2, $3, $4)', [
        'acme',
        [session],
        [lease.token],
        '2 minutes',
      ])
      expect(await queue.finish(lease, lease.n)).toMatchObject({ outcome: 'done' })
      await store.release(lease)
    }
    await connection.query('select pg_stat_force_next_flush()', [])
    await connection.query('select 1', [])
    const rows = await sql(
      adminUrl,
      "select relname as name, n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_user_tables where relname in ('session', 'wanted') order by 1",
    )
    await close()
    await server.stop()
    expect(rows.map(({ name }) => name)).toEqual(['session', 'wanted'])
    for (const { name, updates, hot } of rows as { name: string; updates: number; hot: number }[]) {
      expect(updates, name).toBeGreaterThan(100)
      expect(hot / updates, `${name}: ${hot} of ${updates}`).toBeGreaterThanOrEqual(0.95)
    }
  },
)
