// The provider's own word on a lost cache, asked for over HTTP, beside what we found ourselves.
import { describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore, type EngineOptions, type Session } from '../../src/index.ts'
import { diagnosisOf, providersWord, disagreement } from '../../src/request/diagnosis.ts'
import { createManualClock, type SimulatorOptions } from '../../src/simulator/index.ts'
import { fixedClock } from '../../src/testing/builders.ts'
import type { Store } from '../../src/transcript/store.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import {
  collect,
  factsOf,
  modelId,
  ofType,
  refusals,
  simulated,
  turn,
  words,
  type SimulatedApi,
} from './simulated.ts'

const minute = 60_000
const system = words(3000, 'rule')
const answers = [words(3000), words(3000), 'three', 'four', 'five']

interface Asking {
  readonly api: SimulatedApi
  readonly store: Store
  readonly session: Session
  readonly options: EngineOptions
  readonly pass: (ms: number) => void
}

async function asking(
  more: Partial<EngineOptions> = {},
  simulator: Partial<SimulatorOptions> = {},
): Promise<Asking> {
  const theirs = createManualClock()
  const ours = fixedClock(theirs.now())
  const api = await simulated(answers, { clock: theirs, ...simulator })
  const store = inMemoryStore()
  const options = {
    store,
    modelId,
    model: api.model,
    system,
    clock: ours,
    cacheDiagnostics: true,
    ...more,
  }
  const pass = (ms: number): void => {
    theirs.advance(ms)
    ours.advance(ms)
  }
  return { api, store, session: await createEngine(options).open(), options, pass }
}

interface Sent {
  readonly diagnostics?: { readonly previous_message_id: string | null }
}
const sentBy = ({ simulator }: SimulatedApi) =>
  simulator.log.requests.map(({ body, headers }) => ({
    after: (body as Sent).diagnostics?.previous_message_id,
    betas: headers['anthropic-beta'] ?? '',
  }))

describe('cache diagnostics', () => {
  it('[X18] every request asks to be compared with the last answer, and a break keeps what the provider says', async () => {
    const { api, store, session, pass } = await asking()
    for (const input of ['one', 'two']) expect((await turn(session.send(input))).notices).toEqual([])
    pass(6 * minute)
    const late = await collect(session.send('three'))
    expect(refusals(api)).toEqual([])
    const ids = ofType(await factsOf(store, session.id), 'assistant-message').map((one) => one.messageId)
    expect(sentBy(api)).toEqual(
      [null, ids[0], ids[1]].map((after) => ({ after, betas: 'cache-diagnosis-2026-04-07' })),
    )
    const [lost] = ofType(await factsOf(store, session.id), 'cache-break')
    // The prompt goes on from the one before: what was lost was lost by age, and both say so.
    expect(lost).toMatchObject({ causes: [{ kind: 'expired' }], provider: 'same' })
    const said = late.find((event) => event.type === 'notice')
    expect(said).toMatchObject({
      message: expect.stringMatching(/expired.*the provider says: nothing changed$/u) as string,
    })
  })

  it('[X18] an edit is named by the provider in the answer, with the tokens it costs', async () => {
    const { store, session } = await asking()
    for (const input of ['one', 'two', 'three']) await turn(session.send(input))
    await session.compact()
    await turn(session.send('four'))
    const found = ofType(await factsOf(store, session.id), 'assistant-message').map((one) => one.diagnosis)
    expect(found.slice(0, 3)).toEqual([undefined, undefined, undefined])
    expect(found[3]).toEqual({ reason: 'messages_changed', tokens: expect.any(Number) as number })
    expect(found[3]!.tokens).toBeGreaterThan(3000)
  })

  it('[X19] where somebody on the way changes a request, we see nothing and the provider does: both are said', async () => {
    const { api, store, session, options } = await asking()
    for (const input of ['one', 'two']) await turn(session.send(input))
    const id = session.id
    await session.close()
    const tampering: typeof fetch = (to, init) => {
      const body = typeof init?.body === 'string' ? init.body : ''
      return fetch(to, { ...init, body: body.replace('rule rule', 'rule  rule') })
    }
    const model = anthropicModel({ apiKey: 'test', baseUrl: api.url, fetch: tampering })
    const again = await createEngine({ ...options, model }).open(id)
    const events = await collect(again.send('three'))
    const [lost] = ofType(await factsOf(store, id), 'cache-break')
    expect(lost).toMatchObject({
      causes: [{ kind: 'server' }],
      provider: 'system_changed',
      providerTokens: expect.any(Number) as number,
    })
    const differs = 'we see no change, the provider one of the system prompt'
    expect(disagreement(lost!.causes, lost!.provider!)).toBe(differs)
    expect(providersWord(lost!.causes, lost!.provider, lost!.providerTokens)).toBe(
      `; the provider says: the system prompt changed (${lost!.providerTokens} tokens) (${differs})`,
    )
    expect(events.find((event) => event.type === 'notice')).toMatchObject({
      message: expect.stringContaining(differs) as string,
    })
  })

  it('[X19] the first part of the prompt that changed is the one that counts, whatever else did', () => {
    const tools = { kind: 'tools' }
    const message = { kind: 'message' }
    expect(disagreement([tools, message], 'tools_changed')).toBeNull()
    expect(disagreement([message], 'messages_changed')).toBeNull()
    expect(disagreement([{ kind: 'effort' }], 'messages_changed')).toBeNull()
    expect(disagreement([{ kind: 'expired' }], 'same')).toBeNull()
    expect(disagreement([message], 'same')).toBe('we see a change of the messages, the provider none')
    expect(disagreement([tools, message], 'messages_changed')).toBe(
      'we see a change of the tools, the provider one of the messages',
    )
    // What it cannot tell, or says in a word that nobody knows, is no disagreement.
    for (const reason of ['pending', 'previous_message_not_found', 'unavailable', 'a word of tomorrow'])
      expect(disagreement([tools], reason)).toBeNull()
    expect(providersWord([], 'a word of tomorrow')).toBe('; the provider says: a word of tomorrow')
    expect(providersWord([tools], undefined)).toBe('')
  })

  it('[X18] nobody is asked who may not know it: another provider, no cache, whoever sends it himself, not switched on', async () => {
    const quiet = await asking({ cacheDiagnostics: undefined })
    await turn(quiet.session.send('one'))
    expect(sentBy(quiet.api)).toEqual([{ after: undefined, betas: '' }])
    const uncached = await asking({ cacheLifetime: null })
    await turn(uncached.session.send('one'))
    expect(sentBy(uncached.api)).toEqual([{ after: undefined, betas: '' }])
    for (const more of [{ model: undefined }, {}]) {
      const { session } = await asking(more)
      await session.say('one')
      expect(await session.request()).not.toHaveProperty('diagnostics')
    }
  })

  it('[X18] the server is asked about no answer that is not its own: it would refuse the whole request', async () => {
    const { api, store, session, options } = await asking({ model: undefined })
    await session.say('one')
    // As behind an address that is no longer set, or in a session that was imported.
    const content = [{ type: 'text', text: words(3000) }]
    const usage = { input_tokens: 4000, output_tokens: 3000 }
    await session.receive({ id: 'chatcmpl-1', model: modelId, content, stop_reason: 'end_turn', usage })
    await session.close()
    const again = await createEngine({ ...options, model: api.model }).open(session.id)
    for (const input of ['two', 'three'])
      expect(await turn(again.send(input))).toMatchObject({ outcome: 'done', notices: [] })
    expect(refusals(api)).toEqual([])
    const ids = ofType(await factsOf(store, session.id), 'assistant-message').map((one) => one.messageId)
    expect(sentBy(api).map(({ after }) => after)).toEqual([null, ids[1]])
  })

  it('[X18] what is no word and no count is not kept: an answer of any shape can be read back', () => {
    const miss = (reason: unknown): unknown => ({ cache_miss_reason: reason })
    for (const shape of [undefined, 1, 'x', [], {}, miss(1), miss({}), miss({ type: '' }), miss({ type: 1 })])
      expect(diagnosisOf(shape)).toBeNull()
    expect(diagnosisOf(miss({ type: 'x'.repeat(10_000) }))).toBeNull()
    for (const tokens of ['1e400', '-1', '"7"', 'null', '{}']) {
      const json = `{"type":"tools_changed","cache_missed_input_tokens":${tokens}}`
      expect(diagnosisOf(miss(JSON.parse(json)))).toEqual({ reason: 'tools_changed' })
    }
  })

  for (const message of [
    'diagnostics.previous_message_id: must be the `id` of an earlier answer',
    'diagnostics: Extra inputs are not permitted',
    'Unexpected value(s) `cache-diagnosis-2026-04-07` for the `anthropic-beta` header.',
  ])
    it(`[E35] refused once (${message.slice(0, 20)}…) it is not asked again, also after a resume`, async () => {
      const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
      const asks = ({ body }: { readonly body: unknown }): boolean => (body as Sent).diagnostics !== undefined
      const { api, session, options } = await asking({}, { faults: [{ at: asks, fault }] })
      const first = await turn(session.send('one'))
      expect([first.outcome, first.notices]).toEqual(['done', ['option-left-out']])
      expect((await turn(session.send('two'))).notices).toEqual([])
      const id = session.id
      await session.close()
      const again = await createEngine(options).open(id)
      expect((await turn(again.send('three'))).notices).toEqual([])
      expect(refusals(api)).toEqual([message])
    })
})
