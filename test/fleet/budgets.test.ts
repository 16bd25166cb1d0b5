import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runWorker } from '../../src/fleet/index.ts'
import { createSimulator } from '../../src/simulator/index.ts'
import { isKnown, type Fact } from '../../src/transcript/fact.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { endLeases, freshDatabase, skipReason, sql, startServer, type Server } from '../postgres/server.ts'
import { until } from '../until.ts'
import { engineOver, fleetOn, modelAt, type TestFleet } from './fleet.ts'

const today = { from: '2020-01-01', to: '2100-01-01' }

describe.skipIf(skipReason !== null)('budgets', () => {
  let server: Server
  const later: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(async () => {
    for (const end of later.reverse()) await end()
    await server.stop()
  })
  const fleet = async (): Promise<TestFleet & { readonly adminUrl: string }> => {
    const { url, adminUrl } = await freshDatabase(server)
    const made = { ...fleetOn(url, { connections: 20 }), adminUrl }
    later.push(() => made.close())
    return made
  }
  const held = async ({ store, queue }: TestFleet, session: string, team?: string, project?: string) => {
    await queue.send({ session, id: '1', kind: 'input', body: 'x', team, project })
    const leased = await store.lease(sessionId(session))
    if (!leased.ok) throw new Error('taken')
    return leased.lease
  }
  const sums = async ({ budgets }: TestFleet) => {
    const rows = await budgets.rows()
    if (!rows.ok) throw new Error(rows.failure.message)
    return rows.budgets.map(({ scope, name, spent, reserved }) => [scope, name, spent, reserved])
  }

  it('[FL9] of 50 reservations made at once no more are let through than the cap holds', async () => {
    const one = await fleet()
    await one.budgets.set({ scope: 'team', name: 'core', ...today, cap: 1 })
    const leases = await Promise.all(Array.from({ length: 50 }, (_, n) => held(one, `s${n}`, 'core')))
    const outcomes = await Promise.all(leases.map((lease, n) => one.budgets.reserve(lease, `r${n}`, 0.03)))
    const passed = outcomes.filter((each) => each.ok && each.reserved.ok)
    expect(passed.length).toBe(33)
    expect(await sums(one)).toEqual([['team', 'core', 0, 0.99]])
    // Asked again after a lost answer, a reservation is the same one.
    const at = outcomes.findIndex((each) => each.ok && each.reserved.ok)
    expect(await one.budgets.reserve(leases[at]!, `r${at}`, 0.03)).toEqual({
      ok: true,
      reserved: { ok: true },
    })
    expect(await sums(one)).toEqual([['team', 'core', 0, 0.99]])
    await Promise.all(leases.map((lease, n) => one.budgets.free(lease.session, `r${n}`)))
    expect(await sums(one)).toEqual([['team', 'core', 0, 0]])
  })

  it('[FL9] every budget that covers a session is asked, and one that refuses leaves the others as they were', async () => {
    const one = await fleet()
    const lease = await held(one, 's', 'core', 'site')
    for (const [scope, name, cap] of [
      ['tenant', '', 10],
      ['team', 'core', 5],
      ['team', 'other', 0],
      ['project', 'site', 0.5],
      ['tree', 's', 2],
    ] as const)
      expect(await one.budgets.set({ scope, name, ...today, cap })).toEqual({ ok: true })
    expect(await one.budgets.reserve(lease, 'r1', 0.4)).toMatchObject({ reserved: { ok: true } })
    expect(await one.budgets.reserve(lease, 'r2', 0.4)).toMatchObject({
      reserved: { ok: false, why: 'cap', scope: 'project', name: 'site', cap: 0.5, reserved: 0.4 },
    })
    expect(await one.budgets.reserve(lease, 'r3', null)).toMatchObject({ reserved: { why: 'unpriced' } })
    expect((await sums(one)).filter(([, , , reserved]) => reserved === 0.4).length).toBe(4)
    expect(await one.budgets.set({ scope: 'team', name: 'core', ...today, cap: -1 })).toMatchObject({
      ok: false,
    })
    expect(
      await one.budgets.set({ scope: 'team', name: 'core', from: '2026-02-01', to: '2026-02-01', cap: 1 }),
    ).toMatchObject({
      ok: false,
    })
  })

  it('[FL10] what a holder had reserved is free when another takes over, and at a release and a removal', async () => {
    const one = await fleet()
    await one.budgets.set({ scope: 'tenant', name: '', ...today, cap: 1 })
    const lease = await held(one, 's')
    await one.budgets.reserve(lease, 'r1', 0.6)
    await endLeases(one.adminUrl)
    const taken = await one.queue.claim(
      { host: 'h', pid: 1 },
      30_000,
      '7b0e8bb5-0000-4000-8000-000000000001',
      5,
    )
    expect(taken).toMatchObject({ ok: true, claimed: [{ session: 's', isTakeover: true }] })
    expect(await sums(one)).toEqual([['tenant', '', 0, 0]])
    expect(await one.budgets.reserve(lease, 'r2', 0.1)).toMatchObject({ reserved: { why: 'fenced' } })
    const other = await held(one, 't')
    await one.budgets.reserve(other, 'r3', 0.5)
    await one.store.release(other)
    expect(await sums(one)).toEqual([['tenant', '', 0, 0]])
    const third = await held(one, 'u')
    await one.budgets.reserve(third, 'r4', 0.5)
    await one.store.remove(sessionId('u'))
    expect(await sums(one)).toEqual([['tenant', '', 0, 0]])
    expect(await sql(one.adminUrl, 'select * from pal.reservation')).toEqual([])
  })

  it('[FL11] a turn over budget is refused in words and as a fact, parks the session, and goes on when it is raised', async () => {
    const one = await fleet()
    const simulator = createSimulator({
      answerer: { answer: () => ({ content: [{ type: 'text', text: 'yes' }], stop_reason: 'end_turn' }) },
    })
    const { url } = await simulator.start()
    later.push(() => simulator.stop())
    await one.budgets.set({ scope: 'team', name: 'core', ...today, cap: 0.0001 })
    await one.queue.send({ session: 's', id: '1', kind: 'input', body: 'hello', team: 'core' })
    const stop = new AbortController()
    const done = runWorker({ ...one, openEngine: engineOver(one, modelAt(url)), pollMs: 20 }, stop.signal)
    later.push(async () => {
      stop.abort()
      await done
    })
    const row = async () => {
      const rows = await one.queue.rows('s')
      return rows.ok ? rows.rows[0]! : null
    }
    await until(async () => (await row())?.parked !== null, 'it to be parked')
    expect((await row())?.parked).toMatch(
      /^budget: the budget of team core is used up: \$0\.0000 of \$0\.0001 spent.*pal fleet budget/,
    )
    const facts: Fact[] = []
    for await (const item of one.store.read(sessionId('s')))
      if (item.kind === 'entry' && isKnown(item.entry)) facts.push(item.entry.fact)
    expect(facts.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'failed', failure: { code: 'cap' } })
    expect(simulator.log.requests.length).toBe(0)
    await one.budgets.set({ scope: 'team', name: 'core', ...today, cap: 5 })
    await one.queue.unpark('s')
    await until(async () => (await row())?.wantedFor === null && (await row())?.owner === null, 'it to go on')
    const [spend] = await sql(one.adminUrl, 'select * from pal.spend')
    const usage = simulator.log.requests[0]!.usage!
    expect(spend).toMatchObject({
      session: 's',
      team: 'core',
      root: 's',
      message: simulator.log.requests[0]!.messageId,
    })
    expect(Number(spend!['input'])).toBe(usage.input_tokens)
    expect(Number(spend!['usd'])).toBeCloseTo(simulator.log.requests[0]!.bill!.dollars!, 9)
    expect(await sums(one)).toEqual([['team', 'core', Number(spend!['usd']), 0]])
    // A budget set later counts what was spent in its period.
    await one.budgets.set({ scope: 'tree', name: 's', ...today, cap: 1 })
    expect((await sums(one))[1]).toEqual(['tree', 's', Number(spend!['usd']), 0])
  })
})
