import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { tool } from '../../src/index.ts'
import { runTurnStep, runWorker, type WorkerEvent, type WorkerOptions } from '../../src/fleet/index.ts'
import {
  call,
  createSimulator,
  type Answerer,
  type LoggedRequest,
  type Simulator,
} from '../../src/simulator/index.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { exited, linesOf, program, type Program } from '../faults/child.ts'
import {
  freshDatabase,
  skipReason,
  sql,
  startServer,
  type Server,
  type TestDatabase,
} from '../postgres/server.ts'
import { until } from '../until.ts'
import { engineOver, fleetOn, modelAt, type TestFleet } from './fleet.ts'
import { echo, factsOf, holding, inputs, isIdle, said, send } from './steps.ts'

describe.skipIf(skipReason !== null)('workers', () => {
  let server: Server
  let child: Program
  const later: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    server = await startServer()
    child = await program('../fleet/worker-child.ts')
  })
  afterEach(async () => {
    for (const end of later.splice(0).reverse()) await end()
  })
  afterAll(async () => {
    await child.remove()
    await server.stop()
  })

  const simulate = async (answerer: Answerer, eventDelayMs = 0) => {
    const heard: LoggedRequest[] = []
    const simulator: Simulator = createSimulator({
      answerer,
      eventDelayMs,
      heard: (request) => heard.push(request),
    })
    const { url } = await simulator.start()
    later.push(() => simulator.stop())
    return { simulator, url, heard, model: modelAt(url) }
  }
  const fleet = (database: TestDatabase, more: Parameters<typeof fleetOn>[1] = {}): TestFleet => {
    const made = fleetOn(database.url, more)
    later.push(() => made.close())
    return made
  }
  const startWorker = (options: WorkerOptions) => {
    const stop = new AbortController()
    const events: WorkerEvent[] = []
    const done = runWorker({ pollMs: 20, ...options, tell: (event) => events.push(event) }, stop.signal)
    const end = async (): Promise<void> => {
      stop.abort()
      await done
    }
    later.push(end)
    return { events, end }
  }
  const startChild = (
    database: TestDatabase,
    url: string,
    ...args: string[]
  ): { process: ChildProcess; said: WorkerEvent[] } => {
    process.env['PAL_DATABASE_URL'] = database.url
    const started = child.run('--simulator', url, ...args)
    const said: WorkerEvent[] = []
    void (async () => {
      for await (const line of linesOf(started)) said.push(JSON.parse(line) as WorkerEvent)
    })()
    later.push(async () => {
      started.kill('SIGKILL')
      await exited(started)
    })
    return { process: started, said }
  }
  it('[FL1] every input is delivered and answered once, in its order; the same id sent again changes nothing', async () => {
    const { model } = await simulate(echo)
    const one = fleet(await freshDatabase(server))
    for (const session of ['a', 'b'])
      for (const id of ['1', '2', '3']) expect(await send(one, session, id)).toBe(true)
    expect(await send(one, 'a', '2')).toBe(false)
    startWorker({ ...one, openEngine: engineOver(one, model) })
    for (const session of ['a', 'b']) await until(() => isIdle(one, session), `${session} to be idle`)
    expect(await send(one, 'a', '2')).toBe(false)
    for (const session of ['a', 'b']) {
      const facts = await factsOf(one, session)
      expect(inputs(facts).map(({ id }) => id)).toEqual(['1', '2', '3'])
      expect(said(facts)).toEqual(['re: 1', 're: 2', 're: 3'])
      expect(facts[0]).toMatchObject({ type: 'session-start', session })
    }
  })

  it('[FL2] what is sent while a worker is about to stop is not lost', async () => {
    const { model } = await simulate(echo)
    const one = fleet(await freshDatabase(server))
    startWorker({ ...one, openEngine: engineOver(one, model), pollMs: 5 })
    // Sent at every moment of the work on the one before.
    for (let n = 0; n < 40; n++) {
      await send(one, 's', `${n}`)
      await new Promise((resolve) => setTimeout(resolve, (n * 7) % 45))
    }
    await until(() => isIdle(one, 's'), 'everything to be answered')
    const facts = await factsOf(one, 's')
    expect(said(facts)).toEqual(Array.from({ length: 40 }, (_, n) => `re: ${n}`))
  })

  it('[FL3] [FL10] a worker killed at any moment: another goes on, each input is there once and answered, nothing is billed twice', async () => {
    // One answer is held back, so that the last of the killed workers was in the middle of something on any machine.
    const { answerer, asked, letGo } = holding('s5 3')
    const { url, heard } = await simulate(answerer, 40)
    const database = await freshDatabase(server)
    const one = fleet(database)
    const sessions = Array.from({ length: 6 }, (_, n) => `s${n}`)
    // So that every request is reserved.
    await one.budgets.set({ scope: 'tenant', name: '', from: '2020-01-01', to: '2100-01-01', cap: 100 })
    for (const session of sessions)
      for (const id of ['1', '2', '3']) await send(one, session, id, `${session} ${id}`)
    for (let round = 0; round < 4; round++) {
      const before = asked()
      const { process: worker, said: told } = startChild(database, url, '--lease', '1500', '--sessions', '3')
      await until(() => told.some(({ type }) => type === 'claimed'), 'a claim')
      await new Promise((resolve) => setTimeout(resolve, 100 + round * 170))
      if (round === 3) await until(() => asked() > before, 'the request that is held back')
      worker.kill('SIGKILL')
      await exited(worker)
    }
    letGo()
    const last = startChild(database, url, '--lease', '30000')
    for (const session of sessions) await until(() => isIdle(one, session), `${session} to be idle`)
    expect(last.said.some((event) => event.type === 'claimed' && event.isTakeover)).toBe(true)
    const kept = new Set<string>()
    for (const session of sessions) {
      const facts = await factsOf(one, session)
      expect(inputs(facts).map(({ id }) => id)).toEqual(['1', '2', '3'])
      const answers = facts.flatMap((fact) =>
        fact.type === 'assistant-message' && fact.partial !== true ? [fact] : [],
      )
      expect(answers.length).toBe(3)
      for (const { messageId } of answers) kept.add(messageId)
    }
    const spend = await sql(
      database.adminUrl,
      'select message, input, cache_read, cache_write, output from pal.spend',
    )
    const billed = new Map(heard.map((request) => [request.messageId, request.usage]))
    const counted = spend.filter(({ message }) => kept.has(message as string))
    expect(counted.length).toBe(kept.size)
    for (const row of counted) {
      const usage = billed.get(row['message'] as string)!
      expect(Number(row['input'])).toBe(usage.input_tokens)
      expect(Number(row['output'])).toBe(usage.output_tokens)
      expect(Number(row['cache_read'])).toBe(usage.cache_read_input_tokens)
    }
    expect(await sql(database.adminUrl, 'select * from pal.reservation')).toEqual([])
    const [budget] = await sql(
      database.adminUrl,
      'select reserved, spent = (select sum(usd) from pal.spend) as fits, spent > 0 as some from pal.budget',
    )
    expect(budget).toEqual({
      reserved: expect.stringMatching(/^0(\.0+)?$/) as string,
      fits: true,
      some: true,
    })
  })

  it('[FL4] a worker that was stopped for longer than its lease finds itself fenced and writes nothing more', async () => {
    const { answerer, asked, letGo } = holding('1', 1)
    const { url } = await simulate(answerer)
    const database = await freshDatabase(server)
    const one = fleet(database)
    await send(one, 's', '1')
    const paused = startChild(database, url, '--lease', '1200')
    await until(() => asked() === 1, 'a request')
    paused.process.kill('SIGSTOP')
    const other = startChild(database, url, '--lease', '30000')
    await until(() => isIdle(one, 's'), 'the other to have answered')
    expect(other.said.some((event) => event.type === 'claimed' && event.isTakeover)).toBe(true)
    const before = await factsOf(one, 's')
    letGo()
    paused.process.kill('SIGCONT')
    await until(() => paused.said.some(({ type }) => type === 'ended'), 'the stopped one to notice')
    expect(await factsOf(one, 's')).toEqual(before)
    expect(said(before).filter((text) => text === 're: 1').length).toBe(1)
  })

  it('[FL5] a worker told to stop ends its turns, gives its sessions back and exits; what waits is left for the next', async () => {
    const { url } = await simulate(echo, 30)
    const database = await freshDatabase(server)
    const one = fleet(database)
    for (const id of ['1', '2', '3', '4']) await send(one, 's', id)
    const worker = startChild(database, url)
    await until(() => worker.said.some(({ type }) => type === 'claimed'), 'a claim')
    worker.process.kill('SIGTERM')
    expect(await exited(worker.process)).toBe(0)
    const rows = await one.queue.rows('s')
    expect(rows).toMatchObject({ ok: true, rows: [{ owner: null, parked: null }] })
    const facts = await factsOf(one, 's')
    expect(facts.filter(({ type }) => type === 'turn-end')).toEqual(
      said(facts).map(() => expect.objectContaining({ outcome: 'done' }) as Fact),
    )
    startChild(database, url)
    await until(() => isIdle(one, 's'), 'the rest to be answered')
    expect(said(await factsOf(one, 's'))).toEqual(['re: 1', 're: 2', 're: 3', 're: 4'])
  })

  it('[FL6] a session that fails each time is parked with its reason and in nobody’s way; unparked, it goes on', async () => {
    const state = { isBroken: true }
    const moody: Answerer = {
      answer: (context) => {
        if (state.isBroken && JSON.stringify(context.request.messages).includes('poison'))
          throw new Error('poison')
        return echo.answer(context)
      },
    }
    const { model } = await simulate(moody)
    const one = fleet(await freshDatabase(server))
    await send(one, 'bad', 'poison')
    await send(one, 'good', '1')
    startWorker({ ...one, openEngine: engineOver(one, model), retryMs: 1, mostTries: 5 })
    await until(async () => {
      const rows = await one.queue.rows('bad')
      return rows.ok && rows.rows[0]!.parked !== null
    }, 'it to be parked')
    expect(await one.queue.rows('bad')).toMatchObject({
      rows: [{ parked: expect.stringMatching(/^failed 5 times: /) as string, tries: 5 }],
    })
    await until(() => isIdle(one, 'good'), 'the other to be answered')
    // What is sent to it meanwhile waits.
    expect(await one.queue.send({ session: 'bad', id: '2', kind: 'input', body: '2' })).toMatchObject({
      isNew: true,
      parked: expect.stringContaining('failed 5 times') as string,
    })
    state.isBroken = false
    expect(await one.queue.unpark('bad')).toEqual({ ok: true, isFound: true })
    await until(() => isIdle(one, 'bad'), 'it to be answered')
    expect(said(await factsOf(one, 'bad')).slice(-2)).toEqual(['re: poison', 're: 2'])
  })

  it('[FL7] a question for a person parks the session; the answer, given later and to another process, lets the call run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pal-ask-'))
    later.push(() => rm(folder, { recursive: true }))
    let ran = 0
    const deploy = tool({
      name: 'Deploy',
      description: 'Deploys.',
      input: z.object({ to: z.string() }),
      run: async ({ to }) => {
        ran++
        await writeFile(join(folder, 'done'), to)
        return `deployed to ${to}`
      },
    })
    const wanting: Answerer = {
      answer: (context) => {
        const text = JSON.stringify(context.request.messages.at(-1))
        if (text.includes('deployed to'))
          return { content: [{ type: 'text', text: 'It is out.' }], stop_reason: 'end_turn' }
        if (text.includes('not allowed'))
          return { content: [{ type: 'text', text: 'Then not.' }], stop_reason: 'end_turn' }
        return { content: [call('Deploy', { to: 'north' })], stop_reason: 'tool_use' }
      },
    }
    const { model } = await simulate(wanting)
    const database = await freshDatabase(server)
    const one = fleet(database)
    await send(one, 's', '1', 'deploy it')
    await send(one, 'other', '1', 'deploy it')
    const first = startWorker({ ...one, openEngine: engineOver(one, model, { tools: [deploy] }, folder) })
    await until(async () => {
      const open = await one.queue.questions(null)
      return open.ok && open.questions.length === 2
    }, 'both questions')
    await first.end()
    expect(ran).toBe(0)
    const open = await one.queue.questions('s')
    if (!open.ok) throw new Error(open.failure.message)
    const [question] = open.questions
    expect(question).toMatchObject({
      tool: 'Deploy',
      body: expect.stringContaining('north') as string,
      answer: null,
    })
    expect(await one.queue.rows('s')).toMatchObject({
      rows: [{ parked: `question ${question!.id}: Deploy`, owner: null }],
    })
    expect(await one.queue.answer('s', 'nonesuch', 'allow')).toMatchObject({ failure: { code: 'not-found' } })
    expect(await one.queue.answer('s', question!.id, 'allow')).toEqual({ ok: true })
    expect(await one.queue.answer('s', question!.id, 'deny')).toMatchObject({ failure: { code: 'exists' } })
    expect(await one.queue.answer('other', question!.id, 'deny: not today')).toEqual({ ok: true })
    const two = fleet(database)
    startWorker({ ...two, openEngine: engineOver(two, model, { tools: [deploy] }, folder) })
    await until(() => isIdle(two, 's'), 'the call to have run')
    await until(() => isIdle(two, 'other'), 'the refusal to be heard')
    expect(ran).toBe(1)
    expect(said(await factsOf(two, 's')).at(-1)).toBe('It is out.')
    expect(said(await factsOf(two, 'other')).at(-1)).toBe('Then not.')
    expect((await factsOf(two, 's')).filter(({ type }) => type === 'permission')).toContainEqual(
      expect.objectContaining({ tool: 'Deploy', decision: 'allow' }),
    )
  })

  it('[FL8] one turn as one step: its id is its key, run again or twice at once it is done once', async () => {
    const { model, heard } = await simulate(echo)
    const database = await freshDatabase(server)
    const one = fleet(database)
    const two = fleet(database)
    const step = (each: TestFleet) =>
      runTurnStep(
        { session: 's', id: 'step-1', text: 'hello' },
        { ...each, openEngine: engineOver(each, model) },
      )
    const [first, second] = await Promise.all([step(one), step(two)])
    expect(first).toMatchObject({ ok: true, text: 're: hello' })
    expect(second).toEqual(first)
    expect(await step(one)).toEqual(first)
    expect(heard.length).toBe(1)
    expect(
      await runTurnStep(
        { session: 's', id: 'step-2', text: 'more' },
        { ...one, openEngine: engineOver(one, model) },
      ),
    ).toMatchObject({
      text: 're: more',
    })
  })
})
