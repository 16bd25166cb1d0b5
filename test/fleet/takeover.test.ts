import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { changesOf, lateness, type Moment } from '../../bench/fleet/places.ts'
import type { Claimed } from '../../src/postgres/queue.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import {
  freshDatabase,
  skipReason,
  sql,
  startServer,
  type Server,
  type TestDatabase,
} from '../postgres/server.ts'
import { fleetOn, type TestFleet } from './fleet.ts'
import { send } from './steps.ts'

describe.skipIf(skipReason !== null)('who is taken next', () => {
  let server: Server
  let database: TestDatabase
  let fleet: TestFleet
  beforeAll(async () => {
    server = await startServer()
  })
  beforeEach(async () => {
    database = await freshDatabase(server)
    fleet = fleetOn(database.url)
  })
  afterEach(() => fleet.close())
  afterAll(() => server.stop())

  const claim = async (leaseMs: number, most = 1): Promise<readonly Claimed[]> => {
    const found = await fleet.queue.claim({ host: 'h', pid: 1 }, leaseMs, randomUUID(), most)
    if (!found.ok) throw new Error(found.failure.message)
    return found.claimed
  }
  const release = ({ session, epoch, token }: Claimed) =>
    fleet.store.release({ session: sessionId(session), epoch, token })
  const passed = (interval: string) => sql(database.adminUrl, `select pg_sleep_for('${interval}')`)
  const names = (claimed: readonly Claimed[]) => claimed.map(({ session }) => session)

  it('[FL19] a session whose worker is gone comes before those that wait longer and nobody has begun with', async () => {
    for (const session of ['gone', 'a', 'b']) await send(fleet, session, '1')
    expect(names(await claim(1))).toEqual(['gone'])
    await passed('20 milliseconds')
    expect(await claim(30_000)).toMatchObject([{ session: 'gone', isTakeover: true }])
    expect(names(await claim(30_000, 5))).toEqual(['a', 'b'])
  })

  it('[FL19] a session that was stopped and released goes on first, one that failed waits behind the others', async () => {
    for (const session of ['failed', 'stopped', 'a']) await send(fleet, session, '1')
    const [failed, stopped] = await claim(30_000, 2)
    await fleet.queue.fail(failed!, 'io-error: no', 5, 0)
    await release(failed!)
    await release(stopped!)
    const next = []
    for (let n = 0; n < 3; n++) next.push(...names(await claim(30_000)))
    expect(next).toEqual(['stopped', 'a', 'failed'])
  })

  it('[FL19] what was sent to a session after its worker was gone with nothing left to do has waited since then, not since the lease ended', async () => {
    await send(fleet, 's', '1')
    const [claimed] = await claim(30_000)
    expect(await fleet.queue.finish(claimed!, claimed!.n)).toMatchObject({ outcome: 'done' })
    await sql(database.adminUrl, "update pal.session set lease_until = clock_timestamp() - interval '1 day'")
    await send(fleet, 's', '2')
    const [again] = await claim(30_000)
    expect(again).toMatchObject({ session: 's', isTakeover: true })
    expect(again!.waitedMs).toBeLessThan(3_600_000)
  })

  it('[FL19] of a session that was held longer than its wish was looked at, the wait counts from the end of its lease', async () => {
    await send(fleet, 's', '1')
    await claim(30_000)
    await sql(database.adminUrl, "update pal.session set lease_until = clock_timestamp() - interval '1 day'")
    await sql(database.adminUrl, "update pal.due set at = clock_timestamp() - interval '2 days'")
    await sql(
      database.adminUrl,
      'update pal.wanted w set at = d.at from pal.due d where d.session = w.session',
    )
    const [again] = await claim(30_000)
    expect(Math.round(again!.waitedMs / 3_600_000)).toBe(24)
  })
})

it('[FL19] the bench tells a session that waited for a place, or for the server, from one that could have been taken', () => {
  const moments: readonly Moment[] = [
    { at: 0, worker: 1, what: 'ready' },
    { at: 10, worker: 1, what: 'claimed' },
    { at: 50, worker: 1, what: 'ended' },
    { at: 60, worker: 1, what: 'stopped' },
    { at: 80, worker: 1, what: 'resumed' },
    { at: 90, worker: null, what: 'stopped' },
    { at: 95, worker: null, what: 'resumed' },
    { at: 100, worker: 1, what: 'gone' },
    { at: 110, worker: 1, what: 'resumed' },
  ]
  const free = changesOf(moments, 1).map(({ at, isFree }) => (isFree ? at : -at))
  expect(free).toEqual([0, -10, 50, -60, 80, -90, 95, -100])
  const taken = [
    { from: 5, to: 6 },
    { from: 20, to: 57 },
    { from: 65, to: 82 },
    { from: 92, to: 99 },
    { from: 97, to: 99 },
  ]
  expect(lateness(taken, moments, 1, 4)).toEqual({
    withPlace: [1],
    waited: [
      { total: 37, late: 7 },
      { total: 17, late: 2 },
    ],
    whileDown: [7, 2],
  })
})
