// What a job beside the talk (a summary, session notes) may see and do of the session it serves, and the ports through
// which such jobs are handed in. Jobs live in rooms above; the engine knows them by these shapes only.
import type { SummaryAnswer, SummaryAsk } from '../../compaction/summary.ts'
import type { ModelTable } from '../../model/models.ts'
import type { RoomOutcome } from '../../projection/budget.ts'
import type { Fold } from '../../projection/fold.ts'
import type { Fact } from '../../transcript/fact.ts'
import type { Tail } from '../../transcript/grammar.ts'
import type { Seq, SessionId } from '../../transcript/ids.ts'
import type { BlobInfo, Result } from '../../transcript/store.ts'
import type { Appended } from '../../transcript/transcript.ts'
import type { ForkOutcome, ForkSpec } from '../fork-spec.ts'
import type { Emit } from '../live.ts'
import type { Latest } from '../state.ts'

export interface Aside {
  readonly session: SessionId
  /** Read only; it grows while the session goes on. */
  readonly fold: Fold
  readonly models: ModelTable
  /** Whether anybody can be asked. */
  readonly hasModel: boolean
  modelId(): string
  latest(): Latest
  tail(): Tail
  room(): RoomOutcome
  maxOutput(): number
  /** A budget of thinking tokens, which must fit below what a request may put out. */
  readonly thinkingTokens: number
  now(): number
  fork(spec: ForkSpec, signal: AbortSignal): Promise<ForkOutcome>
  append(facts: readonly Fact[]): Promise<Appended>
  /** Keeps bytes beside the session. */
  keep(name: string, text: string): Promise<Result<BlobInfo>>
  /** Fires when the session is closed. */
  readonly ending: AbortSignal
  /** Says something whether or not a turn runs. */
  readonly tell: Emit
}

/** Writes what stands for a span. Never throws: what goes wrong is the answer. */
export interface SessionSummariser {
  summarise(
    ask: SummaryAsk & { readonly aside: Aside | null; readonly emit: Emit },
    signal: AbortSignal,
  ): Promise<SummaryAnswer>
}

/** Keeps notes of a session while it goes on. Never throws. */
export interface NoteKeeper {
  /** After each response of the main thread. What it starts runs beside the turn. */
  heard(aside: Aside): void
  /** What the notes say, once an update under way has ended or was waited for long enough; null when nothing. */
  read(aside: Aside, signal: AbortSignal): Promise<ReadNotes | null>
}

export interface ReadNotes {
  readonly text: string
  /** The last entry they speak of. */
  readonly coversTo: Seq
}

/** Works on what finished turns leave behind: memories. Never throws. */
export interface TurnWatcher {
  /** After each turn of the main thread that has ended well. Returns at once; what it starts runs beside the talk. */
  ended(aside: Aside): void
  /** The session is about to be closed: ends when what runs has ended, or `hurry` fired long enough ago. */
  closing(aside: Aside, hurry: AbortSignal): Promise<void>
}

/** A summary made ahead; only memory holds it. */
export interface Preparing {
  prepared: { readonly account: string; readonly upTo: Seq; readonly askedAt: number } | null
  /** Stops the one being made. */
  stop: AbortController | null
}

export const notPreparing = (): Preparing => ({ prepared: null, stop: null })
