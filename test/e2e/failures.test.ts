// Every failure of every port reaches the caller, and after each the session goes on (law E1).
import { describe, expect, it } from 'vitest'
import {
  createEngine,
  EngineError,
  inMemoryStore,
  type AnthropicRequest,
  type EngineOptions,
  type HookName,
  type Session,
  type Store,
} from '../../src/index.ts'
import { noAnswer } from '../../src/engine/hooks.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import { scriptedMessage, scriptedModel } from '../../src/model/scripted.ts'
import { call, type Fault } from '../../src/simulator/index.ts'
import { checkRequest } from '../../src/simulator/rules.ts'
import { storeWith, type ReadItem } from '../../src/transcript/store.ts'
import { block, open, serve, sse, start, stop, text } from '../stream-server.ts'
import { factsOf, modelId, ofType, refusals, simulated, tool, turn, words } from './simulated.ts'

const failure = { code: 'io-error' as const, message: 'the disk is gone; look at it' }
const failed = { ok: false, failure } as const

async function* failedReading(): AsyncGenerator<ReadItem> {
  yield { kind: 'failed', failure }
}
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'fine',
    (error: unknown) => (error instanceof EngineError ? error.code : `not an EngineError: ${String(error)}`),
  )

describe('a store', () => {
  const inner = inMemoryStore()
  const engineOver = (changed: Partial<Store>, more: Partial<EngineOptions> = {}) =>
    createEngine({ store: storeWith(inner, changed), modelId, ...more })

  it('[E1] that cannot be leased, written or read says so when a session is opened, and leaves none held', async () => {
    const session = await createEngine({ store: inner, modelId }).open()
    await session.say('hello')
    await session.close()
    const lease = () => Promise.resolve({ ok: false, why: 'failed', failure } as const)
    const append = () => Promise.resolve({ ok: false, why: 'failed', failure } as const)
    expect(await codeOf(engineOver({ lease }).open())).toBe('io-error')
    expect(await codeOf(engineOver({ lease }).open(session.id))).toBe('io-error')
    expect(await codeOf(engineOver({ append }).open())).toBe('io-error')
    // What the crash left open cannot be closed.
    expect(await codeOf(engineOver({ append }).open(session.id))).toBe('io-error')
    expect(await codeOf(engineOver({ read: failedReading }).open(session.id))).toBe('io-error')
    expect(await codeOf(engineOver({ read: failedReading }).branch(session.id))).toBe('io-error')
    expect(await engineOver({ read: failedReading }).read(session.id)).toEqual(failed)
    expect(await engineOver({ read: failedReading }).remove(session.id)).toEqual(failed)
    const release = () => Promise.resolve(failed)
    const held = engineOver({ append, release }).open(session.id)
    await expect(held).rejects.toThrow(/the disk is gone.*could not be released/)
    // That one stays held in truth; every other attempt has given it back.
    expect(await codeOf(createEngine({ store: inner, modelId }).open(session.id))).toBe('session-open')
  })

  it('[E1] that cannot sync or release says so when the session is closed', async () => {
    for (const changed of [
      { sync: () => Promise.resolve(failed) },
      { release: () => Promise.resolve(failed) },
    ]) {
      const session = await engineOver(changed).open()
      expect(await codeOf(session.close())).toBe('io-error')
    }
  })

  it('[E1] that cannot give queued input back ends the turn, and it is delivered when it can', async () => {
    const scene = await simulated(['one', 'two'])
    let isBroken = false
    const read: Store['read'] = (...place) => (isBroken ? failedReading() : inner.read(...place))
    const session = await engineOver({ read }, { model: scene.model }).open()
    await turn(session.send('first'))
    await session.queue('queued')
    isBroken = true
    expect((await turn(session.send('second'))).failure).toEqual(failure)
    isBroken = false
    expect((await turn(session.send('second'))).outcome).toBe('done')
    const inputs = ofType(await factsOf(inner, session.id), 'user-message')
    expect(inputs.map((input) => input.content[0])).toMatchObject([
      { text: 'first' },
      { text: 'queued' },
      { text: 'second' },
    ])
    expect(refusals(scene)).toEqual([])
  })

  it('[E1] that cannot keep a checkpoint is a notice, for it is only a short cut', async () => {
    const scene = await simulated([[call('dump', {})], 'done'])
    const dump = tool('dump', () => 'x'.repeat(defaults.store.checkpointBytes))
    const putCheckpoint = () => Promise.resolve(failed)
    const session = await engineOver(
      { putCheckpoint },
      { model: scene.model, tools: [dump], window: 10_000_000 },
    ).open()
    const { notices } = await turn(session.send('dump'))
    expect(notices).toContain('io-error')
  })
})

describe('a model', () => {
  const faults: readonly (readonly [code: string, fault: Fault])[] = [
    ['rate-limited', { kind: 'status', status: 429, retryAfterSeconds: 1000 }],
    ['overloaded', { kind: 'status', status: 529 }],
    [
      'unauthorized',
      { kind: 'status', status: 401, type: 'authentication_error', message: 'invalid x-api-key' },
    ],
    ['too-large', { kind: 'status', status: 413 }],
    ['invalid', { kind: 'status', status: 400 }],
    ['server', { kind: 'status', status: 500 }],
    ['network', { kind: 'reset', when: 'before-headers' }],
    ['cut-short', { kind: 'cut', afterEvents: 4, clean: true }],
    ['overloaded', { kind: 'stream-error', afterEvents: 3 }],
  ]
  for (const [code, fault] of faults) {
    it(`[E1] that fails with ${code} (${fault.kind}) ends the turn with that word, and the next turn works`, async () => {
      const scene = await simulated(['never heard', 'never heard', 'fine', 'fine'], {
        faults: [{ at: 1, times: 2, fault }],
      })
      const store = inMemoryStore()
      const session = await createEngine({ store, modelId, model: scene.model }).open()
      const { outcome, failure: told } = await turn(session.send('hello'))
      expect(outcome).toBe('failed')
      expect(told?.code).toBe(code)
      expect(told?.message).not.toBe('')
      scene.simulator.faults.clear()
      expect((await turn(session.send('again'))).outcome).toBe('done')
      const ends = ofType(await factsOf(store, session.id), 'turn-end')
      expect(ends.map((end) => end.outcome)).toEqual(['failed', 'done'])
      expect(ends[0]?.failure?.code).toBe(code)
    })
  }
})

describe('hooks', () => {
  it('[E1] that fail are shown and ignored; that block are obeyed', async () => {
    const scene = await simulated([[call('look', {})], 'done', 'again'])
    const fired: HookName[] = []
    let blocks: HookName | null = null
    const hooks: NonNullable<EngineOptions['hooks']> = {
      fire: (name) => {
        fired.push(name)
        const block = name === blocks ? 'not today' : null
        return Promise.resolve({ ...noAnswer, block, failures: [`${name} broke`] })
      },
    }
    const session = await createEngine({
      store: inMemoryStore(),
      modelId,
      model: scene.model,
      tools: [tool('look', () => words(3))],
      hooks,
    }).open()
    const first = await turn(session.send('look'))
    expect(first.outcome).toBe('done')
    expect(fired).toEqual([
      'InstructionsLoaded',
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'Stop',
    ])
    expect(first.notices).toEqual(fired.map(() => 'hook-failed'))
    blocks = 'UserPromptSubmit'
    expect((await turn(session.send('more'))).failure).toEqual({ code: 'blocked', message: 'not today' })
    expect(scene.simulator.log.requests.length).toBe(2)
  })
})

describe('a summariser', () => {
  const long = words(1500)
  const inSmallRoom = (summariser: unknown, more: Partial<EngineOptions> = {}) => {
    const model = scriptedModel(Array.from({ length: 30 }, () => scriptedMessage(long)))
    const options = { store: inMemoryStore(), modelId, model, window: 10_000, maxOutputTokens: 1000 }
    return createEngine({ ...options, summariser: summariser as never, ...more }).open()
  }
  it('[O18] that throws, answers rubbish or never ends leaves the compaction the extracted text, and that is told', async () => {
    const answers: readonly (() => unknown)[] = [
      () => {
        throw new Error('fell over')
      },
      async () => Promise.reject(new Error('fell over')),
      async () => Promise.resolve(undefined),
      async () => Promise.resolve('a text'),
      async () => Promise.resolve({ ok: true }),
    ]
    for (const summarise of answers) {
      const session = await inSmallRoom({ summarise }, { prepare: false })
      const notices: string[] = []
      for (let at = 0; at < 5; at++) {
        const ended = await turn(session.send(`${at} ${long}`))
        expect([ended.outcome, ended.failure]).toEqual(['done', null])
        notices.push(...ended.notices)
      }
      expect(notices).toContain('summary-failed')
      await session.close()
    }
    const session = await inSmallRoom({ summarise: () => new Promise(() => {}) }, { prepare: false })
    await turn(session.send(long))
    const stop = new AbortController()
    const compacting = session.compact({}, stop.signal)
    stop.abort()
    await expect(compacting).rejects.toMatchObject({ code: 'aborted' })
    expect((await session.compact({ text: 'Nothing was found yet.' })).source).toBe('user')
    await session.close()
  })
})

describe('a model', () => {
  it('[E1] that throws under a fork ends the fork as failed, and what it opened is closed', async () => {
    const store = inMemoryStore()
    const odd: unknown[] = [new Error('fell over'), null, 'a text']
    const stream = () => ({
      [Symbol.asyncIterator]: () => ({ next: async () => Promise.reject(odd.shift()) }),
    })
    const model = { stream } as unknown as NonNullable<EngineOptions['model']>
    const engine = createEngine({ store, modelId, model })
    const session = await engine.open()
    await session.say('hello')
    for (const what of ['fell over', 'null', 'a text']) {
      const rejected = { outcome: 'it rejected', failure: null, session: null }
      const forked = await session.fork({ purpose: 'side', directive: 'look' }).catch(() => rejected)
      expect(forked).toMatchObject({ outcome: 'failed', failure: { code: 'fault' } })
      expect(forked.failure!.message).toContain(what)
      // Nobody holds it any more.
      expect((await store.lease(forked.session!)).ok).toBe(true)
    }
    await session.close()
  })
})

describe('a gateway', () => {
  it('[C13] that counts its calls anew in every answer, or twice in one, does not brick the session', async () => {
    const calls = (...ids: readonly string[]) =>
      scriptedMessage(ids.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} }) as const))
    const end = scriptedMessage('done')
    const model = scriptedModel([calls('call_0'), calls('call_0', 'call_0'), end, calls('call_0'), end, end])
    const store = inMemoryStore()
    const tools = [tool('look', () => words(900))]
    const session = await createEngine({ store, modelId, model, tools }).open()
    expect((await turn(session.send('look'))).outcome).toBe('done')
    expect(model.requests.map(({ body }) => checkRequest(JSON.parse(body))?.error.message)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(ofType(await factsOf(store, session.id), 'tool-result').length).toBe(3)
    // Behind a compaction as well: what it hides comes back with its undo.
    const { seq } = await session.compact()
    expect((await turn(session.send('look'))).outcome).toBe('done')
    expect(await codeOf(session.undo(seq!))).toBe('fine')
    expect((await turn(session.send('go on'))).outcome).toBe('done')
    const last = JSON.parse(model.requests.at(-1)!.body)
    expect(checkRequest(last)?.error.message).toBeUndefined()
  })

  it('[C13] is taken so in a loop of the caller’s own too, behind a compaction, its undo and a resume', async () => {
    const store = inMemoryStore()
    const engine = createEngine({ store, modelId })
    const answer = (...ids: readonly string[]) => ({
      id: `msg_${ids.length}`,
      model: modelId,
      content:
        ids.length === 0
          ? [{ type: 'text', text: words(300) }]
          : ids.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })),
      stop_reason: ids.length === 0 ? 'end_turn' : 'tool_use',
      usage: { input_tokens: 0, output_tokens: 0 },
    })
    const asked = async (session: Session<AnthropicRequest>): Promise<void> => {
      const request = await session.request()
      expect(checkRequest(request as never)?.error.message).toBeUndefined()
    }
    const round = async (session: Session<AnthropicRequest>, ...ids: readonly string[]): Promise<void> => {
      await session.say('look')
      for (const answered of [answer(...ids), answer()]) {
        await asked(session)
        expect(await codeOf(session.receive(answered))).toBe('fine')
        for (const { id } of session.openCalls()) await session.result(id, words(900))
      }
    }
    let session = await engine.open()
    await round(session, 'call_0')
    await round(session, 'call_0', 'call_0')
    const { seq } = await session.compact()
    await round(session, 'call_0')
    // Whoever carries the calls out knows them by the ids of the answer: what would meet is refused, and nothing is broken.
    expect(await codeOf(session.undo(seq!))).toBe('call-duplicate')
    await round(session, 'call_1')
    expect(session.openCalls()).toEqual([])
    // An id that was drawn and comes again all the same is known only once what is hidden is read.
    await round(session, 'toolu_3fK9')
    const second = await session.compact()
    await session.close()
    session = await engine.open(session.id)
    await round(session, 'toolu_3fK9')
    expect(await codeOf(session.undo(second.seq!))).toBe('call-duplicate')
    await round(session)
    await session.close()
  })

  it('[E15] that reports a thousand windows for a prompt is not believed, and the session goes on', async () => {
    const usage = { input: 1e11, cacheRead: 0, cacheWrite: 0, output: 5 }
    const model = scriptedModel([scriptedMessage('one', { usage }), scriptedMessage('two')])
    const store = inMemoryStore()
    const caps = { dollars: 5 }
    const session = await createEngine({ store, modelId, model, caps }).open()
    const first = await turn(session.send('hello'))
    expect(first.notices).toContain('silent-overflow')
    expect((await turn(session.send('more'))).outcome).toBe('done')
    expect(session.view().tokens).toBeLessThan(1000)
    expect(ofType(await factsOf(store, session.id), 'assistant-message')[0]?.usage?.estimated).toBe(true)
    await session.close()
  })

  it('[D14] that sends hidden reasoning without its data ends nothing, and none of it is sent back', async () => {
    const events = [
      start,
      ...block(0, { type: 'redacted_thinking' }),
      ...text(1, 'hello'),
      ...stop('end_turn'),
    ]
    const { url, asked } = await serve((response) => void open(response).end(sse(events)))
    const model = anthropicModel({ apiKey: 'test', baseUrl: url })
    const session = await createEngine({ store: inMemoryStore(), modelId, model }).open()
    for (const input of ['one', 'two']) expect((await turn(session.send(input))).outcome).toBe('done')
    expect(asked[1]?.bytes.toString()).toContain('hello')
    expect(asked[1]?.bytes.toString()).not.toContain('redacted_thinking')
  })
})
