import { describe, expect, it } from 'vitest'
import type { Layer } from '../../src/projection/layer.ts'
import {
  autocompact,
  microcompact,
  standardLayers,
  toolResultBudget,
} from '../../src/projection/layers/index.ts'
import { pointOf } from '../../src/projection/dial.ts'
import { layerContract } from '../../src/testing/layer-contract.ts'
import { seq } from '../../src/transcript/ids.ts'

const makers: Readonly<Record<string, () => Layer>> = {
  autocompact: () => autocompact(),
  'autocompact, early': () => autocompact(pointOf(1)),
  microcompact: () => microcompact(),
  'microcompact, under pressure': () => microcompact({ pressureClearing: true }),
  'tool-result-budget': () => toolResultBudget(),
  'the last of the standard ones': () => standardLayers().at(-1)!,
}

for (const [name, make] of Object.entries(makers)) {
  describe(name, () => {
    for (const item of layerContract) it(`[${item.rule}] ${item.title}`, () => item.run(make))
  })
}

describe('the contract of layers', () => {
  const rejects = (layer: Layer): readonly string[] =>
    layerContract.flatMap((item) => {
      try {
        item.run(() => layer)
        return []
      } catch {
        return [item.title]
      }
    })

  it('[L3] finds a layer that speaks of nothing, silently, or takes the words of the user', () => {
    const span = { from: seq(0), to: seq(1_000_000) }
    expect(rejects({ name: ' ', decide: () => null })).toHaveLength(1)
    expect(
      rejects({ name: 'far', decide: () => ({ kind: 'ask', span, text: 'archive', why: 'so' }) }),
    ).toHaveLength(2)
    expect(
      rejects({
        name: 'drops',
        decide: (view) =>
          view.messages.length === 0
            ? null
            : {
                kind: 'edit',
                edits: [{ kind: 'drop', from: seq(1), to: seq(1) }],
                why: '',
                tokensFreed: Number.NaN,
              },
      }).length,
    ).toBeGreaterThanOrEqual(2)
    let calls = 0
    const moody: Layer = {
      name: 'moody',
      decide: (view) =>
        view.messages.length > 0 && calls++ % 2 === 0
          ? { kind: 'spill', at: [{ seq: seq(1) }], why: 'so' }
          : null,
    }
    expect(rejects(moody).length).toBeGreaterThanOrEqual(2)
  })
})
