import { describe, expect, it } from 'vitest'
import { budget, lines, minute, Scribe } from '../../test/layers/scribe.ts'
import { editsOf } from './edit-list.ts'
import { microcompact } from './layers/index.ts'

describe('the list of removals', () => {
  it('[Z20] says of each what, who, why, how many tokens, what it saves and whether it still counts', () => {
    const scribe = new Scribe()
    scribe.say()
    const places = scribe.rounds(8, { output: lines(300) })
    scribe.answer()
    const layer = microcompact()
    const proposal = layer.decide(scribe.view(), budget({ now: scribe.now() + 61 * minute, isWarm: false }))
    if (proposal?.kind !== 'edit') throw new Error('nothing was proposed')
    const { edits, why, tokensFreed, price } = proposal
    const place = scribe.write({
      type: 'view-edit',
      layer: layer.name,
      asked: 'automatic',
      edits,
      why,
      tokensFreed,
      price,
    })
    const [row] = editsOf(scribe.fold)
    expect(row).toMatchObject({
      seq: place,
      layer: 'microcompact',
      asked: 'automatic',
      does: [{ kind: 'stub', count: 3 }],
      range: { from: places[0], to: places[2] },
      tokensFreed,
      state: 'live',
    })
    expect(row!.why).toContain('60 minutes')
    expect(row!.saved).toBeGreaterThan(0)
    scribe.write({ type: 'undo', target: row!.seq })
    expect(editsOf(scribe.fold)[0]?.state).toBe('undone')
  })
})
