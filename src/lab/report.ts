// The table of a batch: one row a policy, over all sessions, over those that nobody looked at while tuning and the
// others, for each recording program, and for each session. The same data as JSON.
import { defaults } from '../settings/defaults.ts'
import type { Outcome } from './batch.ts'
import type { CacheLoss } from './measuring/cache-losses.ts'
import type { Moment } from './playing/timeline.ts'
import { noFigures, sharesOf, sum, type Figures, type Shares } from './measures.ts'
import type { Lifetime, Replayed } from './replay.ts'

export interface Row {
  readonly policy: string
  readonly figures: Readonly<Record<Lifetime, Figures>>
  readonly shares: Readonly<Record<Lifetime, Shares>>
}

export interface Group {
  readonly name: string
  readonly sessions: number
  readonly rows: readonly Row[]
  /** What the clients themselves were charged; null unless all sessions of the group say so. */
  readonly recorded: { readonly figures: Figures; readonly shares: Shares } | null
}

/** One session under every policy. */
export interface SessionRow {
  readonly name: string
  readonly client: string
  readonly isHeldOut: boolean
  readonly recorded: { readonly figures: Figures; readonly shares: Shares } | null
  readonly losses: readonly CacheLoss[]
  readonly rows: readonly Row[]
  /** The window request by request, for the policies for which it was wanted. */
  readonly timelines: Readonly<Record<string, readonly Moment[]>>
}

export interface Report {
  readonly window: number
  readonly model: string
  readonly groups: readonly Group[]
  readonly sessions: readonly SessionRow[]
  readonly problems: readonly string[]
}

interface Session extends Pick<SessionRow, 'name' | 'client' | 'losses' | 'isHeldOut'> {
  readonly recorded: Figures | null
  readonly played: ReadonlyMap<string, Replayed>
}

export function reportOf(
  outcomes: readonly Outcome[],
  policies: readonly string[],
  settings: { readonly window: number; readonly model: string },
): Report {
  const sessions = sessionsOf(outcomes)
  const clients = [...new Set(sessions.map(({ client }) => client))].sort()
  const of = (name: string, isIn: (session: Session) => boolean): Group =>
    group(name, sessions.filter(isIn), policies)
  const groups = [
    of('all sessions', () => true),
    of('tuned on', ({ isHeldOut }) => !isHeldOut),
    of('held out', ({ isHeldOut }) => isHeldOut),
    ...clients.map((client) => of(client, (session) => session.client === client)),
  ]
  return {
    ...settings,
    groups: groups.filter(({ sessions: count }) => count > 0),
    sessions: sessions.map((session) => sessionRow(session, policies)),
    problems: problemsOf(outcomes),
  }
}

function sessionsOf(outcomes: readonly Outcome[]): readonly Session[] {
  const files = [...new Set(outcomes.map(({ file }) => file))].sort((a, b) => a - b)
  return files.flatMap((file) => {
    const own = outcomes.filter((outcome) => outcome.file === file)
    const played = own.flatMap((outcome) => (outcome.kind === 'played' ? [outcome] : []))
    const first = played[0]
    if (first === undefined) return []
    const recorded = own.find((outcome) => outcome.kind === 'recorded')
    return [
      {
        name: first.replayed.name,
        client: programOf(first.replayed.client),
        losses: recorded?.losses ?? [],
        isHeldOut: (file + 1) % defaults.lab.heldOutEvery === 0,
        recorded: recorded?.figures ?? null,
        played: new Map(played.map(({ policy, replayed }) => [policy, replayed])),
      },
    ]
  })
}

/** `claude-code 2.1.39` and `claude-code 2.1.7` are one program. */
const programOf = (client: string): string => client.split(' ')[0] ?? client

function sessionRow(session: Session, policies: readonly string[]): SessionRow {
  const { name, client, isHeldOut, losses, played } = session
  const { rows, recorded } = group(name, [session], policies)
  const timelines = Object.fromEntries(
    [...played].flatMap(([policy, { timeline }]) => (timeline === undefined ? [] : [[policy, timeline]])),
  )
  return { name, client, isHeldOut, recorded, losses, rows, timelines }
}

function group(name: string, sessions: readonly Session[], policies: readonly string[]): Group {
  const rows = policies.map((policy): Row => {
    const played = sessions.flatMap((session) => session.played.get(policy) ?? [])
    const figures = {
      '5m': sum(played.map((one) => one.figures['5m'])),
      '1h': sum(played.map((one) => one.figures['1h'])),
    }
    return { policy, figures, shares: { '5m': sharesOf(figures['5m']), '1h': sharesOf(figures['1h']) } }
  })
  const recorded = sessions.flatMap((session) => session.recorded ?? [])
  const total = recorded.length === sessions.length ? sum(recorded) : noFigures
  return {
    name,
    sessions: sessions.length,
    rows,
    recorded: total.sessions === 0 ? null : { figures: total, shares: sharesOf(total) },
  }
}

function problemsOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.kind === 'failed') return [outcome.message]
    if (outcome.kind === 'recorded') return []
    return outcome.replayed.problems.map((why) => `${outcome.replayed.name}, ${outcome.policy}: ${why}`)
  })
}

const titles = [
  'policy',
  'cost 5m',
  'cost 1h',
  '$ 5m',
  '$ 1h',
  'hits',
  'carried',
  'largest',
  'need',
  'bare',
  'edits',
  'words',
  'cuts',
  'lost',
  'refused',
] as const

/** Costs are millions of input-token equivalents; what can be seen is that of the longer lifetime. */
export function reportText(report: Report): string {
  const head = `window ${report.window}, ${report.model}; cost in millions of input-token equivalents, sizes in thousands of tokens\n`
  const tables = report.groups.map(({ name, sessions, rows, recorded }) => {
    const lines = rows.map(cells)
    if (recorded !== null) lines.unshift(recordedCells(recorded.figures, recorded.shares))
    return `\n${name} (${sessions})\n${aligned([[...titles], ...lines])}`
  })
  const problems = report.problems.slice(0, shownProblems).map((problem) => `  ${problem}\n`)
  const rest = report.problems.length - problems.length
  const more = rest > 0 ? `  and ${rest} more\n` : ''
  return head + tables.join('') + (problems.length === 0 ? '' : `\nproblems\n${problems.join('')}${more}`)
}

const shownProblems = 10

function cells({ policy, figures, shares }: Row): readonly string[] {
  const [short, long] = [shares['5m'], shares['1h']]
  const seen = figures['1h']
  const broken = seen.brokenOff === 0 ? '' : ` (${seen.brokenOff} broke off)`
  return [
    policy + broken,
    millions(short.equivalents),
    millions(long.equivalents),
    dollars(figures['5m'].dollars),
    dollars(seen.dollars),
    percent(long.hitRate),
    thousands(long.carried),
    thousands(seen.largest),
    percent(long.retention),
    percent(long.visibility),
    percent(long.readiness),
    percent(long.words),
    String(seen.reductions),
    String(seen.lostMoney),
    `${seen.rejected}/${seen.checked}`,
  ]
}

const none = '–'

function recordedCells(figures: Figures, shares: Shares): readonly string[] {
  const cost = `${millions(shares.equivalents)}*`
  const paid = figures.dollars === null ? none : `${dollars(figures.dollars)}*`
  const before = ['as recorded', cost, cost, paid, paid, percent(shares.hitRate), thousands(shares.carried)]
  const seen = [thousands(figures.largest)]
  return [...before, ...seen, ...titles.slice(before.length + seen.length).map(() => none)]
}

const million = 1_000_000
const thousand = 1000
const millions = (tokens: number): string => (tokens / million).toFixed(2)
const thousands = (tokens: number | null): string => (tokens === null ? none : (tokens / thousand).toFixed(1))
const dollars = (value: number | null): string => (value === null ? none : value.toFixed(2))
const percent = (share: number | null): string => (share === null ? none : (share * 100).toFixed(1))

export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')
  return rows.map((row) => `${line(row)}\n`).join('')
}
