import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaults } from '../settings/defaults.ts'
import { allowanceOf, pointOf, type DialPoint } from './dial.ts'

const { points } = defaults.dial
const keys = [
  'carry',
  'coldTokens',
  'leastTokens',
  'tailTokens',
  'excerptTokens',
  'detailTokens',
  'textTokens',
  'filesTokens',
] as const

describe('the dial', () => {
  it('[DI1] has the measured points where they were measured, and lies between two of them in between', () => {
    for (const { at, ...point } of points) expect(pointOf(at)).toEqual(point)
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (thrift) => {
        const above = Math.max(
          1,
          points.findIndex(({ at }) => at >= thrift),
        )
        const [low, high] = [points[above - 1]!, points[above]!]
        const point = pointOf(thrift)
        for (const key of keys) {
          expect(point[key]).toBeGreaterThanOrEqual(Math.min(low[key], high[key]) - 1e-9)
          expect(point[key]).toBeLessThanOrEqual(Math.max(low[key], high[key]) + 1e-9)
        }
      }),
    )
  })

  it('[DI1] spends less the further it is turned, and stands where the defaults say', () => {
    for (const [index, point] of points.entries()) {
      const before = points[index - 1]
      if (before === undefined) continue
      expect(point.at).toBeGreaterThan(before.at)
      expect(point.carry).toBeLessThanOrEqual(before.carry)
      expect(sum(point)).toBeLessThan(sum(before))
    }
    expect(pointOf()).toEqual(pointOf(defaults.dial.thrift))
    expect(pointOf(-3)).toEqual(pointOf(0))
    expect(pointOf(7)).toEqual(pointOf(1))
  })

  it('[DI1] leaves in a small room what its shares allow, and that lies below the target', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 1_000_000 }),
        (thrift, room) => {
          const { tailTokens, excerptTokens, textTokens } = allowanceOf(pointOf(thrift), room)
          expect(tailTokens).toBeLessThanOrEqual(defaults.compaction.keptShare * room)
          expect(excerptTokens).toBeLessThanOrEqual(defaults.dial.excerptShare * room)
          expect(textTokens).toBeLessThanOrEqual(defaults.compaction.textShare * room)
        },
      ),
    )
  })
})

const sum = ({ tailTokens, excerptTokens, detailTokens, textTokens }: DialPoint): number =>
  tailTokens + excerptTokens + detailTokens + textTokens
