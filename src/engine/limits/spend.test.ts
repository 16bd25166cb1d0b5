import { describe, expect, it } from 'vitest'
import { modelTable } from '../../model/models.ts'
import { answered, entriesOf, said } from '../../testing/builders.ts'
import type { Fact } from '../../transcript/fact.ts'
import { seq, sessionId } from '../../transcript/ids.ts'
import { capRefusal, nothingSpent, spend, tokenRates, totalOf } from './spend.ts'

const table = modelTable()
const model = 'claude-sonnet-4-6'
const usage = { input: 1000, cacheRead: 2000, cacheWrite: 3000, output: 100 }
const spentOn = (...facts: readonly Fact[]) =>
  entriesOf(...facts).reduce((spent, entry) => spend(spent, entry, table), nothingSpent)

describe('what was spent', () => {
  it('[E7] is folded from answers and ended forks, and a rewind gives nothing back', () => {
    const end: Fact = {
      type: 'fork-end',
      child: sessionId('c'),
      purpose: 'agent',
      outcome: 'done',
      text: '',
      spent: { tokens: 500, dollars: 0.25 },
    }
    const spent = spentOn(said('go'), answered('a', { model, usage }), end, { type: 'rewind', to: seq(0) })
    const dollars = (1000 * 3 + 2000 * 0.3 + 3000 * 3.75 + 100 * 15) / 1e6
    expect(spent).toMatchObject({ requests: 1, input: 1000, output: 100, unpriced: 0 })
    expect(totalOf(spent).tokens).toBe(6600)
    expect(totalOf(spent).dollars).toBeCloseTo(dollars + 0.25, 10)
  })

  it('[E7] counts the tokens of a model without a price and says that its dollars are missing', () => {
    const spent = spentOn(said('go'), answered('a', { model: 'nobody-knows', usage }))
    expect(spent).toMatchObject({ dollars: 0, unpriced: 1, input: 1000 })
    expect(tokenRates(table, 'nobody-knows', '5m', 100)).toBe(null)
  })
})

describe('a cap', () => {
  const spent = { tokens: 900, dollars: 0.9 }
  const next = { model, tokens: 100, cached: 0, lifetime: '5m' } as const

  it('[E7] is met exactly or refused with the numbers', () => {
    expect(capRefusal({}, spent, next, table)).toBe(null)
    expect(capRefusal({ tokens: 1000 }, spent, next, table)).toBe(null)
    expect(capRefusal({ tokens: 999 }, spent, next, table)).toMatch(/100 tokens, 900 are spent.*999/)
    expect(capRefusal({ dollars: 0.9 }, spent, next, table)).toMatch(
      /at least \$0\.0004, \$0\.9000 are spent/,
    )
  })

  it('[E7] takes the least that a request can cost: cached tokens are read, others written or sent plain', () => {
    const tokens = 1_000_000
    const least = (cached: number, lifetime: '5m' | '1h' | null): string =>
      capRefusal({ dollars: 0 }, { tokens: 0, dollars: 0 }, { model, tokens, cached, lifetime }, table) ?? ''
    expect(least(tokens, '5m')).toContain('at least $0.3000')
    expect(least(0, '5m')).toContain('at least $3.7500')
    expect(least(0, '1h')).toContain('at least $6.0000')
    expect(least(0, null)).toContain('at least $3.0000')
  })
})
