// Compaction in an engine against the simulator over HTTP, whose judge refuses every request that is too long.
import { describe, expect, it } from 'vitest'
import type { CompactAsk } from '../../src/engine/compacting/ask.ts'
import { createEngine, fileStore, type Response } from '../../src/index.ts'
import { standardLayers, type ClearingPrice } from '../../src/projection/layers/index.ts'
import { call, type scripted } from '../../src/simulator/index.ts'
import { answered, call as calling, result, said } from '../../src/testing/builders.ts'
import { seq } from '../../src/transcript/ids.ts'
import {
  collect,
  factsOf,
  folder,
  modelId,
  ofType,
  refusals,
  simulated,
  tool,
  turn,
} from '../e2e/simulated.ts'
import { reopened, smallModel, turnOf, work, written } from './sessions.ts'

const window = 30_000
const small = (steps: Parameters<typeof scripted>[0], tokens = window) =>
  simulated(steps, { models: smallModel(tokens) })
const tiny = 12_000
/** Marks follow the newest message; what is said does not change with them. */
const unmarked = (messages: unknown): string =>
  JSON.stringify(messages, (key: string, value: unknown) => (key === 'cache_control' ? undefined : value))
const lastBody = (requests: readonly { readonly body: unknown }[]): string =>
  JSON.stringify(requests.at(-1)?.body)

describe('a window that fills', () => {
  it('[L2] a history of three windows is compacted without one request that is too long', async () => {
    const scene = await small(['on it'])
    const facts = [...turnOf('build the parser', 40, 200), ...turnOf('now the printer', 16, 200)]
    const { session, store } = await reopened(facts, { model: scene.model, window })
    expect(session.view().tokens).toBeGreaterThan(3 * window)
    const ended = await turn(session.send('and now test both'))
    expect(ended.outcome).toBe('done')
    expect(refusals(scene)).toEqual([])
    expect(scene.simulator.log.requests.length).toBe(1)
    const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
    expect(boundary).toMatchObject({ trigger: 'auto', source: 'extractive', asked: 'automatic' })
    expect(boundary!.tokensAfter).toBeLessThan(window * 0.4)
    const body = lastBody(scene.simulator.log.requests)
    for (const wish of ['build the parser', 'now the printer', 'and now test both'])
      expect(body).toContain(wish)
    expect(ended.events).toContainEqual(
      expect.objectContaining({
        type: 'compaction',
        trigger: 'auto',
        seq: boundary === undefined ? 0 : (expect.any(Number) as number),
      }),
    )
  })

  it('[L2] work goes on through many compactions in one long turn', async () => {
    const rounds = 60
    const steps = [...Array.from({ length: rounds }, (_, n) => [call('Look', { n })]), 'finished']
    const scene = await small(steps, tiny)
    const look = tool('Look', (input) => `finding ${String(input['n'])}\n`.repeat(180))
    const { session, store } = await reopened([], { model: scene.model, window: tiny, tools: [look] })
    const ended = await turn(session.send('look at everything. Never skip one. PLAN-PERSIST-42'))
    expect(ended.outcome).toBe('done')
    expect(refusals(scene)).toEqual([])
    const boundaries = ofType(await factsOf(store, session.id), 'boundary')
    expect(boundaries.length).toBeGreaterThan(2)
    expect(boundaries.length).toBeLessThan(rounds / 2)
    expect(boundaries[1]!.chain).toMatchObject({ recompaction: true, turnsSince: 0, requestSource: 'main' })
    expect(lastBody(scene.simulator.log.requests)).toContain('PLAN-PERSIST-42')
  })

  it('[O13] the boundary says everything a compaction records', async () => {
    const scene = await small(['on it'])
    const { session, store } = await reopened(turnOf('build the parser', 20), { model: scene.model, window })
    await turn(session.send('go on'))
    const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
    expect(boundary).toMatchObject({
      layer: 'autocompact',
      why: expect.stringMatching(/takes [\d,]+ tokens; at [\d,]+/) as string,
      messagesSummarised: expect.any(Number) as number,
      last: expect.any(String) as string,
      kept: {
        head: expect.any(String) as string,
        tail: expect.any(String) as string,
        anchor: expect.any(String) as string,
      },
      audit: {
        retention: expect.any(Number) as number,
        userMessages: { whole: 1, shortened: 0, pointed: 0 },
      },
      chain: {
        recompaction: false,
        turnsSince: 2,
        threshold: expect.any(Number) as number,
        requestSource: 'main',
        turn: expect.any(String) as string,
      },
    })
    expect(boundary!.tokensFreed).toBe(boundary!.tokensBefore - boundary!.tokensAfter)
  })

  it('[Z20] the boundary has its price, and one that comes early says so', async () => {
    const large = 200_000
    const scene = await small(
      Array.from({ length: 4 }, () => 'on it'),
      large,
    )
    const facts = turnOf('build the parser', 60, 200)
    const layers = standardLayers({ budget: false, microcompact: false, thrift: 1 })
    const { session, store } = await reopened(facts, { model: scene.model, window: large, layers })
    await turn(session.send('go on'))
    const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
    const { freedTokens, saves, costs, net, expectedRequests } = boundary!.price as ClearingPrice
    expect(boundary!.tokensBefore).toBeLessThan(boundary!.chain!.threshold)
    expect(boundary!.why).toContain('carrying the older part')
    expect(freedTokens).toBe(boundary!.tokensFreed)
    expect(expectedRequests).toBeGreaterThan(0)
    expect(saves).toBeGreaterThan(0)
    expect(net).toBeCloseTo(saves - costs, 12)
    expect((await session.edits()).at(-1)?.price).toEqual(boundary!.price)
  })
})

describe('a refusal for length', () => {
  it('[O14] is withheld: the view is compacted and the request sent once more', async () => {
    const scene = await small(['done'])
    // Our table says a much larger window than the server has.
    const { session, store } = await reopened(turnOf('build the parser', 60), {
      model: scene.model,
      window: 200_000,
      layers: [],
    })
    const ended = await turn(session.send('go on'))
    expect(ended.outcome).toBe('done')
    expect(scene.simulator.log.requests.map(({ error }) => error === null)).toEqual([false, true])
    const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
    expect(boundary).toMatchObject({ trigger: 'reactive', source: 'extractive' })
  })

  it.each([
    { kind: 'status', status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' },
    { kind: 'status', status: 400, type: 'invalid_request_error', message: 'prompt is too long' },
  ] as const)(
    '[O33] that names no tokens ($status) is planned from our own count: what fits stays whole',
    async (fault) => {
      const scene = await simulated(['done'], { faults: [{ at: 1, fault }] })
      const wishes = Array.from(
        { length: 8 },
        (_, n) => `wish ${n}: ${'keep every word of this. '.repeat(70)}`,
      )
      const facts = wishes.flatMap((wish, n) => turnOf(wish, 2, 120, `w${n}`))
      const options = { model: scene.model, window: 1_000_000, layers: [] }
      const { session, store } = await reopened(facts, options)
      const before = session.view().tokens
      expect((await turn(session.send('go on'))).outcome).toBe('done')
      const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
      const { tokensBefore, tokensAfter, audit } = boundary!
      expect(tokensBefore).toBeLessThan(2 * before)
      expect(tokensAfter).toBeLessThan(0.7 * tokensBefore)
      // Those of the newest turns stay where they are and are not counted.
      expect(audit).toMatchObject({ userMessages: { shortened: 0, pointed: 0 } })
      const body = lastBody(scene.simulator.log.requests)
      for (const wish of wishes) expect(body).toContain(wish.trim())
    },
  )

  it('[O14] is shown when the shorter request is refused as well', async () => {
    const tooLong = {
      kind: 'status',
      status: 400,
      type: 'invalid_request_error',
      message: 'prompt is too long: 90000 tokens > 80000 maximum',
    } as const
    const scene = await simulated(['done'], {
      faults: [
        { at: 1, fault: tooLong },
        { at: 2, fault: tooLong },
      ],
    })
    const { session } = await reopened(turnOf('build the parser', 20), { model: scene.model, layers: [] })
    const ended = await turn(session.send('go on'))
    expect(ended.failure).toMatchObject({
      code: 'overflow',
      message: expect.stringMatching(/90000.*80000/) as string,
    })
    expect(scene.simulator.log.requests.length).toBe(2)
  })
})

describe('by hand', () => {
  const past = [...turnOf('build the parser', 10, 60), ...turnOf('now the printer', 10, 60)]

  it('[O16] a preview writes nothing and says what would go, stay and be lost', async () => {
    const { session, store } = await reopened(past, {})
    const before = (await factsOf(store, session.id)).length
    const preview = await session.compact({ dryRun: true })
    expect(preview).toMatchObject({ seq: null, source: 'extractive' })
    expect(preview.tokensAfter).toBeLessThan(preview.tokensBefore)
    expect(preview.partsGone).toBeGreaterThan(0)
    expect(preview.audit?.retention).toBeGreaterThan(0.5)
    expect((await factsOf(store, session.id)).length).toBe(before)
    const done = await session.compact()
    expect(done).toMatchObject({ tokensBefore: preview.tokensBefore, tokensAfter: preview.tokensAfter })
    expect(session.view().tokens).toBe(done.tokensAfter)
  })

  it('[O16] a preview that was edited is applied as it is', async () => {
    const { session } = await reopened(past, {})
    const done = await session.compact({ text: 'What matters is the printer. Everything else is done.' })
    expect(done.source).toBe('user')
    expect(done.texts[0]).toContain('What matters is the printer.')
  })

  it('[O15] undo gives back the very bytes, also after a resume', async () => {
    const { session, store } = await reopened(past, {})
    await session.say('more')
    const before = await session.request()
    const { seq: place } = await session.compact()
    expect(JSON.stringify((await session.request()).messages)).not.toBe(JSON.stringify(before.messages))
    await session.close()
    const engine = createEngine({ store, modelId, layers: [] })
    const again = await engine.open(session.id)
    await again.undo(place!)
    expect(unmarked((await again.request()).messages)).toBe(unmarked(before.messages))
  })

  it('[O15] undo is refused with the numbers where the view would not fit', async () => {
    const scene = await small(['on it'])
    const { session, store } = await reopened(turnOf('build the parser', 40), { model: scene.model, window })
    await turn(session.send('go on'))
    const place = (await factsOf(store, session.id)).findIndex((fact) => fact.type === 'boundary')
    await expect(session.undo(seq(place))).rejects.toMatchObject({
      code: 'no-room',
      message: expect.stringMatching(/about \d+,\d{3} tokens, and \d+,\d{3} fit/) as string,
    })
  })

  it('[O17] from a message on: what is before stays byte for byte', async () => {
    const { session } = await reopened(past, {})
    const messages = [...session.view().messages]
    const pivot = messages.find((message) => JSON.stringify(message.content).includes('now the printer'))!
    const head = JSON.stringify(
      messages.filter((message) => message.to < pivot.from).map(({ content }) => content),
    )
    await session.compact({ from: pivot.from })
    const after = [...session.view().messages]
    expect(JSON.stringify(after.slice(0, -1).map(({ content }) => content))).toBe(head)
    expect(JSON.stringify(after.at(-1)!.content)).toContain('now the printer')
  })

  it('[Z20] what stays before it is not written again, and not in the price', async () => {
    const { session, store } = await reopened(past, {})
    const messages = [...session.view().messages]
    const pivot = messages.find(({ content }) => JSON.stringify(content).includes('now the printer'))!
    const head = messages.filter(({ to }) => to < pivot.from).reduce((sum, { estimate }) => sum + estimate, 0)
    const { tokensAfter } = await session.compact({ from: pivot.from })
    const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
    const { tailTokens } = boundary!.price as ClearingPrice
    expect(tailTokens).toBeGreaterThan(0)
    expect(tailTokens).toBeLessThanOrEqual(tokensAfter - Math.floor(session.view().factor * head))
  })

  it('[O17] up to a message: it and what follows stay, an older summary among them', async () => {
    const { session } = await reopened(past, {})
    const pivot = [...session.view().messages].find((message) =>
      JSON.stringify(message.content).includes('now the printer'),
    )!
    // E16: a summary that lies behind the chosen place is kept beside the new one.
    await session.compact({ from: pivot.from })
    const middle = [...session.view().messages].find(
      (message) => message.from > 8 && message.role === 'assistant',
    )!
    await session.compact({ upTo: middle.from })
    const texts = JSON.stringify([...session.view().messages].map(({ content }) => content))
    expect(texts.match(/This session continues/g)?.length).toBe(2)
    for (const wish of ['build the parser', 'now the printer']) expect(texts).toContain(wish)
  })

  it.each<[string, CompactAsk | object, string]>([
    ['nothing was said', {}, 'nothing-to-compact'],
    ['so little was said that a summary would be longer', {}, 'not-smaller'],
  ])('[O8] is refused with the numbers when %s', async (name, ask, code) => {
    const facts = name === 'nothing was said' ? [] : [said('hi'), answered('hello')]
    const { session, store } = await reopened(facts, {})
    await expect(session.compact(ask)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/\d+ tokens/) as string,
    })
    expect(ofType(await factsOf(store, session.id), 'boundary')).toEqual([])
  })

  it('[O9] is refused right after another one', async () => {
    const { session } = await reopened(past, {})
    await session.compact()
    await expect(session.compact()).rejects.toMatchObject({ code: 'nothing-new' })
  })

  it('[O20] E13: one at a time', async () => {
    const { session, store } = await reopened(past, {})
    const both = await Promise.allSettled([session.compact(), session.compact()])
    expect(both).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'busy' } }])
    expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(1)
  })
})

describe('what an undo gave back', () => {
  it('[O12] is left alone while it can be sent, and put away, said aloud, when it cannot', async () => {
    const message = 'prompt is too long: 21000 tokens > 16000 maximum'
    const tooLong = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
    const scene = await simulated(['one', 'two'], { faults: [{ at: 2, fault: tooLong }] })
    const { session, store } = await reopened(turnOf('build the parser', 10), { model: scene.model, window })
    const done = await session.compact()
    await session.undo(done.seq!)
    expect(await turn(session.send('go on'))).toMatchObject({ outcome: 'done', notices: [] })
    expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(1)
    const second = await turn(session.send('and on'))
    expect(second.outcome).toBe('done')
    expect(second.notices).toContain('hold-released')
    expect(ofType(await factsOf(store, session.id), 'release').length).toBe(1)
  })
})

describe('an undo of what fired at the threshold', () => {
  it('[O34] puts no newer work away: what came back stays until the window is full, and then goes first', async () => {
    const long = (n: number) => `Finding ${n}. ${'A long tale of no use. '.repeat(350)}END-${n}`
    const answers = Array.from({ length: 12 }, (_, n) => long(n))
    const scene = await simulated(answers, { models: smallModel(40_000) })
    const options = { model: scene.model, window: 40_000, threshold: 15_000 }
    const { session, store } = await reopened(turnOf('build the parser', 12), options)
    await turn(session.send('newer work'))
    const boundaries = async () => ofType(await factsOf(store, session.id), 'boundary')
    const [fired] = await boundaries()
    expect(fired).toMatchObject({ trigger: 'auto' })
    const [row] = (await session.edits()).filter(({ layer }) => layer === 'autocompact')
    await session.undo(row!.seq)
    const told: string[] = []
    let sent = 0
    while (!told.includes('hold-released')) {
      const { outcome, notices, failure } = await turn(session.send(`and ${++sent}`))
      expect([outcome, failure]).toEqual(['done', null])
      told.push(...notices)
      // Up to the moment when the window is full nothing newer has gone; then the oldest goes.
      if (!told.includes('hold-released')) {
        expect((await boundaries()).length).toBe(1)
        const body = lastBody(scene.simulator.log.requests)
        for (let n = 0; n < sent; n++) expect(body).toContain(`END-${n}`)
        expect(body).toContain('export const value0')
      }
    }
    expect(sent).toBeGreaterThan(3)
    expect(told.filter((code) => code === 'not-compacted').length).toBe(1)
    expect(lastBody(scene.simulator.log.requests)).toContain(`END-${sent - 1}`)
    expect(refusals(scene)).toEqual([])
  })
})

describe('a crash', () => {
  it('[T1] leaves the session as it was or compacted, never between', async () => {
    const root = await folder()
    const store = fileStore({ root })
    const { session } = await reopened(turnOf('build the parser', 20), { store })
    const before = JSON.stringify([...session.view().messages])
    const entries = (await factsOf(store, session.id)).length
    await session.compact()
    const after = JSON.stringify([...session.view().messages])
    await session.close()
    const facts = await factsOf(store, session.id)
    expect(facts.slice(entries).map(({ type }) => type)).toEqual(['boundary'])
    const engine = createEngine({ store, modelId })
    const reread = await engine.open(session.id)
    expect(JSON.stringify([...reread.view().messages])).toBe(after)
    await reread.close()
    const cut = await written(facts.slice(1, entries))
    const whole = createEngine({ store: cut.store, modelId })
    expect(JSON.stringify([...(await whole.open(cut.session)).view().messages])).toBe(before)
  })
})

function responseOf(round: number, tokens: number): Response {
  const content = [{ type: 'text', text: `Finding ${round}. ${'A long tale of no use. '.repeat(300)}` }]
  const usage = {
    input_tokens: tokens,
    output_tokens: 1800,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
  return { id: `r${round}`, model: modelId, content, stop_reason: 'end_turn', usage }
}

describe('what must not be forgotten', () => {
  const mark = (source: string) => `PLAN-PERSIST-42-${source}`
  const tasks = {
    tasks: [
      { title: 'done before', state: 'done' },
      { title: mark('TASK'), state: 'active' },
    ],
  }
  const facts = [
    said(`The goal: ${mark('GOAL')}`),
    answered([calling('tl', 'TaskList', tasks)], { id: 'tl' }),
    result('tl', 'ok'),
    ...work(4, 100, 'a'),
    answered(`A finding worth keeping: ${mark('PIN')}`, { id: 'pinned' }),
    ...work(4, 100, 'b'),
  ]
  const garbage = [
    { ok: true, text: 'lorem ipsum dolor '.repeat(40), stop: 'end_turn', hasCalls: false },
    { ok: true, text: '', stop: 'end_turn', hasCalls: false },
    { ok: true, text: 'I cannot do that.', stop: 'refusal', hasCalls: false },
    { ok: true, text: '', stop: 'tool_use', hasCalls: true },
    { ok: false, why: 'the stream was cut', isAborted: false },
  ] as const

  it.each([
    ['no summariser', null],
    ['a summariser that answers garbage', garbage],
  ])(
    '[O11] goal, last message, pin and tasks are in the request after five compactions with %s',
    async (_, answers) => {
      let asked = 0
      const summariser =
        answers === null
          ? undefined
          : { summarise: () => Promise.resolve(answers[asked++ % answers.length]!) }
      const { session, store } = await reopened(facts, { summariser })
      const pinned = [...session.view().messages]
        .flatMap(({ parts }) => parts)
        .find((part) => JSON.stringify(part.blocks).includes(mark('PIN')))!
      await session.pin({ seq: pinned.from })
      await session.say('next')
      for (let round = 0; round < 5; round++) {
        await session.receive(responseOf(round, session.view().tokens))
        await session.say(round === 4 ? `Last: ${mark('LAST')}` : `go on ${round}`)
        await session.compact()
      }
      const body = JSON.stringify(await session.request())
      for (const source of ['GOAL', 'PIN', 'TASK', 'LAST']) expect(body).toContain(mark(source))
      expect(body).toContain('done before')
      expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(5)
      if (answers !== null)
        expect(ofType(await factsOf(store, session.id), 'compaction-failed').length).toBe(4)
    },
  )

  it('[O18] after three failures in a row the model is not asked any more, which is said', async () => {
    let asked = 0
    const summariser = {
      summarise: () => Promise.resolve({ ok: false as const, why: `failure ${++asked}`, isAborted: false }),
    }
    const steps = [...Array.from({ length: 100 }, (_, n) => [call('Look', { n })]), 'finished']
    const scene = await small(steps, tiny)
    const look = tool('Look', (input) => `finding ${String(input['n'])}\n`.repeat(180))
    const { session, store } = await reopened([], {
      model: scene.model,
      window: tiny,
      tools: [look],
      summariser,
    })
    const ended = await turn(session.send('look at everything'))
    expect(ended.outcome).toBe('done')
    expect(ofType(await factsOf(store, session.id), 'boundary').length).toBeGreaterThan(3)
    expect(asked).toBe(3)
    expect(ended.notices.filter((code) => code === 'breaker-open').length).toBe(1)
  })

  it('[O18] an aborted summary is no failure and leaves the session as it was', async () => {
    const summariser = {
      summarise: () => Promise.resolve({ ok: false as const, why: 'stopped', isAborted: true }),
    }
    const { session, store } = await reopened(facts, { summariser })
    await expect(session.compact()).rejects.toMatchObject({ code: 'aborted' })
    const types = (await factsOf(store, session.id)).map(({ type }) => type)
    expect(types).not.toContain('boundary')
    expect(types).not.toContain('compaction-failed')
  })

  it('[O20] input typed during a compaction is delivered once, after it', async () => {
    const { session } = await reopened(facts, {
      summariser: {
        summarise: async () => {
          await session.queue('typed meanwhile')
          return { ok: true, text: 'An account of the work. '.repeat(20), stop: 'end_turn', hasCalls: false }
        },
      },
    })
    await session.compact()
    const body = JSON.stringify(await session.request())
    expect(body.match(/typed meanwhile/g)?.length).toBe(1)
    expect(body).toContain('An account of the work.')
  })

  it.each(['a rewind', 'an undo'])('[O22] %s while the text is written ends it', async (what) => {
    let meanwhile = async (): Promise<unknown> => null
    const { session, store } = await reopened(
      [...turnOf('the parser', 6, 100), ...turnOf('PRINTER', 6, 100)],
      {
        summariser: {
          summarise: async () => {
            await meanwhile()
            return { ok: true, text: 'An account of PRINTER. '.repeat(20), stop: 'end_turn', hasCalls: false }
          },
        },
      },
    )
    const wish = [...session.view().messages].find(({ content }) =>
      JSON.stringify(content).includes('PRINTER'),
    )!
    const first = what === 'an undo' ? await session.compact({ text: 'my own words', upTo: wish.from }) : null
    meanwhile = () => (first === null ? session.rewind(seq(wish.from - 1)) : session.undo(first.seq!))
    await session.say('go on')
    await expect(session.compact()).rejects.toMatchObject({ code: 'aborted' })
    const body = JSON.stringify(await session.request())
    expect(body.includes('An account of')).toBe(false)
    expect(body.includes('PRINTER')).toBe(first !== null)
    expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(first === null ? 0 : 1)
  })

  it('[O14] a veto of a hook is heard as long as the session can go on', async () => {
    const hooks = { fire: () => Promise.resolve({ context: null, block: 'not today', failures: [] }) }
    const { session } = await reopened(facts, { hooks })
    await expect(session.compact()).rejects.toMatchObject({ code: 'blocked', message: 'not today' })
  })
})

it('[O20] a fork never compacts its parent’s prefix', async () => {
  const tooLong = {
    kind: 'status',
    status: 400,
    type: 'invalid_request_error',
    message: 'prompt is too long: 90000 tokens > 80000 maximum',
  } as const
  const scene = await simulated(['x'], { faults: [{ at: () => true, fault: tooLong }] })
  const { session, store } = await reopened(turnOf('build the parser', 12), { model: scene.model })
  const outcome = await session.fork({ purpose: 'agent', directive: 'do it' })
  expect(outcome.failure?.code).toBe('overflow')
  expect(scene.simulator.log.requests.length).toBe(1)
  expect(ofType(await factsOf(store, outcome.session!), 'boundary')).toEqual([])
  expect((await collect(session.send('hi'))).at(-1)).toMatchObject({ type: 'turn-end' })
})
