// What is decided about a request, as the parts of the gateway hand it on.
import type { Chain, Match } from '../fit/chain.ts'
import type { Boundary } from '../fit/compaction.ts'

export type Level = 'watch' | 'trim' | 'compact'

export interface Plan {
  readonly body: Uint8Array
  /** Null for what is asked beside a conversation. */
  readonly place: Place | null
  /** Units sent shorter than the client has them, and how many characters fewer. */
  readonly edited: number
  readonly savedChars: number
  readonly shown: readonly ShownEdit[]
  /** What is sent in place of units, by their number; the text of a summary stands before the first. */
  readonly sent: ReadonlyMap<number, string>
  /** Where the whole of what is left out is kept. */
  readonly keptIn: readonly string[]
  /** The compaction that this request is the first to carry, and how many units it replaces. */
  readonly boundary: { readonly boundary: Boundary; readonly from: number; readonly end: number } | null
  /** Why nothing was changed although the level would. */
  readonly unchanged: string | null
}
export interface Place {
  readonly session: string
  readonly label: string
  readonly chain: Chain
  /** `changed`: it goes on, and the client has changed something of what it had sent. */
  readonly match: Match['kind'] | 'changed'
  /** The unit from which on the client has changed what it had sent; null where it has not. */
  readonly changedAt: number | null
  /** The provider keeps what was said before: the request has only what is new. */
  readonly isKeptThere: boolean
  /** From which unit on it is new to its session. */
  readonly from: number
}

/** A result that was sent shorter than the client has it. */
export interface ShownEdit {
  readonly call: string
  readonly text: string
  readonly ref: string
  /** Characters that were not sent. */
  readonly saved: number
}

/** Where a summary stands among what was sent in place of units. */
export const summaryAt = -1
