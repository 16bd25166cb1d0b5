import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaults } from '../settings/defaults.ts'
import { factorOf, learn, uncalibrated, type Calibration } from './calibration.ts'

const model = 'some-model'
const { clip, minSampleTokens, prior, lowest, highest } = defaults.calibration

const learnAll = (
  state: Calibration,
  samples: readonly (readonly [estimated: number, reported: number])[],
): Calibration =>
  samples.reduce((now, [estimated, reported]) => learn(now, { model, estimated, reported }), state)

describe('calibration', () => {
  it('[K8] comes within 5 % of a factor that holds, between 0.4 and 3, in 40 requests of ordinary size', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.4, max: 3, noNaN: true }),
        fc.array(fc.integer({ min: 1500, max: 8000 }), { minLength: 40, maxLength: 40 }),
        (factor, sizes) => {
          const state = learnAll(
            uncalibrated,
            sizes.map((size) => [size, size * factor] as const),
          )
          expect(Math.abs(factorOf(state, model) / factor - 1)).toBeLessThan(0.05)
        },
      ),
    )
  })

  it('[K9] is moved by one sample by no more than its clip, whatever was reported', () => {
    const samples = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 50_000 }), fc.integer({ min: 0, max: 50_000 })),
    )
    const strange = fc.oneof(fc.double(), fc.integer(), fc.constant(Number.MAX_VALUE))
    fc.assert(
      fc.property(samples, strange, strange, (before, estimated, reported) => {
        const state = learnAll(uncalibrated, before)
        const after = learn(state, { model, estimated, reported })
        const moved = factorOf(after, model) / factorOf(state, model)
        expect(moved).toBeGreaterThanOrEqual(1 - clip - 1e-9)
        expect(moved).toBeLessThanOrEqual(1 + clip + 1e-9)
      }),
    )
  })

  it('[K13] stays where a tokenizer can be, however wrong the reports are', () => {
    const wrongLow = Array.from({ length: 200 }, () => [10_000, 1] as const)
    const wrongHigh = Array.from({ length: 200 }, () => [1000, 1e9] as const)
    expect(factorOf(learnAll(uncalibrated, wrongLow), model)).toBe(lowest)
    expect(factorOf(learnAll(uncalibrated, wrongHigh), model)).toBe(highest)
  })

  it('[K10] learns nothing from a fall or from a growth too small to tell', () => {
    expect(learn(uncalibrated, { model, estimated: 5000, reported: -200 })).toBe(uncalibrated)
    expect(learn(uncalibrated, { model, estimated: 5000, reported: 0 })).toBe(uncalibrated)
    expect(learn(uncalibrated, { model, estimated: minSampleTokens - 1, reported: 5000 })).toBe(uncalibrated)
    expect(learn(uncalibrated, { model, estimated: Number.NaN, reported: 5000 })).toBe(uncalibrated)
  })

  it('[K11] keeps models apart and starts each from what is known of it', () => {
    const state = learnAll(uncalibrated, [
      [20_000, 30_000],
      [20_000, 30_000],
    ])
    expect(factorOf(state, model)).toBeGreaterThan(1.2)
    expect(factorOf(state, 'another-model')).toBe(prior)
    expect(factorOf(state, '__proto__')).toBe(prior)
    expect(factorOf(uncalibrated, 'anthropic/claude-opus-4-7')).toBeGreaterThan(1.2)
  })

  it('[K12] goes on the same after being kept as JSON', () => {
    const sample = fc.record({
      model: fc.constantFrom('a', 'b', '__proto__'),
      estimated: fc.nat(9000),
      reported: fc.nat(9000),
    })
    fc.assert(
      fc.property(fc.array(sample), sample, (before, next) => {
        const state = before.reduce(learn, uncalibrated)
        const kept = JSON.parse(JSON.stringify(state)) as Calibration
        expect(factorOf(learn(kept, next), next.model)).toBe(factorOf(learn(state, next), next.model))
      }),
    )
  })
})
