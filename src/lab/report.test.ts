import { describe, expect, it } from 'vitest'
import type { Outcome } from './batch.ts'
import { noFigures, sharesOf, sum, type Figures } from './measures.ts'
import { reportOf, reportText } from './report.ts'

const figures = (more: Partial<Figures>): Figures => ({ ...noFigures, sessions: 1, requests: 1, ...more })

const played = (file: number, policy: string, client: string, own: Figures): Outcome => ({
  kind: 'played',
  file,
  policy,
  replayed: { name: `s${file}`, client, figures: { '5m': own, '1h': own }, edits: {}, problems: [] },
})

describe('figures', () => {
  it('[J17] add up, the largest apart, and what has no price is a number of its own', () => {
    const all = sum([
      figures({ read: 10, largest: 5, dollars: 1 }),
      figures({ read: 5, largest: 9, unpriced: 1, atoms: 4, remembered: 3 }),
    ])
    expect(all).toMatchObject({ sessions: 2, read: 15, largest: 9, dollars: 1, unpriced: 1, atoms: 4 })
    expect(sharesOf(all).retention).toBe(0.75)
    expect(sharesOf(noFigures)).toMatchObject({ equivalents: 0, hitRate: null, retention: null, words: null })
  })

  it('[J17] weigh a token by how it came', () => {
    const one = figures({
      fresh: 1000,
      read: 100,
      written5m: 10,
      written1h: 1,
      summaryInput: 50,
      summaryOutput: 2,
    })
    expect(sharesOf(one).equivalents).toBeCloseTo(1000 + 10 + 12.5 + 2 + 5 + 10, 9)
  })
})

describe('the report', () => {
  const outcomes: readonly Outcome[] = [
    played(2, 'standard', 'codex 2', figures({ fresh: 3_000_000 })),
    played(0, 'standard', 'codex 1', figures({ fresh: 1_000_000 })),
    played(1, 'standard', 'pi 1', figures({ fresh: 2_000_000 })),
    {
      kind: 'recorded',
      file: 1,
      client: 'pi 1',
      figures: figures({ read: 7_000_000, dollars: 3 }),
      losses: [],
    },
    { kind: 'about', file: 1, model: 'm', unpriced: { m: 2 }, contexts: [] },
    { kind: 'about', file: 2, model: 'm', unpriced: { m: 1 }, contexts: [] },
    { kind: 'failed', file: 3, message: 'broken.jsonl: no format that is known' },
  ]
  const report = reportOf(outcomes, ['standard'], { window: 9, model: 'm' })

  it('[J18] has a row a policy for all sessions, those held out, the others, and each client', () => {
    const costs = report.groups.map(({ name, rows }) => [name, rows[0]!.shares['1h'].equivalents / 1_000_000])
    expect(costs).toEqual([
      ['all sessions', 6],
      ['tuned on', 3],
      ['held out', 3],
      ['codex', 4],
      ['pi', 2],
    ])
    expect(report.groups.find(({ name }) => name === 'pi')?.recorded?.shares.equivalents).toBe(700_000)
    expect(report.groups[0]!.recorded).toBeNull()
  })

  it('[J18] reads as a table, with what could not be played', () => {
    const lines = reportText(report).split('\n')
    expect(lines.filter((line) => line.startsWith('standard')).length).toBe(5)
    expect(lines.find((line) => line.startsWith('as recorded'))).toContain('0.70*')
    expect(reportText(report)).toContain('broken.jsonl: no format that is known')
    expect(reportText(report)).toContain('no price is known for m (3 answers): in no sum of money')
  })
})
