// What `fit` takes and gives.
import type { WireName } from '../model/model.ts'
import type { ModelRow, WindowSource } from '../model/models.ts'
import type { Thrift } from '../projection/dial.ts'
import type { Usage } from '../transcript/fact.ts'
import type { Quirks, WireRepair } from '../wires/wire.ts'
import type { FitState } from './state.ts'
import type { TrimLimits } from './trim.ts'

export interface FitOptions<Message = unknown> {
  /** In whose words the messages are. */
  readonly wire: WireName
  /** The model that will read them; its window, prices and abilities come from the table of models. */
  readonly model: string
  /** System prompt and tools as they are sent, where they stand beside the messages: counted, never changed. */
  readonly system?: unknown
  readonly tools?: readonly unknown[] | undefined
  /** What the last call for this conversation returned. Without it everything up to the last answer counts as sent. */
  readonly state?: FitState | null | undefined
  /** The model's window in tokens; needed where the model is not in the table. */
  readonly window?: number | undefined
  /** Tokens of the window that are kept free for the answer, where that is more than usual. */
  readonly reserve?: number | undefined
  /** Rows for models that are not in the table. */
  readonly models?: readonly ModelRow[] | undefined
  /** What the last answer reported, see `usageIn`. With `now` it decides when a compaction is cheaper than going on. */
  readonly usage?: Usage | null | undefined
  /** Milliseconds, as Date.now() gives them. */
  readonly now?: number | undefined
  /** How long the provider's cache lives; five minutes where nothing is said. */
  readonly lifetimeMs?: number | undefined
  /** Where the dial stands, 0 (keep as much as fits) to 1 (spend as little as is sensible). */
  readonly thrift?: Thrift | undefined
  /** False: the older part is never compacted; a list that cannot be made small enough then fails. */
  readonly compaction?: boolean | undefined
  readonly limits?: Partial<TrimLimits> | undefined
  /** Messages that stay word for word: their results are never shortened, and a compaction quotes them whole. */
  readonly pins?: ((message: Message, at: number) => boolean) | undefined
  /** What holds for the results of a tool, by its name. */
  readonly toolPolicies?: Readonly<Record<string, FitToolPolicy>> | undefined
  /** A sentence that tells the agent how to get at what was cut, by its reference: the name of a tool of yours, a path. */
  readonly wayBack?: ((ref: string) => string) | undefined
  /** Of a request for a response: whether the server keeps it. */
  readonly store?: boolean | undefined
  /** What the server refuses or wants beyond its wire. */
  readonly quirks?: Quirks | undefined
}

/** As in the settings of the same name. */
export interface FitToolPolicy {
  /** Largest result that passes whole; null for every one. */
  readonly maxResultChars: number | null
}

/** What is asked of the one who writes the text of a compaction. */
export interface SummaryRequest<Message = unknown> {
  /** Your messages that the text will stand for. */
  readonly messages: readonly Message[]
  /** The text that was made without a model, which is used where none comes. */
  readonly extracted: string
  /** A longer text is not used. */
  readonly maxTokens: number
}

/** With a model of yours for the text of a compaction, `fit` returns a promise. */
export interface SummarisingOptions<Message = unknown> extends FitOptions<Message> {
  /** Asked once for each compaction. What it throws, and a text that is empty or too long, is told in `report.declined`. */
  readonly summarise: (ask: SummaryRequest<Message>) => Promise<string>
}

/** One result that is sent shorter than it is in your list. */
export interface FitEdit {
  readonly why: 'large' | 'repeated'
  /** Its place in your list, and the call it answers. */
  readonly message: number
  readonly call: string
  /** What its whole is kept under; null where it stands in the list already. */
  readonly ref: string | null
  /** Estimated tokens that are not sent. */
  readonly tokens: number
  /** Decided in this call. */
  readonly isNew: boolean
}

export interface FitBoundary {
  /** `window`: it would not have fitted. `cost`: carrying the older part along has cost more than compacting it. */
  readonly why: 'window' | 'cost' | 'earlier'
  /** Your messages from one to before another were replaced by one text. */
  readonly from: number
  readonly to: number
  readonly ref: string
  readonly isNew: boolean
}

/** Estimated dollars of a prompt. */
export interface FitCost {
  /** Of your list as it is. */
  readonly untouched: number
  /** Of what is returned. */
  readonly fitted: number
}

export interface FitReport {
  /** How the list goes on from the state: its next turn, the same again, another way from some place, or not at all. */
  readonly match: 'new' | 'next' | 'again' | 'branch'
  /** The list is one that an earlier call returned, with more behind it. */
  readonly isCarried: boolean
  /** A state was given and nothing of it was found in the list. */
  readonly isStateForeign: boolean
  /** Tools or system are not what they were: the provider's cache begins anew. */
  readonly isHeadChanged: boolean
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Most tokens a list may have, and the window that comes from. */
  readonly limit: number
  readonly window: number
  readonly windowSource: WindowSource
  readonly edits: readonly FitEdit[]
  readonly boundary: FitBoundary | null
  readonly repairs: readonly WireRepair[]
  /** How many of the blocks sent last this list begins with, of how many; why not with all. */
  readonly prefix: {
    readonly kept: number
    readonly of: number
    readonly why: null | 'boundary' | 'branch' | 'repair'
  }
  /** What this call costs, and each further one while the cache is warm; null where the model has no price. */
  readonly cost: { readonly now: FitCost; readonly next: FitCost } | null
  /** What was due and could not be done, and why. */
  readonly declined: readonly string[]
}

/** The whole of what this call took out. */
export interface KeptOriginal {
  readonly ref: string
  readonly text: string
}

export type FitFailureCode =
  | 'empty'
  | 'bad-option'
  | 'unknown-model'
  | 'not-json'
  | 'wrong-wire'
  | 'bad-state'
  | 'newer-state'
  | 'no-room'
  | 'too-large'

export interface FitFailure {
  readonly ok: false
  readonly code: FitFailureCode
  readonly message: string
  /** Of a list that cannot be made small enough: what it would take, and what it may. */
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
}

export type FitOutcome<Message> =
  | {
      readonly ok: true
      readonly messages: readonly Message[]
      readonly state: FitState
      readonly report: FitReport
      readonly kept: readonly KeptOriginal[]
    }
  | FitFailure
