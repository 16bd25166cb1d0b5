// What happens to sessions over days: many questions, workers that are restarted again and again, and pruning beside the work.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { z } from 'zod'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { tool } from '../../src/index.ts'
import { runWorker } from '../../src/fleet/index.ts'
import { call, createSimulator, type Answerer } from '../../src/simulator/index.ts'
import { freshDatabase, skipReason, sql, startServer, type Server } from '../postgres/server.ts'
import { until } from '../until.ts'
import { engineOver, fleetOn, modelAt, type TestFleet } from './fleet.ts'
import { echo, factsOf, isIdle, said, send } from './steps.ts'

describe.skipIf(skipReason !== null)('sessions over days', () => {
  let server: Server
  const later: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    server = await startServer()
  })
  afterEach(async () => {
    for (const end of later.splice(0).reverse()) await end()
  })
  afterAll(() => server.stop())

  const fleet = async () => {
    const database = await freshDatabase(server)
    const one = fleetOn(database.url)
    later.push(() => one.close())
    return { database, one }
  }
  const modelOf = async (answerer: Answerer) => {
    const simulator = createSimulator({ answerer })
    const { url } = await simulator.start()
    later.push(() => simulator.stop())
    return modelAt(url)
  }
  const work = (one: TestFleet, openEngine: ReturnType<typeof engineOver>) => {
    const stop = new AbortController()
    const done = runWorker({ ...one, openEngine, pollMs: 20, graceMs: 0 }, stop.signal)
    const end = async (): Promise<void> => {
      stop.abort()
      await done
    }
    later.push(end)
    return end
  }
  const rowOf = async ({ queue }: TestFleet, session: string) => {
    const found = await queue.rows(session)
    if (!found.ok) throw new Error(found.failure.message)
    return found.rows[0]!
  }

  it('[FL6] a session that asks more often than it may fail has not failed', async () => {
    const { one } = await fleet()
    const places = Array.from({ length: 7 }, (_, n) => `place-${n}`)
    const answerer: Answerer = {
      answer({ request }) {
        const done = JSON.stringify(request.messages).match(/deployed to/gu)?.length ?? 0
        if (done === places.length)
          return { content: [{ type: 'text', text: 'All are out.' }], stop_reason: 'end_turn' }
        return { content: [call('Deploy', { to: places[done] })], stop_reason: 'tool_use' }
      },
    }
    const deploy = tool({
      name: 'Deploy',
      description: 'Deploys.',
      input: z.object({ to: z.string() }),
      run: ({ to }) => Promise.resolve(`deployed to ${to}`),
    })
    await send(one, 's', '1', 'deploy it everywhere')
    work(one, engineOver(one, await modelOf(answerer), { tools: [deploy] }, '/tmp'))
    await until(async () => {
      const { parked, owner, wantedFor } = await rowOf(one, 's')
      if (owner !== null || parked === null) return owner === null && wantedFor === null
      const open = await one.queue.questions(null)
      for (const { id } of open.ok ? open.questions : []) await one.queue.answer('s', id, 'allow')
      return !parked.startsWith('question')
    }, 'every question to be answered')
    expect(await rowOf(one, 's')).toMatchObject({ parked: null, tries: 0 })
    expect(said(await factsOf(one, 's')).at(-1)).toBe('All are out.')
  })

  it('[FL6] a session whose workers are told to stop again and again has not failed', async () => {
    const { one } = await fleet()
    const state = { isHeld: true, asked: 0, letGo: (): void => undefined }
    const answerer: Answerer = {
      async answer(context) {
        state.asked++
        if (state.isHeld) await new Promise<void>((resolve) => (state.letGo = resolve))
        return echo.answer(context)
      },
    }
    const openEngine = engineOver(one, await modelOf(answerer))
    await send(one, 's', '1')
    for (let round = 1; round <= 7; round++) {
      const end = work(one, openEngine)
      await until(async () => state.asked === round || (await rowOf(one, 's')).parked !== null, 'a request')
      await end()
      state.letGo()
      expect(await rowOf(one, 's')).toMatchObject({ parked: null, owner: null, tries: 0 })
    }
    state.isHeld = false
    work(one, openEngine)
    await until(() => isIdle(one, 's'), 'the answer')
    expect(said(await factsOf(one, 's')).at(-1)).toBe('re: 1')
  })

  const longAgo = "timestamptz '2001-01-01'"
  const before = new Date('2002-01-01')

  it('[FL18] what is sent to a session while it is pruned is worked on: a family that is wanted stays whole, one that is gone begins anew', async () => {
    const { database, one } = await fleet()
    for (const [id, root] of [
      ['a', 'a'],
      ['a-agent', 'a'],
      ['b', 'b'],
    ])
      await sql(
        database.adminUrl,
        `insert into pal.session (tenant, id, root, first, head, changed) values ('acme', $1, $2, 0, 0, ${longAgo})`,
        [id, root],
      )
    const found = await one.queue.oldSessions(before)
    if (!found.ok) throw new Error(found.failure.message)
    expect(found.sessions.map(({ session, root }) => `${session} of ${root}`).toSorted()).toEqual([
      'a of a',
      'a-agent of a',
      'b of b',
    ])
    await send(one, 'a', '1')
    expect(await one.queue.removeOld(['a', 'a-agent'], before)).toEqual({ ok: true, removed: [] })
    // Somebody is about to send: the removal waits for the end of that transaction and sees what came.
    const sender = new Client({ connectionString: database.url })
    await sender.connect()
    later.push(() => sender.end())
    await sender.query('begin')
    const sending = `select pal.send('acme', 'b', $1, 'input', 'words', null, null, null)`
    await sender.query(sending, ['1'])
    const removal = one.queue.removeOld(['b'], before)
    await until(async () => {
      const [row] = await sql(
        database.adminUrl,
        `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%remove_old%'`,
      )
      const ended = await Promise.race([removal.then(() => true), Promise.resolve(false)])
      return row!['n'] === 1 || ended
    }, 'the removal to wait')
    await sender.query('commit')
    expect(await removal).toEqual({ ok: true, removed: [] })
    // The other way round: the sender waits, and its session begins anew.
    await sql(database.adminUrl, `delete from pal.inbox; delete from pal.wanted; delete from pal.due`)
    await sender.query('begin')
    await sender.query(`select * from pal.remove_old('acme', array['b'], $1)`, [before])
    const sent = one.queue.send({ session: 'b', id: '2', kind: 'input', body: 'words' })
    await until(async () => {
      const [row] = await sql(
        database.adminUrl,
        `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%pal.send%'`,
      )
      const ended = await Promise.race([sent.then(() => true), Promise.resolve(false)])
      return row!['n'] === 1 || ended
    }, 'the sender to wait')
    await sender.query('commit')
    expect(await sent).toMatchObject({ ok: true, isNew: true })
    expect(await one.queue.claim({ host: 'h', pid: 1 }, 30_000, randomUUID(), 1)).toMatchObject({
      claimed: [{ session: 'b' }],
    })
  })

  it('[FL18] what is old is found by going through the sessions a few times, however many there are', async () => {
    const { database } = await fleet()
    const all = 600
    await sql(
      database.adminUrl,
      `insert into pal.session (tenant, id, root, first, head, changed)
         select 'acme', 's' || n, 's' || (n - n % 4), 0, 0, ${longAgo} from generate_series(1, ${all}) n`,
    )
    const client = new Client({ connectionString: database.url })
    await client.connect()
    later.push(() => client.end())
    await client.query('begin')
    const { rows } = await client.query(`select * from pal.old_sessions('acme', $1)`, [before])
    expect(rows.length).toBe(all)
    const read = await client.query<{ readonly n: number }>(
      `select (seq_tup_read + idx_tup_fetch)::int as n from pg_stat_xact_user_tables where relname = 'session' and schemaname = 'pal'`,
    )
    expect(read.rows[0]!.n).toBeLessThanOrEqual(4 * all)
    await client.query('rollback')
  })
})
