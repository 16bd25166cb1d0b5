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
    const fleet = fleetOn(url, { connections: 1 })
    const { queue, store, connection } = fleet
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
    await fleet.close()
    await server.stop()
    expect(rows.map(({ name }) => name)).toEqual(['session', 'wanted'])
    for (const { name, updates, hot } of rows as { name: string; updates: number; hot: number }[]) {
      expect(updates, name).toBeGreaterThan(100)
      expect(hot / updates, `${name}: ${hot} of ${updates}`).toBeGreaterThanOrEqual(0.95)
    }
  },
)

it.skipIf(skipReason !== null)(
  '[DB10] a claim touches as many blocks with 10,000 idle sessions as with 1,000, whether it finds one or none',
  async () => {
    const server = await startServer({ autovacuum: 'off' })
    const touched = async (idle: number): Promise<readonly number[]> => {
      const { url, adminUrl } = await freshDatabase(server)
      const fleet = fleetOn(url, { connections: 1 })
      const { queue, connection } = fleet
      await sql(
        adminUrl,
        `insert into pal.session (tenant, id, root, first, head, purpose) select 'acme', 'idle' || n, 'idle' || n, 0, 9, 'main'
           from generate_series(1, $1::int) n`,
        [idle],
      )
      // Sessions under way: they are wanted and held.
      for (let n = 0; n < 100; n++)
        await queue.send({ session: `busy${n}`, id: '1', kind: 'input', body: 'x' })
      const found = await queue.claim(owner, 3_600_000, randomUUID(), 100)
      expect(found.ok && found.claimed.length).toBe(100)
      await sql(adminUrl, 'vacuum analyze')
      const claim = async (): Promise<number> => {
        const values = ['acme', '{}', '1 hour', randomUUID(), 1, false]
        const text = 'explain (analyze, buffers, format json) select pal.claim($1, $2, $3, $4, $5, $6)'
        const said = await connection.query(text, values)
        if (!said.ok) throw new Error(said.failure.message)
        const [{ Plan: plan }] = said.rows[0]!['QUERY PLAN'] as [{ Plan: Record<string, number> }]
        return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!
      }
      // Plans are settled after some calls.
      for (let n = 0; n < 10; n++) await claim()
      const none = await claim()
      await queue.send({ session: 'idle500', id: '1', kind: 'input', body: 'x' })
      const one = await claim()
      await fleet.close()
      return [none, one]
    }
    const [few, many] = [await touched(1000), await touched(10_000)]
    await server.stop()
    for (const [at, blocks] of many.entries()) {
      expect(blocks).toBeGreaterThan(0)
      expect(blocks, `${few[at]!} blocks with 1,000`).toBeLessThanOrEqual(1.2 * few[at]!)
    }
  },
)
