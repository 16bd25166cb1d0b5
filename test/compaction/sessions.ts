// What tests of compaction begin with: sessions with a long past written straight into a store, and engines that open them.
import { standardLayers } from '../../src/projection/layers/index.ts'
import {
  createEngine,
  inMemoryStore,
  type AnthropicRequest,
  type EngineOptions,
  type Session,
} from '../../src/index.ts'
import { findModel, simulatedModels, type SimulatedModel } from '../../src/simulator/index.ts'
import { answered, call, entriesOf, result, said } from '../../src/testing/builders.ts'
import { fixedSession } from '../../src/testing/builders.ts'
import { leased, released, stored } from '../../src/testing/store-steps.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import type { SessionId } from '../../src/transcript/ids.ts'
import type { Store } from '../../src/transcript/store.ts'
import { modelId } from '../e2e/simulated.ts'

/** Rounds of work with results of so many lines. */
export function work(rounds: number, lines = 200, name = 'w'): Fact[] {
  return Array.from({ length: rounds }, (_, index): Fact[] => {
    const id = `${name}_${index}`
    const path = `src/part${index % 9}.ts`
    return [
      answered([{ type: 'text', text: `Reading ${path}.` }, call(id, 'Read', { file_path: path })], {
        id: `m_${id}`,
      }),
      result(id, `export const value${index} = ${index}\n`.repeat(lines)),
    ]
  }).flat()
}

/** A user's wish, work, and an answer that ends the turn. */
export const turnOf = (
  wish: string,
  rounds: number,
  lines?: number,
  name = wish.replaceAll(/\W/g, '').slice(0, 20),
): Fact[] => [
  said(wish),
  ...work(rounds, lines, name),
  answered(`Done with this: ${wish}`, { id: `end_${name}` }),
  { type: 'turn-end', outcome: 'done' },
]

/** The model of the tests with a window of its own, so that the judge refuses what is too long. */
export function smallModel(window: number): readonly SimulatedModel[] {
  return [{ ...findModel(simulatedModels, modelId)!, window }]
}

/** A session that already has this past. */
export async function written(
  facts: readonly Fact[],
  store: Store = inMemoryStore(),
  session = fixedSession(7),
): Promise<{ store: Store; session: SessionId }> {
  const entries = entriesOf(...facts).map((entry, index) =>
    index === 0 ? { ...entry, fact: { type: 'session-start' as const, session, purpose: 'main' } } : entry,
  )
  const { lease } = await leased(store, session)
  await stored(store, lease, entries, 0)
  await released(store, lease)
  return { store, session }
}

export async function reopened(
  facts: readonly Fact[],
  options: Partial<EngineOptions>,
): Promise<{ session: Session<AnthropicRequest>; store: Store }> {
  const past = await written(facts, options.store)
  const engine = createEngine({
    modelId,
    layers: standardLayers({ budget: false, microcompact: false }),
    ...options,
    store: past.store,
  })
  return { session: await engine.open(past.session), store: past.store }
}
