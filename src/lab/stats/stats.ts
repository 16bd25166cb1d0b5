// Figures of many sessions: by day, by project, by purpose of a fork and by layer. Plain sums, so that sessions can be
// taken in any order. A fork that has a transcript of its own is counted there, any other by what its parent says.
import { defaults } from '../../settings/defaults.ts'
import { added, noGain, type LayerGain } from './gains.ts'
import {
  noBill,
  noCompactions,
  type Bill,
  type Compactions,
  type ForkEnd,
  type SessionStats,
} from './session-stats.ts'

export interface StatsLine {
  readonly name: string
  readonly sessions: number
  readonly bill: Bill
  /** Share of the prompt that was read from the cache; null where nothing was sent. */
  readonly hitRate: number | null
}

export interface PurposeLine extends StatsLine {
  readonly forks: number
  /** Calls that ended without what they were made for, and what they took. */
  readonly wasted: number
  readonly wastedTokens: number
}

export interface LayerLine extends LayerGain {
  readonly name: string
  /** What was saved less what had to be written again, in dollars. */
  readonly avoided: number
}

export interface Stats {
  readonly sessions: number
  readonly turns: number
  readonly total: Bill
  readonly hitRate: number | null
  readonly cacheBreaks: number
  readonly days: readonly StatsLine[]
  readonly projects: readonly StatsLine[]
  readonly purposes: readonly PurposeLine[]
  readonly layers: readonly LayerLine[]
  readonly compactions: Compactions
  /** Sessions in which so many summaries failed in a row that no model is asked any more. */
  readonly openBreakers: number
  readonly recalls: SessionStats['recalls']
}

export interface ProjectSession {
  readonly project: string
  readonly stats: SessionStats
}

/** Figures of sessions over time. */
export function statsOf(all: readonly ProjectSession[]): Stats {
  const bills = all.map(({ project, stats }) => ({ project, stats, bill: sumOf(stats.days.values()) }))
  const apart = apartOf(all)
  const total = sumOf([...bills, ...apart].map(({ bill }) => bill))
  const compactions = all.reduce((sum, { stats }) => addedCompactions(sum, stats.compactions), noCompactions)
  return {
    sessions: all.filter(({ stats }) => stats.purpose === 'main').length,
    turns: all.reduce((sum, { stats }) => sum + stats.turns, 0),
    total,
    hitRate: hitRateOf(total),
    cacheBreaks: all.reduce((sum, { stats }) => sum + stats.cacheBreaks, 0),
    days: linesOf(
      all.flatMap(({ stats }) => [...stats.days].map(([name, bill]) => ({ name, bill }))),
      apart.map(({ day: name, bill }) => ({ name, bill })),
    ),
    projects: linesOf(
      bills.map(({ project: name, bill }) => ({ name, bill })),
      apart.map(({ project: name, bill }) => ({ name, bill })),
    ),
    purposes: purposesOf(bills, apart),
    layers: layersOf(all),
    compactions,
    recalls: all.reduce((sum, { stats }) => added(sum, stats.recalls), { recalled: 0, used: 0 }),
    openBreakers: all.filter(({ stats }) => stats.compactions.openRun >= defaults.compaction.failures).length,
  }
}

const sumOf = (bills: Iterable<Bill>): Bill => [...bills].reduce(added, noBill)

/** What forks without a transcript cost, as the session that ran them wrote it down: how many requests it took is not said. */
function apartOf(all: readonly ProjectSession[]) {
  const known = new Set(all.map(({ stats }) => stats.session))
  return all.flatMap(({ project, stats }) =>
    stats.forks
      .filter(({ child }) => !known.has(child))
      .map(({ day, purpose, dollars }) => ({ project, day, purpose, bill: { ...noBill, dollars } })),
  )
}

function hitRateOf({ input, cacheRead, cacheWrite }: Bill): number | null {
  const prompt = input + cacheRead + cacheWrite
  return prompt === 0 ? null : cacheRead / prompt
}

interface NamedBill {
  readonly name: string
  readonly bill: Bill
}

/** `apart` is paid for and is no session. */
function linesOf(all: readonly NamedBill[], apart: readonly NamedBill[]): readonly StatsLine[] {
  const lines = new Map<string, { sessions: number; bill: Bill }>()
  const add = ({ name, bill }: NamedBill, sessions: number): void => {
    const before = lines.get(name) ?? { sessions: 0, bill: noBill }
    lines.set(name, { sessions: before.sessions + sessions, bill: added(before.bill, bill) })
  }
  for (const one of all) add(one, 1)
  for (const one of apart) add(one, 0)
  return [...lines]
    .map(([name, { sessions, bill }]) => ({ name, sessions, bill, hitRate: hitRateOf(bill) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function purposesOf(
  all: readonly { readonly stats: SessionStats; readonly bill: Bill }[],
  apart: ReturnType<typeof apartOf>,
): readonly PurposeLine[] {
  const ends = all.flatMap(({ stats }) => stats.forks)
  const lines = linesOf(
    all.map(({ stats, bill }) => ({ name: stats.purpose, bill })),
    apart.map(({ purpose: name, bill }) => ({ name, bill })),
  )
  return lines.map((line) => {
    const own = ends.filter(({ purpose }) => purpose === line.name)
    const wasted = own.filter(isWasted)
    return {
      ...line,
      forks: own.length,
      wasted: wasted.length,
      wastedTokens: wasted.reduce((sum, { tokens }) => sum + tokens, 0),
    }
  })
}

const isWasted = ({ outcome }: ForkEnd): boolean => outcome !== 'done'

function layersOf(all: readonly ProjectSession[]): readonly LayerLine[] {
  const layers = new Map<string, LayerGain>()
  for (const { stats } of all)
    for (const [name, gain] of stats.layers) layers.set(name, added(layers.get(name) ?? noGain, gain))
  return [...layers]
    .map(([name, gain]) => ({ name, ...gain, avoided: gain.saved - gain.rewritten }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function addedCompactions(left: Compactions, right: Compactions): Compactions {
  const { sources, ...counts } = left
  const { sources: others, ...more } = right
  const all = { ...sources }
  for (const [name, count] of Object.entries(others)) all[name] = (all[name] ?? 0) + count
  return {
    ...added(counts, more),
    sources: all,
    longestRun: Math.max(left.longestRun, right.longestRun),
    openRun: Math.max(left.openRun, right.openRun),
  }
}
