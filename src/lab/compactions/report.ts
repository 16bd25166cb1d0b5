// What compactions kept, for each client: the vendor's text, ours in its room and in rooms of several sizes.
import type { PlanOptions } from '../../compaction/ladder.ts'
import type { Fold } from '../../projection/fold.ts'
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Recording } from '../recording.ts'
import { added } from '../stats/gains.ts'
import { wantedAt, type Wanted } from './details.ts'
import { judgedBy, noScore, scoreOf, typedIn, type Score } from './judge.ts'
import { recordedMoments, simulatedMoments, type CompactionMoment } from './moments.ts'
import { foldOf, keptWithin } from './ours.ts'

/** One text at one moment. `room` is null for the vendor's own. */
export interface Verdict {
  readonly session: string
  readonly client: string
  readonly isHeldOut: boolean
  readonly turn: number
  readonly isRecorded: boolean
  readonly who: 'vendor' | 'ours'
  /** Tokens it may take; `same` for as many as the vendor's text took. */
  readonly room: number | 'same' | null
  readonly score: Score
  /** Tokens of what a person said and that did not all fit; 0 where it did. */
  readonly wordsTooLong: number
  /** Why there is no compaction of ours. */
  readonly refused?: string | undefined
}

export interface JudgeOptions {
  readonly isHeldOut: boolean
  readonly simulated: boolean
  readonly rooms?: readonly number[] | undefined
  readonly plan?: Partial<PlanOptions> | undefined
}

/** The program that wrote a recording. */
export const clientOf = ({ client }: Recording): string => client.split(' ', 1)[0]!

/** Every text at every moment of a recording. */
export function* verdictsOf(recording: Recording, options: JudgeOptions): Generator<Verdict> {
  const moments = [
    ...recordedMoments(recording),
    ...(options.simulated ? simulatedMoments(recording, defaults.lab.compactions.perSession) : []),
  ]
  for (const moment of moments) yield* verdictsAt(recording, moment, options)
}

function* verdictsAt(
  recording: Recording,
  moment: CompactionMoment,
  options: JudgeOptions,
): Generator<Verdict> {
  const wanted = wantedAt(moment)
  const about = {
    session: recording.name,
    client: clientOf(recording),
    isHeldOut: options.isHeldOut,
    turn: moment.turn,
    isRecorded: moment.isRecorded,
  }
  const rooms: (readonly [number | 'same', number])[] = (options.rooms ?? defaults.lab.compactions.rooms).map(
    (room) => [room, room],
  )
  if (moment.vendor !== null) {
    const size = estimateText(moment.vendor)
    const score = scoreOf(moment.vendor, size, wanted)
    yield { ...about, who: 'vendor', room: null, score, wordsTooLong: 0 }
    rooms.unshift(['same', size])
  }
  const fold = foldOf(moment.before)
  for (const [room, tokens] of rooms) {
    const own = ownVerdict(fold, tokens, wanted, options.plan)
    yield { ...about, who: 'ours', room, ...own }
  }
}

function ownVerdict(
  fold: Fold,
  tokens: number,
  wanted: Wanted,
  plan: Partial<PlanOptions> | undefined,
): Pick<Verdict, 'score' | 'wordsTooLong' | 'refused'> {
  const kept = keptWithin(fold, tokens, plan)
  if ('why' in kept) return { score: scoreOf('', 0, wanted), wordsTooLong: 0, refused: kept.why }
  const said = wanted.typed.reduce((sum, text) => sum + estimateText(text), 0)
  const score = scoreOf(kept.text, kept.tokens, wanted, said <= defaults.dial.within.wordsShare * tokens)
  return { score, wordsTooLong: score.typedKept < score.typedChars ? said : 0 }
}

export interface CompactionRow {
  readonly group: string
  readonly text: string
  readonly score: Score
}

export interface CompactionReport {
  readonly rows: readonly CompactionRow[]
  /** Moments at which the user's words did not all stay, with their size. */
  readonly tooLong: readonly string[]
  readonly refused: readonly string[]
}

/** Clients among the sessions for development, then those held out; simulated boundaries apart. */
export function compactionReport(verdicts: readonly Verdict[]): CompactionReport {
  const rows = new Map<string, CompactionRow>()
  for (const verdict of [...verdicts].sort((a, b) => compare(groupOf(a), groupOf(b)))) {
    const { who, room, score } = verdict
    const text =
      who === 'vendor' ? 'its own text' : room === 'same' ? 'ours, same room' : `ours, ${thousands(room!)}`
    const key = `${groupOf(verdict)}\n${text}`
    rows.set(key, { group: groupOf(verdict), text, score: added(rows.get(key)?.score ?? noScore, score) })
  }
  const at = ({ session, turn, room }: Verdict): string =>
    `${session}, turn ${turn}, ${room === 'same' ? 'same room' : thousands(room ?? 0)}`
  return {
    rows: [...rows.values()],
    tooLong: verdicts
      .filter(({ wordsTooLong }) => wordsTooLong > 0)
      .map(
        (one) =>
          `${at(one)}: ${one.wordsTooLong.toLocaleString('en-US')} tokens of the user's, ${share(one.score.typedKept, one.score.typedChars)}% of them kept`,
      ),
    refused: verdicts.flatMap((one) => (one.refused === undefined ? [] : [`${at(one)}: ${one.refused}`])),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const groupOf = ({ client, isHeldOut, isRecorded }: Verdict): string =>
  `${isRecorded ? '' : 'simulated, '}${isHeldOut ? 'held out, ' : ''}${client}`
const thousands = (tokens: number): string => `${(tokens / 1000).toFixed(1).replace(/\.0$/, '')}K`

const share = (part: number, whole: number): string =>
  whole === 0 ? '–' : ((100 * part) / whole).toFixed(1).replace(/\.0$/, '')

/** The columns of the table. */
export const compactionColumns = [
  'sessions of',
  'text',
  'compactions',
  'size',
  'details',
  'bare',
  'company',
  'useful',
  "user's words",
  'where they fit',
  'open tasks',
  'decisions',
] as const

/** The figures of one row, as text. */
export const compactionCells = ({ group, text, score }: CompactionRow): readonly string[] => [
  group,
  text,
  String(score.compactions),
  thousands(Math.round(score.tokens / Math.max(1, score.compactions))),
  String(score.details),
  share(score.bare, score.details),
  share(score.company, score.details),
  share(score.useful, score.details),
  share(score.typedKept, score.typedChars),
  share(score.fittingKept, score.fittingChars),
  share(score.openKept, score.openTasks),
  share(score.decisionsKept, score.decisions),
]

/** One recorded compaction side by side: what the vendor kept, what we keep in its room, what was needed later. */
export interface ShownCompaction {
  readonly session: string
  readonly turn: number
  readonly vendor: string | null
  readonly ours: string
  readonly needed: readonly {
    readonly atom: string
    readonly vendor: string
    readonly ours: string
    readonly line: string
  }[]
  readonly words: { readonly vendor: string; readonly ours: string }
}

/** Null where the recording has no compaction of that number, from 0. */
export function shownCompaction(recording: Recording, index: number): ShownCompaction | null {
  const moment = recordedMoments(recording)[index]
  if (moment === undefined) return null
  const { details, typed } = wantedAt(moment)
  const room = moment.vendor === null ? defaults.lab.compactions.rooms[0]! : estimateText(moment.vendor)
  const kept = keptWithin(foldOf(moment.before), room)
  const ours = 'why' in kept ? kept.why : kept.text
  const marks = (text: string): readonly string[] =>
    judgedBy(text, details).map(({ bare, company, useful }) =>
      !bare ? 'no' : useful ? 'useful' : company ? 'company' : 'bare',
    )
  const theirs = marks(moment.vendor ?? '')
  const own = marks(ours)
  const wordsIn = (text: string): string => {
    const { typedChars, typedKept } = typedIn(text, typed)
    return share(typedKept, typedChars)
  }
  return {
    session: recording.name,
    turn: moment.turn,
    vendor: moment.vendor,
    ours,
    needed: details.map(({ atom, lines }, at) => ({
      atom,
      vendor: moment.vendor === null ? '–' : theirs[at]!,
      ours: own[at]!,
      line: [...lines].at(-1)!.trim().slice(0, defaults.lab.compactions.unitChars),
    })),
    words: { vendor: wordsIn(moment.vendor ?? ''), ours: wordsIn(ours) },
  }
}
