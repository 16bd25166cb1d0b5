// The layers an embedder gets without asking: the standard ones, told by the engine's own tools what may be cleared.
import { describe, expect, it } from 'vitest'
import { createEngine, type EngineOptions } from '../../src/index.ts'
import { turnOf, written } from '../compaction/sessions.ts'
import { modelId, tool } from '../e2e/simulated.ts'

/** A session long idle, so that its old results are cleared where a layer may. */
async function removalsOf(options: Partial<EngineOptions>): Promise<readonly string[]> {
  const past = await written(turnOf('build the parser', 12))
  const engine = createEngine({ modelId, ...options, store: past.store })
  const session = await engine.open(past.session)
  await session.say('and now?')
  await session.request()
  const rows = await session.edits()
  await session.close()
  return rows.map((row) => row.layer)
}

describe('an engine made without layers', () => {
  it('[G23] has the standard ones; an empty list means none', async () => {
    expect(await removalsOf({})).toEqual(['microcompact'])
    expect(await removalsOf({ layers: [] })).toEqual([])
  })

  it('[G23] asks its own tools what may be cleared', async () => {
    const kept = tool('Read', () => 'seen')
    expect(kept.policy.results).toBe('keep')
    expect(await removalsOf({ tools: [kept] })).toEqual([])
    const cleared = { ...kept, policy: { ...kept.policy, results: 'clear' as const } }
    expect(await removalsOf({ tools: [cleared] })).toEqual(['microcompact'])
  })
})
