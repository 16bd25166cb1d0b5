// Every input has exactly one whole answer, wherever the work on it was broken off.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runTurnStep, runWorker, type OpenEngine, type WorkerOptions } from '../../src/fleet/index.ts'
import type { PostgresStore } from '../../src/postgres/index.ts'
import { createSimulator, type LoggedRequest } from '../../src/simulator/index.ts'
import { isKnown, type FactOf } from '../../src/transcript/fact.ts'
import { endLeases, freshDatabase, skipReason, sql, startServer, type Server } from '../postgres/server.ts'
import { until } from '../until.ts'
import { engineOver, fleetOn, modelAt, type TestFleet } from './fleet.ts'
import { echo, factsOf, inputs, isIdle, send } from './steps.ts'

describe.skipIf(skipReason !== null)('answered once', () => {
  let server: Server
  const later: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    server = await startServer()
  })
  afterEach(async () => {
    for (const end of later.splice(0).reverse()) await end()
  })
  afterAll(() => server.stop())

  const opened = async (eventDelayMs = 0) => {
    const heard: LoggedRequest[] = []
    const simulator = createSimulator({ answerer: echo, eventDelayMs, heard: (one) => heard.push(one) })
    const { url } = await simulator.start()
    later.push(() => simulator.stop())
    const database = await freshDatabase(server)
    const fleet = (): TestFleet => {
      const made = fleetOn(database.url)
      later.push(() => made.close())
      return made
    }
    return { model: modelAt(url), heard, fleet, adminUrl: database.adminUrl }
  }
  const work = (options: WorkerOptions) => {
    const stop = new AbortController()
    const done = runWorker({ pollMs: 20, ...options }, stop.signal)
    const end = async (): Promise<void> => {
      stop.abort()
      await done
    }
    later.push(end)
    return end
  }
  const answersIn = async (fleet: TestFleet, session: string) =>
    (await factsOf(fleet, session)).filter(
      (fact): fact is FactOf<'assistant-message'> => fact.type === 'assistant-message',
    )
  /** The store of a worker that dies at the first fact of this type: it is never written, and nobody hears why. */
  const dyingAt = (store: PostgresStore, type: string, died: () => void): PostgresStore =>
    new Proxy(store, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        if (key !== 'append') return value.bind(target) as unknown
        return (...given: Parameters<PostgresStore['append']>) => {
          if (!given[1].some((entry) => isKnown(entry) && entry.fact.type === type))
            return target.append(...given)
          died()
          return new Promise(() => undefined)
        }
      },
    })
  /** Runs a step until its process would have been killed there; its lease is then over. */
  const killedAt = async (fleet: TestFleet, adminUrl: string, openEngine: OpenEngine, type: string) => {
    const dead = new Promise<void>((resolve) => {
      void runTurnStep(step, { ...fleet, store: dyingAt(fleet.store, type, resolve), openEngine })
    })
    await dead
    await fleet.store.close()
    await endLeases(adminUrl)
  }
  const step = { session: 's', id: '1', text: 'hello' }

  it('[FL3] an answer that was cut off is asked for again: it does not count, and the input has one whole answer', async () => {
    const { model, heard, fleet } = await opened(30)
    const one = fleet()
    const text = 'many words '.repeat(60).trim()
    await send(one, 's', '1', text)
    const stop = new AbortController()
    let deltas = 0
    await runWorker(
      {
        ...one,
        openEngine: engineOver(one, model),
        graceMs: 0,
        listen: (_, { type }) => void (type === 'text-delta' && ++deltas === 2 && stop.abort()),
      },
      stop.signal,
    )
    const [half, ...none] = await answersIn(one, 's')
    expect(none).toEqual([])
    expect(half).toMatchObject({ partial: true })
    expect(await one.queue.rows('s')).toMatchObject({ rows: [{ owner: null, parked: null }] })
    const two = fleet()
    work({ ...two, openEngine: engineOver(two, model) })
    await until(() => isIdle(two, 's'), 'the answer')
    const facts = await factsOf(two, 's')
    expect(inputs(facts).map(({ id }) => id)).toEqual(['1'])
    const whole = (await answersIn(two, 's')).filter(({ partial }) => partial !== true)
    expect(whole.map(({ content }) => content)).toEqual([[{ type: 'text', text: `re: ${text}` }]])
    // It is the same question, without the half.
    expect(heard.length).toBe(2)
    expect(heard[1]!.body).toEqual(heard[0]!.body)
    expect(
      await runTurnStep({ ...step, text }, { ...two, openEngine: engineOver(two, model) }),
    ).toMatchObject({
      ok: true,
      text: `re: ${text}`,
    })
    expect(heard.length).toBe(2)
  })

  it('[FL3] a worker that dies right after an answer leaves nothing to ask again', async () => {
    const { model, heard, fleet, adminUrl } = await opened()
    const one = fleet()
    await killedAt(one, adminUrl, engineOver(one, model), 'turn-end')
    const two = fleet()
    const answer = await runTurnStep(step, { ...two, openEngine: engineOver(two, model) })
    expect(answer).toMatchObject({ ok: true, text: 're: hello' })
    work({ ...two, openEngine: engineOver(two, model) })
    await until(() => isIdle(two, 's'), 'it to be idle')
    expect((await answersIn(two, 's')).length).toBe(1)
    expect(heard.length).toBe(1)
  })

  it('[FL8] a step whose process died in the middle of its request is done by the next that runs it', async () => {
    const { model, heard, fleet, adminUrl } = await opened()
    const one = fleet()
    await killedAt(one, adminUrl, engineOver(one, model), 'assistant-message')
    const two = fleet()
    // A step that does not know its answer works on the session again and again: it is stopped the second time.
    const stop = new AbortController()
    const opens: string[] = []
    const openEngine: OpenEngine = (claimed, store) => {
      if (opens.push(claimed.session) > 1) stop.abort()
      return engineOver(two, model)(claimed, store)
    }
    expect(await runTurnStep(step, { ...two, openEngine }, stop.signal)).toMatchObject({
      ok: true,
      text: 're: hello',
    })
    expect(opens).toEqual(['s'])
    expect(inputs(await factsOf(two, 's')).length).toBe(1)
    expect(heard.length).toBe(2)
  })

  it('[FL6] a step for a session that is parked says so, and asks nothing', async () => {
    const { model, heard, fleet } = await opened()
    const one = fleet()
    await send(one, 's', '0', 'first')
    expect(await one.queue.park('s', 'somebody looks at it')).toMatchObject({ ok: true, isFound: true })
    expect(await runTurnStep(step, { ...one, openEngine: engineOver(one, model) })).toMatchObject({
      failure: { code: 'parked', message: expect.stringContaining('somebody looks at it') as string },
    })
    expect(heard).toEqual([])
  })

  it('[FL2] a claim and a finish whose answers were lost are asked again: the same claim, and no later wish is taken', async () => {
    const { fleet, adminUrl } = await opened()
    const { queue, connection, store } = fleet()
    await queue.send({ session: 's', id: '1', kind: 'input', body: 'x' })
    const token = randomUUID()
    const first = await queue.claim({ host: 'h', pid: 1 }, 30_000, token, 5)
    if (!first.ok) throw new Error(first.failure.message)
    const [claimed] = first.claimed
    const again = await connection.query('select pal.claim($1, $2, $3, $4, $5, true) as said', [
      'acme',
      '{}',
      '30 seconds',
      token,
      5,
    ])
    expect(again).toMatchObject({
      ok: true,
      rows: [
        { said: [{ session: 's', epoch: claimed!.epoch, n: claimed!.n, next: null, isTakeover: false }] },
      ],
    })
    expect(await queue.finish(claimed!, claimed!.n)).toEqual({ ok: true, outcome: 'done' })
    await queue.send({ session: 's', id: '2', kind: 'input', body: 'x' })
    expect(await queue.finish(claimed!, claimed!.n)).toEqual({ ok: true, outcome: 'more' })
    await store.release({ session: claimed!.session as never, epoch: claimed!.epoch, token })
    expect(await queue.claim({ host: 'h', pid: 1 }, 30_000, randomUUID(), 5)).toMatchObject({
      claimed: [{ session: 's' }],
    })
    expect(await sql(adminUrl, 'select count(*)::int as n from pal.due')).toEqual([{ n: 1 }])
  })
})
