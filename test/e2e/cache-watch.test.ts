// What the cache lost is noticed, explained and priced; what we ourselves decided is not an alarm.
import { describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore, type EngineOptions, type Layer, type Session } from '../../src/index.ts'
import { createManualClock, type SimulatorOptions } from '../../src/simulator/index.ts'
import { storeWith, type Store } from '../../src/transcript/store.ts'
import { fixedClock } from '../../src/testing/builders.ts'
import {
  factsOf,
  modelId,
  ofType,
  refusals,
  simulated,
  tool,
  turn,
  words,
  type SimulatedApi,
} from './simulated.ts'

const minute = 60_000
const answers = [words(4000), words(4000), 'three', 'four', 'five']

interface Watched {
  readonly scene: SimulatedApi
  readonly session: Session
  readonly store: Store
  /** Time passes for the provider, and for us where we know of it. */
  readonly pass: (ms: number, weKnow: boolean) => void
}

async function watched(
  options: Partial<EngineOptions> = {},
  simulator: Partial<SimulatorOptions> = {},
): Promise<Watched> {
  const theirs = createManualClock()
  const ours = fixedClock(theirs.now())
  const scene = await simulated(answers, { clock: theirs, ...simulator })
  const store = options.store ?? inMemoryStore()
  const system = words(3000, 'rule')
  const session = await createEngine({
    modelId,
    model: scene.model,
    system,
    clock: ours,
    ...options,
    store,
  }).open()
  return {
    scene,
    session,
    store,
    pass: (ms, weKnow) => {
      theirs.advance(ms)
      if (weKnow) ours.advance(ms)
    },
  }
}

describe('the cache watch', () => {
  it('[E13] says nothing while every request reads what the one before left', async () => {
    const { session, store, scene } = await watched({ tools: [tool('look', () => 'seen')] })
    for (const input of ['one', 'two', 'three']) expect((await turn(session.send(input))).notices).toEqual([])
    expect(ofType(await factsOf(store, session.id), 'cache-break')).toEqual([])
    expect(refusals(scene)).toEqual([])
  })

  it('[E13] writes down a break with its causes, tokens, cost and what differed, and says so', async () => {
    const { session, store, pass } = await watched()
    await turn(session.send('one'))
    await turn(session.send('two'))
    pass(6 * minute, true)
    const expired = await turn(session.send('three'))
    expect(expired.notices).toEqual(['cache-break'])
    pass(6 * minute, false)
    const lost = await turn(session.send('four'))
    expect(lost.notices).toEqual(['cache-break'])
    const breaks = ofType(await factsOf(store, session.id), 'cache-break')
    expect(breaks.map(({ causes }) => causes)).toMatchObject([[{ kind: 'expired' }], [{ kind: 'server' }]])
    for (const { tokens, cost, source, diff } of breaks) {
      expect(source).toBe('main')
      expect(tokens).toBeGreaterThan(3000)
      expect(cost).toBeCloseTo((tokens * (3.75 - 0.3)) / 1e6, 6)
      const blob = await store.getBlob(session.id, diff!)
      expect(blob.ok && new TextDecoder().decode(blob.bytes)).toContain(
        'The cached part of both requests is the same',
      )
    }
  })

  it('[E13] an edit that was decided on is announced, so it is no alarm', async () => {
    const drop: Layer = {
      name: 'test',
      decide: (view) =>
        view.messages.length < 5 || view.messages.at(1)!.parts[0]!.by !== null
          ? null
          : {
              kind: 'edit',
              edits: [
                { kind: 'stub', at: { seq: view.messages.at(1)!.from, block: 0 }, text: '[gone]', ref: '1' },
              ],
              why: 'a test',
              tokensFreed: 1000,
            },
    }
    const { session, store, scene } = await watched({ layers: [drop] })
    for (const input of ['one', 'two', 'three', 'four'])
      expect((await turn(session.send(input))).notices).toEqual([])
    const facts = await factsOf(store, session.id)
    expect(ofType(facts, 'view-edit').length).toBe(1)
    expect(ofType(facts, 'cache-break')).toEqual([])
    // It did cost: the request after the edit could not read what the one before had left.
    const [, before, after] = scene.simulator.log.requests.map((request) => request.usage!)
    const left = before!.cache_read_input_tokens! + before!.cache_creation_input_tokens!
    expect(left - after!.cache_read_input_tokens!).toBeGreaterThan(4000)
  })

  it('[E13] forks have baselines of their own, and a model switch is no alarm', async () => {
    const { session, store } = await watched()
    await turn(session.send('one'))
    await turn(session.send('two'))
    for (const directive of ['a', 'b']) await session.fork({ purpose: 'agent', directive, writesCache: true })
    await session.setModel('claude-opus-4-6')
    expect((await turn(session.send('three'))).notices).toEqual([])
    expect(ofType(await factsOf(store, session.id), 'cache-break')).toEqual([])
  })

  it('[E1] a report that cannot be kept is said and ends nothing', async () => {
    const inner = inMemoryStore()
    const failure = { code: 'quota' as const, message: 'full' }
    const store = storeWith(inner, { putBlob: () => Promise.resolve({ ok: false, failure }) })
    const { session, pass } = await watched({ store })
    await turn(session.send('one'))
    await turn(session.send('two'))
    pass(6 * minute, false)
    const { outcome, notices } = await turn(session.send('three'))
    expect(outcome).toBe('done')
    expect(notices).toEqual(['quota', 'cache-break'])
  })
})
