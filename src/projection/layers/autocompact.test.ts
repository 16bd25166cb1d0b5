import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { budget, lines, Scribe } from '../../../test/layers/scribe.ts'
import type { Fact } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { DialPoint } from '../dial.ts'
import type { Budget } from '../layer.ts'
import { autocompact, autocompactName } from './autocompact.ts'
import { microcompactName } from './microcompact.ts'

const point: DialPoint = {
  carry: 2,
  coldTokens: 30_000,
  leastTokens: 4000,
  tailTokens: 3000,
  excerptTokens: 3000,
  detailTokens: 0,
  textTokens: 1000,
  filesTokens: 0,
  clearsIdle: 1,
}

/** Rounds until the layer speaks; null when it does not within so many. */
function roundsUntil(layer: ReturnType<typeof autocompact>, by: Partial<Budget>, most = 200): number | null {
  const scribe = new Scribe()
  scribe.say()
  for (let round = 1; round <= most; round++) {
    scribe.rounds(1, { output: lines(120) })
    if (layer.decide(scribe.view(), budget({ threshold: 1_000_000, ...by })) !== null) return round
  }
  return null
}

/** As above, with results left out by a cheap layer on the way: `clears` says after how many rounds, and how many. */
function roundsWith(clears: readonly (readonly [after: number, count: number])[], by: Partial<Budget>) {
  const scribe = new Scribe()
  const layer = autocompact({ ...point, coldTokens: 20_000 })
  const results: Seq[] = []
  scribe.say()
  for (let round = 1; round <= 200; round++) {
    results.push(...scribe.work({ id: `c${round}`, output: lines(120) }))
    for (const [after, count] of clears)
      if (after === round) scribe.write(clearing(microcompactName, results.splice(0, count)))
    if (layer.decide(scribe.view(), budget({ threshold: 1_000_000, ...by })) !== null) return round
  }
  return null
}

const clearing = (layer: string, places: readonly Seq[]): Fact => ({
  type: 'view-edit',
  layer,
  asked: 'automatic',
  edits: places.map((seq) => ({ kind: 'stub', at: { seq, block: 0 }, text: '[cleared]', ref: `${seq}` })),
  why: 'a test',
  tokensFreed: 0,
})

describe('autocompact', () => {
  it('[DI2] comes before the threshold once carrying has cost so many times the rewrite', () => {
    const once = roundsUntil(autocompact({ ...point, carry: 1 }), {})!
    const often = roundsUntil(autocompact({ ...point, carry: 8 }), {})!
    expect(once).toBeGreaterThan(1)
    expect(often).toBeGreaterThan(once * 1.5)
    expect(roundsUntil(autocompact({ ...point, carry: Infinity }), {}, 60)).toBeNull()
    expect(roundsUntil(autocompact(), {}, 60)).toBeNull()
  })

  it('[DI2] waits longer where writing costs more, and where a model writes the text', () => {
    const rates = budget().rates!
    const usual = roundsUntil(autocompact(point), {})!
    const dear = roundsUntil(autocompact(point), { rates: { ...rates, write: 2 * rates.write } })!
    const asked = roundsUntil(autocompact(point, true), {})!
    expect(dear).toBeGreaterThan(usual)
    expect(asked).toBeGreaterThan(usual)
  })

  it('[DI2] on a cold cache asks for enough to put away, whatever was carried', () => {
    const cold = { isWarm: false }
    const few = roundsUntil(autocompact({ ...point, carry: Infinity, coldTokens: 8000 }), cold)!
    const many = roundsUntil(autocompact({ ...point, carry: Infinity, coldTokens: 40_000 }), cold)!
    expect(few).toBeGreaterThan(1)
    expect(many).toBeGreaterThan(few * 2)
  })

  it('[DI2] is silent right after a boundary until enough has come, however much must stay', () => {
    const layer = autocompact({ ...point, coldTokens: 0, leastTokens: 6000 })
    const scribe = new Scribe()
    const first = scribe.say()
    scribe.rounds(60, { output: lines(120) })
    const { upTo } = scribe.view()
    scribe.write({
      type: 'view-edit',
      layer: layer.name,
      asked: 'automatic',
      edits: [
        {
          kind: 'summary',
          from: first,
          to: upTo,
          text: lines(3000),
          ref: 'x',
          keep: [{ at: { seq: first, block: 0 } }],
        },
      ],
      why: 'a test',
      tokensFreed: 0,
    })
    const by = budget({ threshold: 1_000_000, isWarm: false })
    expect(scribe.view().tokens).toBeGreaterThan(15_000)
    expect(layer.decide(scribe.view(), by)).toBeNull()
    scribe.say('on')
    scribe.rounds(1, { output: lines(120) })
    expect(layer.decide(scribe.view(), by)).toBeNull()
    scribe.rounds(8, { output: lines(120) })
    expect(layer.decide(scribe.view(), by)).not.toBeNull()
  })

  it('[DI2] at the threshold it speaks whatever the dial says', () => {
    const scribe = new Scribe()
    scribe.say('only this')
    const { tokens } = scribe.view()
    const layer = autocompact({ ...point, carry: Infinity })
    expect(layer.decide(scribe.view(), budget({ threshold: tokens }))).toMatchObject({
      kind: 'ask',
      text: 'summary',
    })
    expect(layer.decide(scribe.view(), budget({ threshold: tokens + 1 }))).toBeNull()
  })

  it('[DI7] what a cheap layer cleared does not put a boundary off', () => {
    const some = fc.tuple(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 4 }))
    fc.assert(
      fc.property(fc.array(some, { minLength: 1, maxLength: 2 }), fc.boolean(), (clears, isWarm) => {
        const without = roundsWith([], { isWarm })!
        // Earlier by what estimates are unsure of, and no more.
        const cleared = roundsWith(clears, { isWarm })!
        expect(cleared).toBeLessThanOrEqual(without)
        expect(cleared).toBeGreaterThanOrEqual(without * 0.9 - 1)
      }),
      { numRuns: 40 },
    )
  })

  it('[DI7] what a boundary itself has made smaller is not counted', () => {
    const until = (layer: string): number => {
      const scribe = new Scribe()
      scribe.say()
      const [first] = scribe.work({ id: 'large', output: lines(2000) })
      scribe.write(clearing(layer, [first!]))
      const speaker = autocompact({ ...point, carry: Infinity, coldTokens: 20_000 })
      for (let round = 1; round <= 200; round++) {
        scribe.work({ id: `c${round}`, output: lines(120) })
        if (speaker.decide(scribe.view(), budget({ threshold: 1_000_000, isWarm: false })) !== null)
          return round
      }
      return Infinity
    }
    expect(until(microcompactName)).toBeLessThan(until(autocompactName))
  })
})
