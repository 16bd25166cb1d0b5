// The facts: everything that can happen in a session. `schema` checks them at the edges. One entry is a line of JSON:
//   {"v":1,"seq":7,"uuid":"0199…","parent":"0199…","at":1763200000000,"fact":{"type":"user-message",…}}
// `seq` counts without gaps, `parent` is the entry it was said after, `at` is milliseconds. Facts are appended and never
// changed. A fact of an unknown kind is kept as its raw line, byte for byte; an *edit* of an unknown kind makes the session
// read-only, because the view can no longer be computed. Unknown fields of known facts are kept.
import type { AssistantBlock, UserBlock } from './content.ts'
import type { BlockRef, Declined, Editing, Range } from './edits.ts'
import type { CallId, Seq, SessionId, Uuid } from './ids.ts'
import type { Lifetime } from './lifetime.ts'
import type { StopKind } from './stop.ts'

export type {
  Asked,
  BlockRef,
  ClearingPrice,
  Declined,
  DropEdit,
  Edit,
  EditPrice,
  Counted,
  Kept,
  Range,
  RemoteEdit,
  ServerReport,
  StubEdit,
  SummaryEdit,
} from './edits.ts'

/** Provider-neutral usage of one model response, in tokens. The prompt is input + cacheRead + cacheWrite. */
export interface Usage {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The part of cacheWrite that was written with the one-hour lifetime. */
  readonly cacheWrite1h?: number | undefined
  readonly output: number
  /** The server said nothing: these are our own counts, everything at the price of plain input. */
  readonly estimated?: true | undefined
}
/** Of one answer: milliseconds until something came and until all had, how often it was asked for, and its name at the provider. */
export interface Timing {
  readonly firstMs?: number | undefined
  readonly ms: number
  readonly tries: number
  readonly requestId?: string | undefined
}
/** What the provider says of a prompt beside the one before: its own word for what differs, and the tokens it counts as lost by that. */
export interface Diagnosis {
  readonly reason: string
  readonly tokens?: number | undefined
}
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly input_schema: Readonly<Record<string, unknown>>
}
export interface Section {
  readonly name: string
  readonly text: string
  readonly side: 'static' | 'dynamic'
}

export type Outcome = 'done' | 'aborted' | 'failed'
/** Who waits for an agent: the call that started it, nobody, or it waits itself for more to do. */
export type AgentMode = 'foreground' | 'background' | 'teammate'
/** Typed, sent by a program, or typed while busy and delivered later; `injected` is what we or a foreign client wrote. */
export type Origin = 'typed' | 'program' | 'queued' | 'injected'

/** Numbers that a refusal named: images and pages together, sides in pixels, one image as base64, a whole request. */
export interface LearnedMedia {
  readonly count?: number | undefined
  readonly side?: number | undefined
  readonly manySide?: number | undefined
  readonly imageBytes?: number | undefined
  readonly requestBytes?: number | undefined
}

/** As the wire has them, serialized. */
export interface CacheParameters {
  readonly model: string
  readonly thinking: string
  readonly effort: string
  readonly betas: string
  readonly extra: string
}

export type Fact =
  | {
      readonly type: 'session-start'
      readonly session: SessionId
      readonly purpose: string
      readonly parent?:
        | { readonly session: SessionId; readonly upTo: Seq; readonly requestHash?: string }
        | undefined
      readonly cwd?: string | undefined
      /** Of an agent with a transcript of its own: the session that started it. */
      readonly startedBy?: SessionId | undefined
      readonly imported?: string | undefined
    }
  | {
      readonly type: 'instructions-set'
      readonly sections: readonly Section[]
      readonly tools: readonly ToolSpec[]
      readonly reminder?: string | undefined
    }
  | {
      readonly type: 'user-message'
      readonly content: readonly UserBlock[]
      readonly origin: Origin
      readonly queued?: Seq | undefined
      /** What it delivers, where it was sent from elsewhere: by this it is known to have come. */
      readonly id?: string | undefined
    }
  | { readonly type: 'input-queued'; readonly content: readonly UserBlock[] }
  | {
      readonly type: 'assistant-message'
      readonly content: readonly AssistantBlock[]
      readonly messageId: string
      /** The word of the wire for why it ended. */
      readonly stop: string | null
      /** What that word means; unset where it is one of the Messages API. */
      readonly ended?: StopKind | undefined
      readonly model: string
      readonly provider?: string | undefined
      readonly usage?: Usage | undefined
      /** Milliseconds from sending to the first words and to the end, and the attempts that took; of an answer we asked for ourselves. */
      readonly timing?: Timing | undefined
      /** Where the provider was asked and found a difference, or has not compared yet. */
      readonly diagnosis?: Diagnosis | undefined
      readonly partial?: boolean | undefined
      readonly leftOut?: boolean | undefined
    }
  | {
      readonly type: 'tool-result'
      readonly call: CallId
      readonly content: readonly UserBlock[]
      readonly isError: boolean
      readonly spill?: { readonly blob: string; readonly bytes: number; readonly sha256: string } | undefined
    }
  | {
      readonly type: 'attachment'
      readonly kind: string
      readonly content: readonly UserBlock[]
      readonly source?: string | undefined
      /** Given back by the compaction written right before it; it goes when that one is undone. */
      readonly restored?: boolean | undefined
      /** What it hands on (a message, the result of an agent): by this it is known to have been delivered. */
      readonly id?: string | undefined
    }
  | { readonly type: 'memory-recall'; readonly files: readonly string[]; readonly text: string }
  | {
      readonly type: 'request-sent'
      readonly source: string
      readonly model: string
      readonly upTo: Seq
      readonly hash: string
      readonly tokens: number
      readonly marks: readonly string[]
      readonly lifetime?: Lifetime | undefined
      /** The block that carried the breakpoint in the messages: a fork that must not write puts its own there too. */
      readonly markedAt?: { readonly seq: Seq; readonly block: number } | undefined
      readonly estimate?: number | undefined
      /** What of it beside prompt, tools and messages is part of the cache key; said when it is another than the last time. */
      readonly parameters?: CacheParameters | undefined
      /** What layers weighed for it and left alone; said when it is another than the last time. */
      readonly declined?: readonly Declined[] | undefined
    }
  | {
      readonly type: 'cache-break'
      readonly source: string
      readonly causes: readonly unknown[]
      readonly tokens: number
      readonly cost: number
      readonly diff?: string | undefined
      /** What the provider says of it, where it was asked, and the tokens it counts as lost. */
      readonly provider?: string | undefined
      readonly providerTokens?: number | undefined
    }
  /** The provider refused reasoning that was sent: what was made before this place is left out from now on. */
  | { readonly type: 'reasoning-refused'; readonly upTo: Seq }
  | {
      readonly type: 'feature-refused'
      readonly feature:
        | 'context-management'
        | 'thinking'
        | 'effort'
        | 'caching'
        | 'long-lifetime'
        | 'cache-diagnostics'
    }
  /** An overflow, loud or silent, has told how many tokens fit. */
  | { readonly type: 'window-learned'; readonly tokens: number }
  /** What a refusal has said a request may carry beside words; it holds for the model in force. */
  | { readonly type: 'media-learned'; readonly limits: LearnedMedia }
  | ({ readonly type: 'view-edit' } & Editing)
  | { readonly type: 'notes-update'; readonly blob: string; readonly coversTo: Seq; readonly tokens: number }
  /** The talk up to here was looked through for what should outlive it; the memories written for it. */
  | {
      readonly type: 'memories-extracted'
      readonly coversTo: Seq
      readonly files: readonly string[]
      /** The model had written memories itself in this span, so nobody was asked. */
      readonly skipped?: boolean | undefined
    }
  | ({
      readonly type: 'boundary'
      readonly trigger: 'auto' | 'manual' | 'reactive'
      /** Whose text it is; `user` for one the user wrote or edited. */
      readonly source: 'notes' | 'model' | 'extractive' | 'user'
      readonly tokensBefore: number
      readonly tokensAfter: number
      readonly messagesSummarised: number
      readonly last?: Uuid | undefined
      /** Written by earlier versions; the tools stand in every request. */
      readonly toolsKnown?: readonly string[] | undefined
      readonly instructions?: string | undefined
      readonly kept?: { readonly head: Uuid; readonly tail: Uuid; readonly anchor: Uuid } | undefined
      readonly audit?: unknown
      readonly chain?:
        | {
            readonly recompaction: boolean
            readonly turnsSince: number
            readonly turn?: string
            readonly threshold: number
            readonly requestSource: string
          }
        | undefined
    } & Editing)
  | { readonly type: 'compaction-failed'; readonly source: string; readonly why: string }
  /** A model's text that a preview showed: the compaction that was asked for in the same words uses it. */
  | { readonly type: 'summary-previewed'; readonly account: string; readonly ask: string; readonly upTo: Seq }
  /** What another program put in the place of all that came before, as its recording has it: to be looked at, of no effect on the view. */
  | { readonly type: 'compaction-recorded'; readonly client: string; readonly text: string }
  /** Written by earlier versions, which archived early spans behind short texts. Read, and of no effect. */
  | {
      readonly type: 'collapse-stage'
      readonly spans: readonly (Range & { readonly text?: string | undefined })[]
      readonly armed: boolean
      readonly lastSpawnTokens: number
    }
  | { readonly type: 'pin'; readonly at: BlockRef }
  | {
      readonly type: 'undo'
      /** An edit, or a result that was too large when it came. */
      readonly target: Seq
      /** Of such a result: its text as it is shown from here on. */
      readonly whole?: string | undefined
    }
  | { readonly type: 'release'; readonly target: Seq }
  | { readonly type: 'rewind'; readonly to: Seq }
  | {
      readonly type: 'permission'
      readonly tool: string
      readonly decision: 'allow' | 'deny'
      readonly by: string
      readonly rule?: string | undefined
    }
  | {
      readonly type: 'model-set'
      readonly model: string
      readonly thinking?: unknown
      readonly effort?: string | undefined
    }
  /** Work that goes on beside the talk. Its end is a `fork-end`. */
  | {
      readonly type: 'agent-start'
      readonly child: SessionId
      readonly label: string
      /** The type it was made from. */
      readonly agent: string
      readonly mode: AgentMode
      /** It begins with the conversation of the one that started it. */
      readonly forked?: boolean | undefined
      readonly name?: string | undefined
      readonly worktree?: { readonly path: string; readonly branch: string } | undefined
    }
  | {
      readonly type: 'fork-end'
      readonly child: SessionId
      readonly purpose: string
      readonly outcome: Outcome
      readonly text: string
      /** What it cost, so that a cap holds for the whole tree. */
      readonly spent?: { readonly tokens: number; readonly dollars: number } | undefined
    }
  | {
      readonly type: 'turn-end'
      readonly outcome: Outcome
      readonly failure?: { readonly code: string; readonly message: string } | undefined
    }
  | {
      readonly type: 'damage-found'
      readonly lost: readonly Range[]
      readonly report: readonly string[]
      /** Where in the files: what cost nothing is known by that, and not said again. */
      readonly at?: readonly number[] | undefined
    }

export type FactType = Fact['type']
export type FactOf<T extends FactType> = Extract<Fact, { readonly type: T }>

/** What we say in place of what a call would have given. */
export const textResult = (call: CallId, text: string, isError = true): FactOf<'tool-result'> => ({
  type: 'tool-result',
  call,
  content: [{ type: 'text', text }],
  isError,
})

/** A text of ours in the view. */
export const attachmentOf = (
  kind: string,
  text: string,
  more: Pick<FactOf<'attachment'>, 'source' | 'restored' | 'id'>,
): FactOf<'attachment'> => ({ type: 'attachment', kind, content: [{ type: 'text', text }], ...more })

/** A fact with its place. */
export interface Entry {
  readonly v: 1
  readonly seq: Seq
  readonly uuid: Uuid
  readonly parent: Uuid | null
  readonly at: number
  readonly fact: Fact
}

/** An entry of a kind or version this code does not know: its place is read, its line is kept as it is. */
export interface UnknownEntry {
  readonly seq: Seq
  readonly uuid: Uuid | null
  readonly unknown: string
  /** It holds an edit we cannot apply, so the view cannot be computed: open read-only. */
  readonly changesView: boolean
  readonly raw: string
}
export type StoredEntry = Entry | UnknownEntry

export const isKnown = (entry: StoredEntry): entry is Entry => 'fact' in entry

/** The facts whose edits the fold applies. */
export const isEditing = (fact: Fact): fact is FactOf<'view-edit'> | FactOf<'boundary'> =>
  fact.type === 'view-edit' || fact.type === 'boundary'

/** A message that a person or an embedding program really sent. */
export const isRealInput = (fact: Fact): fact is FactOf<'user-message'> =>
  fact.type === 'user-message' && fact.origin !== 'injected'

/** Answers of the offline model and of every simulator are marked by their ids; nobody paid for them. */
export const isSimulated = (messageId: string): boolean => messageId.startsWith('msg_sim')
