// The table of a batch: one row a policy, over all sessions, over those that nobody looked at while tuning and the
// others, for each recording program, and for each session. The same data as JSON.
import { defaults } from '../settings/defaults.ts'
import { recordedModel, type About, type Outcome, type Played } from './batch.ts'
import { noFigures, sharesOf, sum, type Figures, type Shares } from './measures.ts'
import type { CacheLoss } from './measuring/paid.ts'
import { familyOf } from './playing/setup.ts'
import type { Moment } from './playing/timeline.ts'
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
  /** Null where each model has its own. */
  readonly window: number | null
  readonly model: string
  readonly groups: readonly Group[]
  readonly sessions: readonly SessionRow[]
  /** How far our sizes are from what providers counted, model family by model family. */
  readonly agreement: readonly Agreement[]
  /** Models without a known price, with how many answers each: in no sum of money. */
  readonly unpriced: Readonly<Record<string, number>>
  readonly problems: readonly string[]
}

interface Session extends Pick<SessionRow, 'name' | 'client' | 'losses' | 'isHeldOut'> {
  readonly recorded: Figures | null
  readonly played: ReadonlyMap<string, Replayed>
}

/** What was played, as figures by group. */
export function reportOf(
  outcomes: readonly Outcome[],
  policies: readonly string[],
  settings: Pick<Report, 'window' | 'model'>,
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
    agreement: agreementOf(outcomes),
    unpriced: unpricedIn(outcomes),
    problems: problemsOf(outcomes),
  }
}

function unpricedIn(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
  const all = new Map<string, number>()
  for (const outcome of outcomes)
    if (outcome.kind === 'about')
      for (const [model, count] of Object.entries(outcome.unpriced))
        all.set(model, (all.get(model) ?? 0) + count)
  return Object.fromEntries(all)
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
    if (outcome.kind !== 'played') return []
    return outcome.replayed.problems.map((why) => `${outcome.replayed.name}, ${outcome.policy}: ${why}`)
  })
}

const titles = [
  'policy',
  '$ 5m',
  '$ 1h',
  'total 5m',
  'total 1h',
  'cost 5m',
  'cost 1h',
  'again 5m',
  'again 1h',
  'rounds',
  'hits',
  'carried',
  'largest',
  'need',
  'bare',
  'edits',
  'words',
  'once',
  'cuts',
  'lost',
  'refused',
] as const

const legend = `$: what would be paid, answers included where their output is recorded. cost: input and summaries, in millions of input-token equivalents.
again: looking up once more what was forgotten and needed. total: both. rounds: look-ups for each hundred requests (5m/1h).
need, edits, words, once: per cent in sight of what later answers needed, of texts that edits replace, of the person's words, of what nothing shows again.
`

/** Costs are millions of input-token equivalents; what can be seen is that of the longer lifetime. */
export function reportText(report: Report): string {
  const window = report.window === null ? "each model's window" : `window ${report.window}`
  const head = `${window}, ${pricesText(report.model)}; sizes in thousands of tokens\n${legend}`
  const tables = report.groups.map(({ name, sessions, rows, recorded }) => {
    const lines = rows.map(cells)
    if (recorded !== null) lines.unshift(recordedCells(recorded.figures, recorded.shares))
    return `\n${name} (${sessions})\n${aligned([[...titles], ...lines])}`
  })
  const problems = report.problems.slice(0, shownProblems).map((problem) => `  ${problem}\n`)
  const rest = report.problems.length - problems.length
  const more = rest > 0 ? `  and ${rest} more\n` : ''
  const trouble = problems.length === 0 ? '' : `\nproblems\n${problems.join('')}${more}`
  return head + tables.join('') + agreementText(report.agreement) + unpricedText(report.unpriced) + trouble
}

const pricesText = (model: string): string =>
  model === recordedModel ? 'rules and prices of each recorded model' : `rules and prices of ${model}`

/** Which answers of a report have no price, by model; empty where all have one. */
export function unpricedText(unpriced: Report['unpriced']): string {
  const models = Object.entries(unpriced).map(([model, count]) => `${model} (${count} answers)`)
  return models.length === 0 ? '' : `\nno price is known for ${models.join(', ')}: in no sum of money\n`
}

function agreementText(agreement: readonly Agreement[]): string {
  if (agreement.length === 0) return ''
  const head = ['family', 'sessions', 'requests', 'at the median', 'tenth', 'nine tenths']
  const rows = agreement.map(({ family, sessions, requests, median, low, high }) => [
    family,
    String(sessions),
    String(requests),
    ...[median, low, high].map((share) => share.toFixed(3)),
  ])
  return `\nour sizes to those the providers counted, everything sent, up to the first reduction\n${aligned([head, ...rows])}`
}

const shownProblems = 10

function cells({ policy, figures, shares }: Row): readonly string[] {
  const [short, long] = [shares['5m'], shares['1h']]
  const seen = figures['1h']
  const broken = seen.brokenOff === 0 ? '' : ` (${seen.brokenOff} broke off)`
  return [
    policy + broken,
    dollarsIn(figures['5m']),
    dollarsIn(seen),
    millions(short.total),
    millions(long.total),
    millions(short.equivalents),
    millions(long.equivalents),
    millions(figures['5m'].recovery),
    millions(seen.recovery),
    `${percent(short.moreRounds)}/${percent(long.moreRounds)}`,
    percent(long.hitRate),
    thousands(long.carried),
    thousands(seen.largest),
    percent(long.retention),
    percent(long.visibility),
    percent(long.readiness),
    percent(long.words),
    percent(long.saidOnce),
    String(seen.reductions),
    String(seen.lostMoney),
    `${seen.rejected}/${seen.checked}`,
  ]
}

const none = '–'

function recordedCells(figures: Figures, shares: Shares): readonly string[] {
  const cost = `${millions(shares.equivalents)}*`
  const paid = `${dollarsIn(figures)}*`
  const before = ['as recorded', paid, paid, cost, cost, cost, cost, none, none, none]
  const seen = [percent(shares.hitRate), thousands(shares.carried), thousands(figures.largest)]
  return [...before, ...seen, ...titles.slice(before.length + seen.length).map(() => none)]
}

/** With what looking up again costs; a plus where requests without a known price are left out. */
function dollarsIn({ dollars, recoveryDollars, unpriced, requests }: Figures): string {
  if (requests > 0 && unpriced === requests) return none
  return `${(dollars + recoveryDollars).toFixed(2)}${unpriced > 0 ? '+' : ''}`
}

const million = 1_000_000
const thousand = 1000
const millions = (tokens: number): string => (tokens / million).toFixed(2)
const thousands = (tokens: number | null): string => (tokens === null ? none : (tokens / thousand).toFixed(1))
const percent = (share: number | null): string => (share === null ? none : (share * 100).toFixed(1))

export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')
  return rows.map((row) => `${line(row)}\n`).join('')
}

/**
 * How far the sizes of a replay are from what the providers counted: each request of a recording with counts, sent whole, against
 * the recorded one, up to the client's first reduction.
 */
interface Agreement {
  readonly family: string
  readonly sessions: number
  readonly requests: number
  /** Our size over the recorded one: at the median, and where a tenth lies below and above. */
  readonly median: number
  readonly low: number
  readonly high: number
}

const tenth = 0.1

/** Nothing where no policy was played that sends everything. */
function agreementOf(outcomes: readonly Outcome[]): readonly Agreement[] {
  const sizes = new Map<number, readonly number[]>()
  for (const outcome of outcomes) if (isWhole(outcome)) sizes.set(outcome.file, outcome.replayed.sizes ?? [])
  const families = new Map<string, { sessions: number; ratios: number[] }>()
  for (const outcome of outcomes) {
    if (outcome.kind !== 'about') continue
    const ratios = ratiosOf(outcome, sizes.get(outcome.file) ?? [])
    if (ratios.length === 0) continue
    const { name } = familyOf(outcome.model)
    const family = families.get(name) ?? { sessions: 0, ratios: [] }
    families.set(name, family)
    family.sessions += 1
    family.ratios.push(...ratios)
  }
  return [...families].map(([family, { sessions, ratios }]) => {
    const sorted = ratios.toSorted((a, b) => a - b)
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)]!
    return { family, sessions, requests: sorted.length, median: at(0.5), low: at(tenth), high: at(1 - tenth) }
  })
}

const isWhole = (outcome: Outcome): outcome is Played =>
  outcome.kind === 'played' && outcome.replayed.sizes !== undefined

const ratiosOf = ({ contexts }: About, sizes: readonly number[]): readonly number[] =>
  contexts.flatMap((tokens, step) => {
    const ours = sizes[step]
    return tokens === null || tokens === 0 || ours === undefined ? [] : [ours / tokens]
  })
