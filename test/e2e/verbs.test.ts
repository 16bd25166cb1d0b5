// Four verbs and one verb, streaming and not, with and without a model, against the judge over HTTP.
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import {
  createEngine,
  EngineError,
  inMemoryStore,
  type AnthropicRequest,
  type Session,
} from '../../src/index.ts'
import { call, text } from '../../src/simulator/index.ts'
import { seq } from '../../src/transcript/ids.ts'
import { factsOf, modelId, ofType, refusals, simulated, tool, turn, words } from './simulated.ts'

const add = tool('add', ({ a, b }) => String(Number(a) + Number(b)))
const steps = [[text('adding'), call('add', { a: 1, b: 2 })], 'three', 'and bye']

async function loop(
  session: Session<AnthropicRequest>,
  ask: (session: Session<AnthropicRequest>) => Promise<void>,
): Promise<void> {
  do {
    await ask(session)
    for (const open of session.openCalls()) await session.result(open.id, '3')
  } while (session.unfinished())
}

describe('four verbs', () => {
  const ways = {
    'non-streaming': (client: Anthropic) => async (session: Session<AnthropicRequest>) =>
      session.receive(await client.messages.create(await session.request())),
    streaming: (client: Anthropic) => async (session: Session<AnthropicRequest>) =>
      session.receive(
        await client.messages.stream(await session.request({ streaming: true })).finalMessage(),
      ),
  }
  for (const [name, way] of Object.entries(ways)) {
    it(`[E2] the caller keeps the loop with the official client, ${name}`, async () => {
      const scene = await simulated(steps)
      const client = new Anthropic({ apiKey: 'test', baseURL: scene.url })
      const store = inMemoryStore()
      const session = await createEngine({ store, modelId, tools: [add] }).open()
      await session.say('what is 1 + 2?')
      await loop(session, way(client))
      await session.say('thanks')
      await loop(session, way(client))
      const facts = await factsOf(store, session.id)
      expect(facts.map((fact) => fact.type)).toEqual([
        'session-start',
        'instructions-set',
        'user-message',
        'request-sent',
        'assistant-message',
        'tool-result',
        'request-sent',
        'assistant-message',
        'turn-end',
        'user-message',
        'request-sent',
        'assistant-message',
        'turn-end',
      ])
      expect(session.spent().requests).toBe(3)
      expect(refusals(scene)).toEqual([])
    })
  }

  it('[E1] what is no message, such as a stream, is refused with the way to hand it in', async () => {
    const scene = await simulated(steps)
    const client = new Anthropic({ apiKey: 'test', baseURL: scene.url })
    const store = inMemoryStore()
    const session = await createEngine({ store, modelId, tools: [add] }).open()
    await session.say('what is 1 + 2?')
    const stream = await client.messages.create({ ...(await session.request()), stream: true })
    const given = JSON.parse(JSON.stringify(stream)) as Parameters<Session['receive']>[0]
    await expect(session.receive(given)).rejects.toMatchObject({ name: 'EngineError', code: 'no-message' })
    stream.controller.abort()
    expect(ofType(await factsOf(store, session.id), 'assistant-message')).toEqual([])
  })

  it('[E2] and with a model of its own both ways may be mixed, turn by turn', async () => {
    const scene = await simulated(steps)
    const client = new Anthropic({ apiKey: 'test', baseURL: scene.url })
    const session = await createEngine({
      store: inMemoryStore(),
      modelId,
      model: scene.model,
      tools: [add],
    }).open()
    expect((await turn(session.send('what is 1 + 2?'))).outcome).toBe('done')
    await session.say('thanks')
    await loop(session, ways['non-streaming'](client))
    expect(session.view().messages.length).toBe(6)
    expect(refusals(scene)).toEqual([])
  })

  it('[E3] a call that was cut off by the output limit is answered and never handed out', async () => {
    const scene = await simulated([
      { content: [call('add', { a: 1, b: words(400) })], stop_reason: 'max_tokens' },
      'I was cut off',
    ])
    const client = new Anthropic({ apiKey: 'test', baseURL: scene.url })
    const store = inMemoryStore()
    const session = await createEngine({ store, modelId, tools: [add], maxOutputTokens: 300 }).open()
    await session.say('go')
    await session.receive(await client.messages.create(await session.request()))
    expect(session.openCalls()).toEqual([])
    expect(session.unfinished()).toBe(true)
    await session.receive(await client.messages.create(await session.request()))
    expect(session.unfinished()).toBe(false)
    const [result] = ofType(await factsOf(store, session.id), 'tool-result')
    expect(result?.isError).toBe(true)
    expect(refusals(scene)).toEqual([])
  })

  it('[E1] a verb that cannot be done rejects with a stable code and says what to do', async () => {
    const session = await createEngine({ store: inMemoryStore(), modelId }).open()
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => null,
        (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
      )
    expect(await codeOf(session.request())).toBe('nothing-to-send')
    expect(await codeOf(session.say(' \n'))).toBe('empty-input')
    expect(await codeOf(session.queue(''))).toBe('empty-input')
    expect(await codeOf(session.result('nobody', 'x'))).toBe('call-unknown')
    expect(await codeOf(session.undo(seq(0)))).toBe('no-such-edit')
    expect(await codeOf(session.rewind(seq(99)))).toBe('no-such-place')
    expect(await codeOf(session.pin({ seq: seq(99) }))).toBe('no-such-entry')
    const { failure } = await turn(session.send('hello'))
    expect(failure?.code).toBe('no-model')
    await session.close()
    expect(await codeOf(session.say('late'))).toBe('closed')
  })
})

describe('one verb', () => {
  it('[E2] runs the tools, tells what passes by, and ends with one turn-end', async () => {
    const scene = await simulated(steps)
    const session = await createEngine({
      store: inMemoryStore(),
      modelId,
      model: scene.model,
      tools: [add],
    }).open()
    const { events, outcome } = await turn(session.send('what is 1 + 2?'))
    expect(outcome).toBe('done')
    const kinds = events.map((event) => event.type).filter((type) => type !== 'text-delta')
    expect(kinds).toEqual([
      'request-start',
      'answer-end',
      'tool-start',
      'tool-end',
      'request-start',
      'answer-end',
      'turn-end',
    ])
    expect(events).toContainEqual({
      type: 'tool-end',
      id: expect.any(String) as string,
      name: 'add',
      isError: false,
      text: '3',
    })
  })

  it('[E4] one turn at a time; the verbs that would cut into it are refused', async () => {
    const scene = await simulated(['slow answer'], { eventDelayMs: 20 })
    const session = await createEngine({ store: inMemoryStore(), modelId, model: scene.model }).open()
    const first = turn(session.send('one'))
    expect((await turn(session.send('two'))).failure?.code).toBe('busy')
    await expect(session.rewind(seq(0))).rejects.toMatchObject({ code: 'busy' })
    await expect(session.say('three')).rejects.toMatchObject({ code: 'busy' })
    expect((await first).outcome).toBe('done')
  })

  it('[E4] a listener that walks away does not stop the turn', async () => {
    const scene = await simulated([[call('add', { a: 1, b: 1 })], 'two'])
    const store = inMemoryStore()
    const session = await createEngine({ store, modelId, model: scene.model, tools: [add] }).open()
    for await (const _ of session.send('go')) break
    await session.close()
    expect(ofType(await factsOf(store, session.id), 'turn-end').map((fact) => fact.outcome)).toEqual(['done'])
  })

  it('[E1] a port that throws ends the turn with a failure, and the session goes on', async () => {
    const scene = await simulated(['fine'])
    let isBroken = true
    const model = {
      stream: (...args: Parameters<typeof scene.model.stream>) => {
        if (!isBroken) return scene.model.stream(...args)
        throw new Error('this model is at fault')
      },
    }
    const session = await createEngine({ store: inMemoryStore(), modelId, model }).open()
    const { failure } = await turn(session.send('hello'))
    expect(failure).toMatchObject({ code: 'fault', message: expect.stringContaining('at fault') as string })
    isBroken = false
    expect((await turn(session.send('again'))).outcome).toBe('done')
    expect(refusals(scene)).toEqual([])
  })
})
