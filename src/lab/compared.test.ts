import { expect, it } from 'vitest'
import { comparedText, comparedWith } from './compared.ts'
import type { Row, SessionRow, Report } from './report.ts'
import { noFigures, sharesOf } from './measures.ts'

/** A session that cost so much under each policy, at either lifetime. */
function session(name: string, costs: Readonly<Record<string, number>>): SessionRow {
  const rows = Object.entries(costs).map(([policy, fresh]): Row => {
    const figures = { ...noFigures, fresh }
    const shares = sharesOf(figures)
    return { policy, figures: { '5m': figures, '1h': figures }, shares: { '5m': shares, '1h': shares } }
  })
  return { name, client: 'x', isHeldOut: false, recorded: null, losses: [], rows, timelines: {} }
}

it('[LB14] counts sessions that cost no more, those that are more expensive, and finds the most expensive', () => {
  const sessions = [
    session('a', { off: 1000, on: 500 }),
    session('b', { off: 1000, on: 1000 }),
    session('c', { off: 1000, on: 1020 }),
    session('d', { off: 1000, on: 1200 }),
  ]
  const report: Report = {
    window: 1,
    model: 'm',
    groups: [{ name: 'all', sessions: 4, rows: sessions[0]!.rows, recorded: null }],
    sessions,
    agreement: [],
    unpriced: {},
    problems: [],
  }
  const [short] = comparedWith(report, 'off')
  expect(short).toMatchObject({
    policy: 'on',
    lifetime: '5m',
    sessions: 4,
    noMoreExpensive: 2,
    moreExpensive: 1,
    worst: 1.2,
  })
  expect(short!.sum).toBeCloseTo(0.93, 9)
  expect(comparedText(comparedWith(report, 'off'), 'off')).toContain('2 of 4')
})
