// The ports through which rooms above serve a session: forks, summaries, notes, memories, messages and the reminder. Shapes
// only: the engine knows what is behind them by these and by nothing else.
import type { SummaryAnswer, SummaryAsk } from '../compaction/summary.ts'
import type { AgentAbout } from './background/agent-rows.ts'
import type { Caps, Spent } from './limits/spend.ts'
import type { Emit, TurnFailure } from './live.ts'
import type { Latest } from './state.ts'
import type { RecallOutcome, RecallQuery } from '../memory/recall/recall.ts'
import type { ModelTable } from '../model/models.ts'
import type { RoomOutcome } from '../projection/budget.ts'
import type { Fold } from '../projection/fold.ts'
import type { Judge } from '../tools/permission/pipeline.ts'
import type { ReadFile, Tool } from '../tools/tool.ts'
import type { ToolUseBlock } from '../transcript/content.ts'
import type { Fact, Outcome, Usage } from '../transcript/fact.ts'
import type { Tail } from '../transcript/grammar.ts'
import type { Seq, SessionId } from '../transcript/ids.ts'
import type { BlobInfo, Failure, Result } from '../transcript/store.ts'
import type { Appended } from '../transcript/transcript.ts'

export interface ForkSpec {
  /** What it is for: summary, notes, a sub-agent … It names the source in logs and figures. */
  readonly purpose: string
  /** What it is told, after the parent's conversation. */
  readonly directive: string
  /** Who decides about its calls; those of its parent come after them where it is an agent. Without it every tool is refused. */
  readonly judges?: readonly Judge[] | undefined
  /** Whether its own messages may be written to the cache; a fork of one request has no use for that. */
  readonly writesCache?: boolean | undefined
  readonly maxOutputTokens?: number | undefined
  /** Carry out calls here in place of the session's tools of the same name; the list that is sent stays as it is. */
  readonly tools?: readonly Tool[] | undefined
  /** Files that count as read. */
  readonly read?: readonly (readonly [path: string, file: ReadFile])[] | undefined
  /** Not on the session's prefix: a conversation of its own that is not kept, with a prompt of its own and no tools. */
  readonly apart?: Apart | undefined
  /** It is an agent: the parent lists it, its tools need the parent's permission, and its hooks are heard. */
  readonly agent?: AgentAbout | undefined
  /** Told the name of its session as soon as it has one. */
  readonly started?: ((session: SessionId) => void) | undefined
  readonly caps?: Caps | undefined
  /** Why it was stopped, where whoever stopped it knows; it stands in the report of an agent. */
  readonly why?: (() => string | null) | undefined
  /** Most responses; one more is not asked for, and the fork has failed. */
  readonly maxRounds?: number | undefined
  readonly emit?: Emit | undefined
}

export interface ForkOutcome {
  readonly outcome: Outcome
  readonly session: SessionId | null
  /** What it said last. */
  readonly text: string
  readonly spent: Spent | null
  readonly usage: Usage | null
  readonly failure: TurnFailure | null
}

/** A direct call: nothing of the session's prompt, tools, thinking or cache. */
export interface Apart {
  readonly system: string
  /** What was said before the directive. */
  readonly conversation: readonly Fact[]
  /** Another model than the session's. */
  readonly modelId?: string | undefined
}

export interface JobContext {
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
  /** Asked only where somebody said what a summary should hold: the person, a hook, an instruction file. */
  readonly onlyWithInstructions?: boolean | undefined
  summarise(
    ask: SummaryAsk & { readonly jobContext: JobContext | null; readonly emit: Emit },
    signal: AbortSignal,
  ): Promise<SummaryAnswer>
}

/** Keeps notes of a session while it goes on. Never throws. */
export interface NoteKeeper {
  /** After each response of the main thread. What it starts runs in the background. */
  heard(jobContext: JobContext): void
  /** What the notes say, once an update under way has ended or was waited for long enough; null when nothing. */
  read(jobContext: JobContext, signal: AbortSignal): Promise<ReadNotes | null>
}

export interface ReadNotes {
  readonly text: string
  /** The last entry they speak of. */
  readonly coversTo: Seq
}

/** Works on what finished turns leave behind: memories. Never throws. */
export interface TurnWatcher {
  /** After each turn of the main thread that has ended well. Returns at once; what it starts runs in the background. */
  ended(jobContext: JobContext): void
  /** The session is about to be closed: ends when what runs has ended, or `hurry` fired long enough ago. */
  closing(jobContext: JobContext, hurry: AbortSignal): Promise<void>
}

/** A summary made ahead; only memory holds it. */
export interface Preparing {
  prepared: { readonly summary: string; readonly upTo: Seq; readonly askedAt: number } | null
  /** Stops the one being made. */
  stop: AbortController | null
}

export const notPreparing = (): Preparing => ({ prepared: null, stop: null })

export interface RecallAsk extends RecallQuery {
  /** Who can ask a model on the session's account; null where nobody can. */
  readonly jobContext: JobContext | null
}
export type { RecallOutcome }

export interface Recall {
  /** How long a request waits for `quick` where that is longer than usual: no later one may follow to bring the rest. */
  readonly patienceMs?: number | undefined
  /** The choice starts with the first calls of tools: one request may be all there is, and nothing could bring it. */
  readonly choosesDuringTools?: boolean | undefined
  quick(ask: RecallAsk, signal: AbortSignal): Promise<RecallOutcome>
  choose(ask: RecallAsk, signal: AbortSignal): Promise<RecallOutcome>
}

export interface Choice {
  readonly stop: AbortController
  outcome: RecallOutcome | null
  /** Settles when the outcome is there, or will not come. */
  readonly made: Promise<void>
}

/** Which message was asked for, and the choice under way or not yet written down. */
export interface Recalling {
  asked: Seq | null
  /** The quick look was had; the choice starts when the request is ready. */
  toChoose: boolean
  choice: Choice | null
}

export const notRecalling = (): Recalling => ({ asked: null, toChoose: false, choice: null })

export interface Delivery {
  readonly id: string
  /** Who sent it, for logs; the words say it to the model. */
  readonly from: string
  readonly text: string
}

export interface Companion {
  /** Whether something waits. Looks only, and may be wrong for a moment. */
  hasWaiting(session: string): boolean
  /** The next messages in order; a failure is said and ends nothing. */
  waiting(
    session: string,
    isDelivered: (id: string) => boolean,
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly failures: readonly Failure[] }>
  /** These have been written down, or had been before. */
  delivered(session: string, ids: readonly string[]): Promise<Failure | null>
}

/** What folders say when work comes to them, for one session. Never throws. */
export interface FolderInstructions {
  /** A call may have touched a file: what is to be said of its folder, and what is to be shown. */
  touched(
    call: Pick<ToolUseBlock, 'name' | 'input'>,
  ): Promise<{ readonly text: string | null; readonly problems: readonly string[] }>
  /** After a compaction everything is said anew. */
  renew(): void
}

export interface ReminderSource {
  /** Never throws. */
  load(moment: 'start' | 'compact'): Promise<LoadedReminder>
  /** The paths of the files that such a text holds, so that a compaction does not give them back a second time. */
  filesIn?(reminder: string | null): ReadonlySet<string>
}
export interface LoadedReminder {
  readonly text: string | null
  /** To be shown: files left out, changed, too long. */
  readonly notices: readonly string[]
}
