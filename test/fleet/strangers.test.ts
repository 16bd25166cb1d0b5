// What a stranger tries, and what happens at the wrong moment.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  runTurnStep,
  runWorker,
  startFleetServer,
  type OpenEngine,
  type WorkerEvent,
} from '../../src/fleet/index.ts'
import { makeToken } from '../../src/postgres/tokens.ts'
import { connect, Queue } from '../../src/postgres/index.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { createSimulator, type Answerer } from '../../src/simulator/index.ts'
import { freshDatabase, skipReason, startServer, type Server, type TestDatabase } from '../postgres/server.ts'
import { until } from '../until.ts'
import { engineOver, fleetOn, modelAt, type TestFleet } from './fleet.ts'
import { echo, factsOf, inputs, isIdle, said, send } from './steps.ts'

describe.skipIf(skipReason !== null)('strangers', () => {
  let server: Server
  const later: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    server = await startServer()
  })
  afterEach(async () => {
    for (const end of later.splice(0).reverse()) await end()
  })
  afterAll(() => server.stop())

  const fleet = (database: TestDatabase, tenant = 'acme'): TestFleet => {
    const made = fleetOn(database.url, { tenant })
    later.push(() => made.close())
    return made
  }
  const work = async (one: TestFleet, answerer: Answerer = echo, around = (open: OpenEngine) => open) => {
    const simulator = createSimulator({ answerer })
    const { url } = await simulator.start()
    later.push(() => simulator.stop())
    const stop = new AbortController()
    const events: WorkerEvent[] = []
    const options = { ...one, openEngine: around(engineOver(one, modelAt(url))), pollMs: 20 }
    let broken: unknown = null
    const done = runWorker({ ...options, tell: (event) => events.push(event) }, stop.signal).catch(
      (error: unknown) => (broken = error),
    )
    later.push(async () => {
      stop.abort()
      await done
    })
    return { events, broken: () => broken }
  }
  const overHttp = async ({ url, adminUrl }: TestDatabase, tenant: string) => {
    const [connection, owner] = [connect({ url }), connect({ url: adminUrl })]
    later.push(() => connection.close())
    const made = await makeToken(owner, tenant, 'test')
    await owner.close()
    if (!made.ok) throw new Error(made.failure.message)
    const running = await startFleetServer({ connection, host: '127.0.0.1', port: 0 })
    later.push(() => running.stop())
    const headers = { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' }
    return {
      get: async (path: string) => (await fetch(`${running.url}${path}`, { headers })).status,
      post: async (path: string, body: unknown) => {
        const init = { method: 'POST', headers, body: JSON.stringify(body) }
        return (await fetch(`${running.url}${path}`, init)).status
      },
    }
  }

  it('[FL1] an id that comes again with another text is refused, before and after the first was delivered', async () => {
    const database = await freshDatabase(server)
    const one = fleet(database)
    const api = await overHttp(database, 'acme')
    const other = { session: 's', id: '1', kind: 'input', body: 'something else' } as const
    expect(await send(one, 's', '1', 'words')).toBe(true)
    expect(await one.queue.send(other)).toMatchObject({ ok: false, failure: { code: 'exists' } })
    expect(await send(one, 's', '1', 'words')).toBe(false)
    await work(one)
    await until(() => isIdle(one, 's'), 'the answer')
    expect(await one.queue.send(other)).toMatchObject({ ok: false, failure: { code: 'exists' } })
    expect(await send(one, 's', '1', 'words')).toBe(false)
    expect(await api.post('/v1/sessions/s/input', { id: '1', text: 'something else' })).toBe(409)
    expect(await api.post('/v1/sessions/s/input', { id: '1', text: 'words' })).toBe(200)
    expect(said(await factsOf(one, 's'))).toEqual(['re: words'])
  })

  it('[FL6] a session that is parked while somebody works on it stops after the turn, and goes on when it is unparked', async () => {
    const one = fleet(await freshDatabase(server))
    const answerer: Answerer = {
      async answer(asked) {
        await one.queue.park('s', 'by an operator: enough')
        return echo.answer(asked)
      },
    }
    for (const id of ['1', '2', '3']) await send(one, 's', id)
    const { events } = await work(one, answerer)
    await until(() => events.some(({ type }) => type === 'parked'), 'the worker to stop')
    await until(async () => (await one.store.owners(['s' as never])).size === 0, 'the session to be released')
    expect(inputs(await factsOf(one, 's')).map(({ id }) => id)).toEqual(['1'])
    expect(await one.queue.rows('s')).toMatchObject({
      rows: [{ parked: 'by an operator: enough', waiting: 2, tries: expect.any(Number) as number }],
    })
    for (const answered of [2, 3]) {
      expect(await one.queue.unpark('s')).toEqual({ ok: true, isFound: true })
      await until(async () => said(await factsOf(one, 's')).length === answered, 'the next answer')
      await until(async () => {
        const rows = await one.queue.rows('s')
        return rows.ok && rows.rows[0]!.owner === null
      }, 'the session to be released')
    }
    expect(said(await factsOf(one, 's'))).toEqual(['re: 1', 're: 2', 're: 3'])
  })

  it('[FL6] an engine that cannot even be made is a failure of its session; the worker works on', async () => {
    const one = fleet(await freshDatabase(server))
    const openEngine =
      (open: OpenEngine): OpenEngine =>
      (claimed, store) =>
        claimed.session === 'bad' ? Promise.reject(new Error('no such folder')) : open(claimed, store)
    await send(one, 'bad', '1')
    const { broken } = await work(one, echo, openEngine)
    await until(async () => {
      const rows = await one.queue.rows('bad')
      return broken() !== null || (rows.ok && rows.rows[0]!.failure !== null)
    }, 'the failure')
    expect(broken()).toBe(null)
    expect(await one.queue.rows('bad')).toMatchObject({ rows: [{ failure: 'fault: no such folder' }] })
    await send(one, 'good', '1')
    await until(() => isIdle(one, 'good'), 'the other session')
    expect(said(await factsOf(one, 'good'))).toEqual(['re: 1'])
  })

  it('[FL6] an engine that cannot be closed is said; the worker works on', async () => {
    const one = fleet(await freshDatabase(server))
    const around =
      (open: OpenEngine): OpenEngine =>
      async (claimed, store) => {
        const made = await open(claimed, store)
        if (!made.ok || claimed.session !== 'bad') return made
        return { ok: true, opened: { ...made.opened, close: () => Promise.reject(new Error('it hangs')) } }
      }
    const { events, broken } = await work(one, echo, around)
    await send(one, 'bad', '1')
    await until(() => broken() !== null || events.some(({ type }) => type === 'ended'), 'the end')
    await send(one, 'good', '1')
    await until(async () => broken() !== null || (await isIdle(one, 'good')), 'the other session')
    expect(broken()).toBe(null)
    expect(events.find(({ type }) => type === 'ended')).toMatchObject({
      session: 'bad',
      outcome: { kind: 'failed', failure: { message: 'it hangs' } },
    })
    expect(said(await factsOf(one, 'bad'))).toEqual(['re: 1'])
    expect(said(await factsOf(one, 'good'))).toEqual(['re: 1'])
  })

  it('[FL7] an input cannot take the place of an answer to a question', async () => {
    const { queue, store } = fleet(await freshDatabase(server))
    await queue.send({ session: 's', id: 'x', kind: 'input', body: 'x' })
    const found = await queue.claim({ host: 'h', pid: 1 }, 30_000, randomUUID(), 1)
    if (!found.ok) throw new Error(found.failure.message)
    await queue.ask(found.claimed[0]!, 'q', 'Bash', 'rm')
    const early = await queue.send({ session: 's', id: 'answer-q', kind: 'input', body: 'mine' })
    expect(early).toMatchObject({ ok: true, isNew: true })
    expect(await queue.send({ session: 's', id: 'answer q', kind: 'input', body: 'mine' })).toMatchObject({
      failure: { code: 'bad-name' },
    })
    expect(await queue.answer('s', 'q', 'allow')).toEqual({ ok: true })
    expect(await queue.inbox('s', 'answer', 9)).toMatchObject({ rows: [{ kind: 'answer' }] })
    // Answered before: the same again is no change, another is refused.
    expect(await queue.answer('s', 'q', 'allow')).toEqual({ ok: true })
    expect(await queue.answer('s', 'q', 'deny')).toMatchObject({ failure: { code: 'exists' } })
    expect(await queue.inbox('s', 'answer', 9)).toMatchObject({ rows: [{ kind: 'answer' }] })
    await store.release({ ...found.claimed[0]!, session: sessionId('s') })
  })

  it('[FL8] a step that the database leaves in the middle holds nothing afterwards', async () => {
    const one = fleet(await freshDatabase(server))
    const failure = { code: 'network', message: 'gone' } as const
    const wantedNumber = () => Promise.resolve({ ok: false, failure } as const)
    const queue = Object.assign(new Queue(one.connection, 'acme'), { wantedNumber })
    const openEngine = () => Promise.reject(new Error('it does not come so far'))
    const step = { session: 's', id: '1', text: 'x' }
    expect(await runTurnStep(step, { ...one, queue, openEngine })).toEqual({ ok: false, failure })
    expect(await one.store.lease(sessionId('s'))).toMatchObject({ ok: true })
  })

  it('[FL12] with the token of a tenant nothing of another is heard or changed; what no database keeps is refused as such', async () => {
    const database = await freshDatabase(server, ['acme', 'globex'])
    const acme = fleet(database)
    await send(acme, 's', '1', 'words of acme')
    const api = await overHttp(database, 'globex')
    const words = JSON.stringify(await acme.queue.rows('s'))
    expect(await api.get('/v1/sessions/s')).toBe(404)
    expect(await api.post('/v1/sessions/s/answer', { question: 'q', answer: 'allow' })).toBe(404)
    // A session of the same name is one of its own.
    expect(await api.post('/v1/sessions/s/input', { text: 'words of globex', id: '1' })).toBe(202)
    expect(JSON.stringify(await acme.queue.rows('s')).replace(/"wantedFor":\d+/u, '')).toBe(
      words.replace(/"wantedFor":\d+/u, ''),
    )
    expect(await acme.queue.inbox('s', null, 9)).toMatchObject({ rows: [{ body: 'words of acme' }] })
    expect(await api.get('/v1/sessions/%00')).toBe(400)
    expect(await api.post('/v1/sessions/%00/input', { text: 'x' })).toBe(400)
    expect(await api.post('/v1/sessions/new/input', { text: 'x', team: 'a\0b' })).toBe(400)
    expect(await api.post('/v1/sessions/s/answer', { question: '\0', answer: 'allow' })).toBe(400)
  })
})
