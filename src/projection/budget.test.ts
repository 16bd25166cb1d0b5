import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { roomOf } from './budget.ts'

describe('the room', () => {
  it('[K16] gives the numbers of a 200K window', () => {
    const outcome = roomOf({ window: 200_000, maxOutput: 64_000, fixed: 20_000 })
    expect(outcome).toEqual({
      ok: true,
      room: {
        window: 200_000,
        reserve: 20_000,
        effective: 180_000,
        threshold: 167_000,
        fixed: 20_000,
        room: 147_000,
        target: 78_800,
      },
    })
  })

  it('[K16] E7: for any window and output size the threshold is positive and the target lies below it with a gap', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 2_000_000 }),
        fc.integer({ min: 1, max: 4_000_000 }),
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        (window, maxOutput, share) => {
          const outcome = roomOf({ window, maxOutput, fixed: Math.floor(window * 0.5 * share) })
          if (!outcome.ok) throw new Error(outcome.why)
          const { threshold, target, effective, room } = outcome.room
          expect(threshold).toBeGreaterThan(0)
          expect(effective).toBeGreaterThanOrEqual(threshold)
          expect(target).toBeLessThan(threshold - room / 2)
        },
      ),
    )
  })

  it('[K16] E18: instructions that fill the window are an error with the numbers', () => {
    const outcome = roomOf({ window: 8000, maxOutput: 4096, fixed: 7900 })
    expect(outcome.ok ? '' : outcome.why).toMatch(/take 7,900 tokens, but only \d,\d{3} of the 8,000/)
  })

  it('[K16] a percentage or a number may lower the threshold, never raise it', () => {
    const of = (clues: object) => roomOf({ window: 200_000, maxOutput: 64_000, fixed: 0, ...clues })
    expect(of({ thresholdShare: 0.5 })).toMatchObject({ room: { threshold: 90_000 } })
    expect(of({ thresholdTokens: 50_000 })).toMatchObject({ room: { threshold: 50_000 } })
    expect(of({ thresholdShare: 1.5, thresholdTokens: 900_000 })).toMatchObject({
      room: { threshold: 167_000 },
    })
  })
})
