// `pal replay` without a path: a person's own sessions of other programs, what they paid, what ours would have cost, and
// where the caches broke. It stops taking new sessions before two minutes are over and says what it left out.
import {
  billOf,
  findOwn,
  type BatchOptions,
  unpricedText,
  withoutCopies,
  type OwnBill,
  type BillLine,
  type Outcome,
  type OwnSessions,
  type Source,
} from '../../lab/index.ts'
import { defaults } from '../../settings/defaults.ts'
import { complain, exits, fail, type Exit, type Refusal } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { dollars, table, whole, right } from '../terminal/tables.ts'
import { reportFor, writePage } from './reporting.ts'

export interface OwnFlags {
  /** A day as 2026-11-01, or days back as 7d. */
  readonly since?: string | undefined
  readonly limit?: number | undefined
  readonly json?: boolean | undefined
  readonly report?: string | undefined
}

type Play = (
  sources: readonly Source[],
  isOver: () => boolean,
) => Promise<{ readonly outcomes: readonly Outcome[] } | Refusal>

const names = { whole: 'append-only', ours: 'standard' } as const

export async function ownSessions(flags: OwnFlags, options: BatchOptions, io: Io, play: Play): Promise<Exit> {
  const since = sinceOf(flags.since)
  if (since === null) return fail(io, exits.usage, '--since must be a day as 2026-11-01, or days back as 7d')
  const found = await findOwn(io, { since, limit: flags.limit ?? defaults.lab.ownLimit })
  if (found.sessions.length === 0) return fail(io, exits.failed, nothingFound(found))
  const played = await playFiles(
    found.sessions.map(({ path }) => path),
    play,
  )
  if ('exit' in played) return complain(io, played)
  const report = reportFor(played.outcomes, options)
  const bill = billOf(report, names)
  const skipped = skippedOf(found, played.outcomes)
  io.out(
    flags.json === true
      ? `${safeJson({ bill, skipped, folders: found.folders, report }, 2)}\n`
      : `${textOf(bill, io.columns)}${skipped.length === 0 ? '' : `\nleft out\n${skipped.map((line) => `  ${safeLine(line)}\n`).join('')}`}`,
  )
  const refused = await writePage(flags.report, report, options, true)
  return refused === null ? exits.done : complain(io, refused)
}

/** As many as the time allows. */
async function playFiles(files: readonly string[], play: Play): ReturnType<Play> {
  const began = Date.now()
  const sources = files.map((path): Source => ({ kind: 'file', path }))
  return play(await withoutCopies(sources), () => Date.now() - began > defaults.lab.ownMs)
}

const day = 86_400_000

export function sinceOf(text: string | undefined): number | undefined | null {
  if (text === undefined) return undefined
  const days = /^(\d+)d$/.exec(text)?.[1]
  if (days !== undefined) return Date.now() - Number(days) * day
  const [, year, month, date] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number)
  if (year === undefined || month === undefined || date === undefined) return null
  // It begins by the person's clock, as the days of the tables do.
  const at = new Date(year, month - 1, date)
  // One that is in no calendar would be read as one of the next month.
  return at.getFullYear() === year && at.getMonth() === month - 1 && at.getDate() === date
    ? at.getTime()
    : null
}

const nothingFound = ({ folders, passedOver }: OwnSessions): string =>
  `no session of Claude Code, Codex or pi was found in ${folders.join(', ')}${passedOver.length === 0 ? '' : ` (${passedOver.map(({ why, count }) => `${count} ${why}`).join(', ')})`}. Name a recording or a folder, or try --sample`

function skippedOf(found: OwnSessions, outcomes: readonly Outcome[]): readonly string[] {
  const seen = new Set(outcomes.map(({ file }) => file))
  const late = found.sessions.length - seen.size
  const failed = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [outcome.message] : []))
  const { ownMs } = defaults.lab
  return [
    ...found.passedOver.map(({ why, count }) => `${count} ${why}`),
    ...(late > 0
      ? [`${late} because ${ownMs / 1000} seconds were over; --limit and --since choose others`]
      : []),
    ...failed,
    ...found.missing.map((folder) => `${folder} is not there`),
  ]
}

function textOf(bill: OwnBill, room: number): string {
  const { programs } = bill
  const rows = programs.map((line) => {
    const isPaid = line.counted > 0 && line.unpriced < line.requests
    const money = (value: number): string => (isPaid ? dollars(value) : '–')
    return [
      line.program,
      String(line.sessions),
      whole(line.requests),
      money(line.paid),
      money(line.whole),
      money(line.ours),
      isPaid ? change(line.paid, line.ours) : '–',
    ]
  })
  const losses = programs.flatMap(({ program, losses: own }) =>
    own.map(({ cause, times, tokens }) => [program, cause, String(times), whole(tokens)]),
  )
  const lost =
    losses.length === 0
      ? ''
      : `\nwhere the caches broke\n${table(['program', 'because of', right('times'), right('tokens sent again')], losses, room)}`
  const titles = [
    right('sessions'),
    right('requests'),
    right('paid'),
    right('everything sent'),
    right('ours'),
  ]
  return `${verdict(bill)}\n${table(['program', ...titles, right('saved')], rows, room)}${notesOf(bill)}${lost}`
}

/** What the newest of these files would have cost with our policy, in a line or two; as many as the time allows. */
export async function verdictOn(
  files: readonly string[],
  options: BatchOptions,
  play: Play,
): Promise<string | Refusal> {
  const played = await playFiles(files.slice(0, defaults.lab.ownLimit), play)
  if ('exit' in played) return played
  const report = reportFor(played.outcomes, options)
  const bill = billOf(report, names)
  const counted = bill.programs.reduce((sum, line) => sum + line.counted, 0)
  const some =
    counted < files.length
      ? `That is of ${whole(counted)} of ${whole(files.length)} files; pal replay says more.\n`
      : ''
  return `${verdict(bill)}${some}`
}

function verdict({ paid, ours }: OwnBill): string {
  if (paid === 0)
    return 'nothing to compare: no session has counts and a known price, and could be played to its end\n'
  return `paid ${dollars(paid)}; with our policy ${dollars(ours)} (${change(paid, ours)})\n`
}

function notesOf({ programs, unpriced }: OwnBill): string {
  const all = (of: (line: BillLine) => number): number => programs.reduce((sum, line) => sum + of(line), 0)
  const [rounds, unknown] = [all(({ moreRounds }) => moreRounds), all(({ outputUnknown }) => outputUnknown)]
  const partly = programs
    .filter(({ counted, sessions }) => counted < sessions)
    .map(
      ({ program, counted, sessions }) =>
        `${program}: ${counted} of ${sessions} sessions are in the money; the others have no counts, or could not be played to their end.\n`,
    )
  return [
    "\nPaid: by the provider's counts, each request at the prices of the model that answered it, answers included.\n",
    'Everything sent, ours: the same sessions played again, under the cache lifetime the program used, by our own count of tokens.\n',
    rounds === 0
      ? ''
      : `Ours includes ${whole(rounds)} rounds in which something is looked up again that was no longer in sight.\n`,
    unknown === 0
      ? ''
      : `${whole(unknown)} answers have no final count of their output: it is left out on both sides.\n`,
    unpricedText(unpriced).trimStart(),
    ...partly,
  ].join('')
}

function change(paid: number, ours: number): string {
  const share = paid === 0 ? 0 : ours / paid - 1
  return `${share <= 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(0)} %`
}
