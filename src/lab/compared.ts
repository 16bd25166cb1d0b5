// Policies compared with one of them, session by session: a sum can hide that most pay so that a few gain.
import type { Lifetime } from './replay.ts'
import { aligned, type Report } from './report.ts'

export interface Compared {
  readonly policy: string
  readonly lifetime: Lifetime
  readonly sessions: number
  /** Sessions that cost no more than under the other policy. */
  readonly noMoreExpensive: number
  /** Sessions that cost more than `moreExpensiveShare` of it. */
  readonly moreExpensive: number
  /** The most expensive, as a share of what it cost under the other policy. */
  readonly worst: number
  /** All sessions together, as a share. */
  readonly sum: number
}

/** Above this a session counts as moreExpensive: the goal that the cheap layers are held to. */
const moreExpensiveShare = 1.03
/** What rounding does not tell apart. */
const same = 1 + 1e-9

/** Every policy of a report against one of them, under both cache lifetimes. */
export function comparedWith(report: Report, other: string): readonly Compared[] {
  const lifetimes: readonly Lifetime[] = ['5m', '1h']
  const names = report.groups[0]?.rows.map(({ policy }) => policy) ?? []
  return names
    .filter((policy) => policy !== other)
    .flatMap((policy) => lifetimes.map((lifetime) => compared(report, policy, other, lifetime)))
}

function compared(report: Report, policy: string, other: string, lifetime: Lifetime): Compared {
  const pairs = report.sessions.flatMap(({ rows }) => {
    const costOf = (name: string): number | undefined =>
      rows.find((row) => row.policy === name)?.shares[lifetime].equivalents
    const [mine, theirs] = [costOf(policy), costOf(other)]
    return mine === undefined || theirs === undefined || theirs === 0 ? [] : [{ mine, theirs }]
  })
  const ratios = pairs.map(({ mine, theirs }) => mine / theirs)
  const total = (of: (pair: (typeof pairs)[number]) => number): number =>
    pairs.reduce((all, pair) => all + of(pair), 0)
  return {
    policy,
    lifetime,
    sessions: pairs.length,
    noMoreExpensive: ratios.filter((ratio) => ratio <= same).length,
    moreExpensive: ratios.filter((ratio) => ratio > moreExpensiveShare).length,
    worst: Math.max(0, ...ratios),
    sum: total(({ mine }) => mine) / total(({ theirs }) => theirs),
  }
}

/** The same as a table. */
export function comparedText(rows: readonly Compared[], other: string): string {
  const head = [
    'policy',
    'lifetime',
    'in sum',
    'no more expensive',
    `more expensive by over ${percent(moreExpensiveShare - 1)}`,
    'most expensive',
  ]
  const lines = rows.map((row) => [
    row.policy,
    row.lifetime,
    row.sum.toFixed(3),
    `${row.noMoreExpensive} of ${row.sessions}`,
    String(row.moreExpensive),
    row.worst.toFixed(3),
  ])
  return `\nsession by session, as a share of what it costs under ${other}\n${aligned([head, ...lines])}`
}

const percent = (share: number): string => `${Math.round(share * 100)}%`
