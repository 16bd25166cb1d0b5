import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { breakEven, expectedRequests, priceOfReduction } from './economy.ts'

const tokens = fc.nat({ max: 1_000_000 })
const rate = fc.double({ min: 0, max: 1e-4, noNaN: true })
const rates = fc.tuple(rate, rate).map(([a, b]) => ({ read: Math.min(a, b), write: Math.max(a, b) }))
const reductions = fc.record({ freedTokens: tokens, tailTokens: tokens, isWarm: fc.boolean(), rates })
const requests = fc.nat({ max: 1000 })

describe('the price of a reduction', () => {
  it('[Y1] sets what is saved at every request against what is written again once', () => {
    const reduction = {
      freedTokens: 50_000,
      tailTokens: 20_000,
      isWarm: true,
      rates: { read: 1, write: 12.5 },
    }
    expect(priceOfReduction({ ...reduction, expectedRequests: 10 })).toEqual({
      saves: 500_000,
      costs: 230_000,
      net: 270_000,
      isWorth: true,
    })
    expect(breakEven(reduction)).toBe(5)
    const next = priceOfReduction({ ...reduction, expectedRequests: 1 })
    expect(priceOfReduction({ ...reduction, expectedRequests: 0 })).toEqual(next)
  })

  it('[Y1] on a cold prefix also saves the write, and never costs', () => {
    const reduction = {
      freedTokens: 1000,
      tailTokens: 900_000,
      isWarm: false,
      rates: { read: 1, write: 12.5 },
    }
    expect(priceOfReduction({ ...reduction, expectedRequests: 3 })).toMatchObject({ saves: 14_500, costs: 0 })
    fc.assert(
      fc.property(reductions, requests, (any, expected) => {
        const price = priceOfReduction({ ...any, isWarm: false, expectedRequests: expected })
        expect(price.costs).toBe(0)
        expect(price.net).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  it('[Y2] is never worse with more requests to come', () => {
    fc.assert(
      fc.property(reductions, requests, requests, (reduction, some, more) => {
        const price = (expected: number) => priceOfReduction({ ...reduction, expectedRequests: expected })
        expect(price(some + more).net).toBeGreaterThanOrEqual(price(some).net)
        if (price(some).isWorth) expect(price(some + more).isWorth).toBe(true)
      }),
    )
  })

  it('[Y3] is never worth it when nothing is freed', () => {
    fc.assert(
      fc.property(reductions, requests, fc.integer({ max: 0 }), (reduction, expected, freedTokens) => {
        expect(priceOfReduction({ ...reduction, freedTokens, expectedRequests: expected }).isWorth).toBe(
          false,
        )
        expect(breakEven({ ...reduction, freedTokens })).toBe(Infinity)
      }),
    )
  })

  it('[Y4] breaks even at the first request at which it does not lose', () => {
    fc.assert(
      fc.property(reductions, (reduction) => {
        const even = breakEven(reduction)
        const net = (expected: number) => priceOfReduction({ ...reduction, expectedRequests: expected }).net
        const rounding = 1e-9
        if (Number.isFinite(even)) expect(net(even)).toBeGreaterThanOrEqual(-rounding)
        if (Number.isFinite(even) && even > 1) expect(net(even - 1)).toBeLessThan(rounding)
        if (even === Infinity && reduction.freedTokens > 0) expect(net(1e6)).toBeLessThanOrEqual(0)
      }),
    )
  })
})

describe('the requests still expected', () => {
  it('[Y5] are as many as there were, at most until the room is used up, and at least the next one', () => {
    expect(expectedRequests({ requests: 30, growthTokens: 1000, roomTokens: 100_000 })).toBe(30)
    expect(expectedRequests({ requests: 30, growthTokens: 10_000, roomTokens: 100_000 })).toBe(10)
    expect(expectedRequests({ requests: 30, growthTokens: 0, roomTokens: 0 })).toBe(30)
    expect(expectedRequests({ requests: 0, growthTokens: 1000, roomTokens: -5 })).toBe(1)
  })
})
