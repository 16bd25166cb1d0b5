// Screen R: one request, as it was sent.
import type { Timing } from '../../transcript/fact.ts'

export interface RequestDetail {
  readonly seq: number
  readonly number: number
  readonly at: number
  readonly source: string
  readonly model: string
  /** The hash written down when it was sent, and the hash of what was composed again now. */
  readonly hash: string
  readonly composedHash: string
  /** Both are equal: what is shown is what was sent, byte for byte. */
  readonly isExact: boolean
  /** Where it is not: why, as far as it is known. */
  readonly inexact: string | null
  /** Bytes of the body. */
  readonly bytes: number
  readonly tokens: number
  readonly counted: 'provider' | 'estimate'
  readonly limit: number
  readonly usage: {
    readonly input: number
    readonly read: number
    readonly written: number
    readonly output: number
    readonly dollars: number | null
    /** The server did not say: counted by size, as plain input. */
    readonly isEstimated: boolean
  } | null
  readonly timing: Timing | null
  /** What the provider says of it beside the request before, where it found a difference. */
  readonly diagnosis: string | null
  readonly lifetime: string | null
  /** Names of the cache breakpoints that were set. */
  readonly marks: readonly string[]
  /** The prompt from its beginning to its end; tokens sum to `tokens`. */
  readonly pieces: readonly RequestPiece[]
  /** As `pal context` shows it. */
  readonly sources: readonly { readonly source: string; readonly blocks: number; readonly tokens: number }[]
  /** Reductions that were weighed for it and left. */
  readonly declined: readonly {
    readonly layer: string
    readonly why: string
    readonly tokens: number
    readonly saves: number | null
    readonly costs: number | null
  }[]
  /** Against the request asked for, or the one before of the same source; null for the first. */
  readonly against: RequestDifference | null
}

/** One tool, one side of the system prompt, or one message as sent. */
export interface RequestPiece {
  readonly kind: 'tool' | 'system' | 'message'
  /** Tool name, side of the prompt, role of the message. */
  readonly name: string
  readonly tokens: number
  /** From the cache, written into it, or neither; a piece across a border counts where it begins. */
  readonly cache: 'read' | 'written' | 'input' | 'unknown'
  /** A cache breakpoint stands at its end. */
  readonly hasMark: boolean
  /** Messages: which entries it shows, in order. */
  readonly parts: readonly RequestPart[]
}
export interface RequestPart {
  /** Entry, or the span of an edit. */
  readonly from: number
  readonly to: number
  readonly kind: 'input' | 'injected' | 'answer' | 'result' | 'edit'
  readonly tokens: number
  /** Tool of a result, kind of an attachment. */
  readonly label: string | null
  /** The edit that made it what it is. */
  readonly edit: number | null
  readonly layer: string | null
  /** Index of each shown block in the entry's own content. */
  readonly blocks: readonly number[]
}

/** Where two bodies part. */
export interface RequestDifference {
  readonly seq: number
  readonly number: number
  /** Bytes that both begin with; equal to both lengths when nothing differs. */
  readonly common: number
  readonly bytes: number
  /** The first difference in words: "message 40, block 1 (entry 640), byte 118"; null where one only continues the other. */
  readonly where: string | null
  readonly entry: number | null
  readonly block: number | null
  /** Offset inside that block's JSON. */
  readonly offset: number | null
  /** A little of both from there on. */
  readonly before: string
  readonly after: string
  /** The cache break that came of it, if one was written down. */
  readonly lost: {
    readonly tokens: number
    readonly dollars: number
    readonly causes: readonly string[]
  } | null
}

// Screen B: one block and its whole life.
export interface BlockDetail {
  readonly seq: number
  readonly block: number
  readonly kind: string
  /** Tool and a short form of its input, for calls and results. */
  readonly label: string | null
  readonly tokens: number
  readonly sha256: string
  readonly spill: { readonly blob: string; readonly bytes: number } | null
  readonly born: {
    readonly at: number
    /** The answer with the call, and the input that led to it. */
    readonly call: number | null
    readonly asked: { readonly seq: number; readonly text: string } | null
  }
  readonly isPinned: boolean
  /** Place of the pin, to release it by. */
  readonly pin: number | null
  readonly isOnHold: boolean
  /** Its life, oldest first: from one change of its state to the next. */
  readonly intervals: readonly BlockInterval[]
  readonly total: CarriedPrice
  /** Places that name its file or its telling words again later. */
  readonly namedAgain: readonly { readonly seq: number; readonly words: string }[]
  /** Memories that were saved from the stretch of entries it stands in. */
  readonly memories: readonly { readonly store: string; readonly file: string; readonly version: number }[]
}
export interface BlockInterval {
  readonly state: 'whole' | 'stub' | 'summarised' | 'excerpt' | 'removed' | 'rewound'
  /** The fact that began it (its own entry, an edit, an undo, a rewind). */
  readonly since: number
  /** The fact that ended it, or null: it lasts. */
  readonly until: number | null
  /** Layer and reason of the edit. */
  readonly layer: string | null
  readonly asked: string | null
  readonly why: string | null
  /** What stands for it meanwhile, shortened: the stub, the line of the summary that names it. */
  readonly text: string | null
  /** Tokens it takes in a request meanwhile. */
  readonly tokens: number
  /** The first and last request (numbers) that carried it in this state; null: none did. */
  readonly requests: { readonly first: number; readonly last: number } | null
  readonly price: CarriedPrice
}
/** How often something was sent, and what for. */
export interface CarriedPrice {
  readonly requests: number
  /** Requests in which it was plain input, written to the cache, read from it. */
  readonly input: number
  readonly written: number
  readonly read: number
  readonly dollars: number
  /** Requests without a known price: in no sum of dollars. */
  readonly unpriced: number
}
