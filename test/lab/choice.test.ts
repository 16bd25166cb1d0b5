import { expect, it } from 'vitest'
import { chooseDefault } from '../../scripts/choice.ts'
import { noFigures, sharesOf, type Figures } from '../../src/lab/measures.ts'
import type { Report } from '../../src/lab/report.ts'

const report = (all: Readonly<Record<string, Partial<Figures>>>): Report => {
  const rows = Object.entries(all).map(([policy, more]) => {
    const figures = { ...noFigures, requests: 100, ...more }
    const both = { '5m': figures, '1h': figures }
    return { policy, figures: both, shares: { '5m': sharesOf(figures), '1h': sharesOf(figures) } }
  })
  const groups = [{ name: 'all', sessions: 1, rows, recorded: null }]
  return { window: 1, model: 'm', groups, sessions: [], agreement: [], unpriced: {}, problems: [] }
}

it('[J26] the default has the least total over all settings, with at most a tenth more rounds', () => {
  const small = report({
    fidelity: { fresh: 900, rounds: 2 },
    middle: { fresh: 500, recovery: 100, rounds: 11 },
    economy: { fresh: 100, recovery: 300, rounds: 20 },
  })
  const large = report({
    fidelity: { fresh: 900, rounds: 2 },
    middle: { fresh: 600, recovery: 50, rounds: 8 },
    economy: { fresh: 100, recovery: 300, rounds: 20 },
  })
  expect(chooseDefault([small], ['fidelity'], 'held out').candidates).toEqual([])
  const names = ['fidelity', 'middle', 'economy', 'never played']
  const { chosen, candidates } = chooseDefault([small, large], names, 'all')
  expect(chosen).toBe('middle')
  expect(candidates.map(({ policy, isAllowed }) => [policy, isAllowed])).toEqual([
    ['fidelity', true],
    ['middle', true],
    ['economy', false],
  ])
  expect(candidates[1]).toMatchObject({ total: 2500, moreRounds: 38 / 400 })
  // In the smaller window alone it adds more rounds than are allowed.
  expect(chooseDefault([small], names, 'all').chosen).toBe('fidelity')
})
