// Edits: decisions that change the view, and what each was expected to save and cost when it was made.
import type { Seq } from './ids.ts'

/** An entry, or with `block` one of its content blocks. */
export interface BlockRef {
  readonly seq: Seq
  readonly block?: number | undefined
}
export interface Range {
  readonly from: Seq
  readonly to: Seq
}

/** One block, or with `inner` one of the media a result holds, becomes a short text that names the way back. */
export interface StubEdit {
  readonly kind: 'stub'
  readonly at: BlockRef & { readonly inner?: number | undefined }
  readonly text: string
  readonly ref: string
}
/** A span is left out. */
export interface DropEdit extends Range {
  readonly kind: 'drop'
}
/** A block shown verbatim after a summary; with head and tail only that many characters of each end, with none of either
 * not at all: the summary's text says where it is. With `lines` only those, from the first to before the second, from 0. */
export interface Kept {
  readonly at: BlockRef
  readonly head?: number | undefined
  readonly tail?: number | undefined
  readonly lines?: readonly (readonly [from: number, to: number])[] | undefined
}
/** A text stands for a span; kept blocks and pins are rendered after it, fenced and verbatim. */
export interface SummaryEdit extends Range {
  readonly kind: 'summary'
  readonly text: string
  readonly ref: string
  readonly keep: readonly Kept[]
  readonly media?: readonly string[] | undefined
  /** How what is kept is fenced: texts of earlier versions stay as they were sent. */
  readonly wording?: 2 | 3 | undefined
  readonly counted?: Counted | undefined
}
/** What was known of the work so far when a text came to stand for a part of it, so that the next boundary goes on from
 * there: nobody reads on. Places in time are numbers of answers since the session began, -1 for never. */
export interface Counted {
  /** Everything up to this place is counted in it. */
  readonly upTo: Seq
  /** Answers until then. */
  readonly answers: number
  /** The names most likely to be needed: when first and last seen and last used by a call; how often seen, used, edited, said, typed, in error lines, under another subject; the place of the last subject. */
  readonly names: readonly (readonly [name: string, ...counts: number[]])[]
  /** What names and lines belong to, when it was last worked on, and how much. */
  readonly subjects: readonly (readonly [title: string, last: number, work: number])[]
  /** Of each line chosen into the text: its entry, when it came, who said it (0 a call, 1 a result, 2 an answer), 1 where it tells an error. One out of pieces that stayed says only its entry (-1). */
  readonly lines: readonly (readonly [at: number, born: number, role: number, isError: number])[]
  /** Of entries kept in pieces: when they came. */
  readonly kept: readonly (readonly [at: number, born: number])[]
  /** Files: work, changes, when last worked on, changed and shown. */
  readonly files: readonly (readonly [name: string, ...counts: number[]])[]
}
/** The server leaves it out; our bytes stay. */
export interface RemoteEdit {
  readonly kind: 'remote'
  readonly at: readonly BlockRef[]
  readonly via: 'cache-edit' | 'context-management'
}
export type Edit = StubEdit | DropEdit | SummaryEdit | RemoteEdit

/** A reduction that was weighed and left, with the numbers of that choice. */
export interface Declined {
  readonly layer: string
  readonly why: string
  readonly tokens: number
  readonly price: ClearingPrice | undefined
}
export type Asked = 'user' | 'model' | 'automatic'
/** What every fact that holds edits says. */
export interface Editing {
  readonly layer: string
  readonly asked: Asked
  readonly edits: readonly Edit[]
  readonly why: string
  readonly tokensFreed: number
  readonly price?: EditPrice | undefined
}

// ---- prices ----

/** The numbers of a choice, as they are written down with it. */
export interface ClearingPrice {
  /** Why it was made; `unsent`: before it was ever sent, `asked`: the model wanted it, `boundary`: a text stands for it. */
  readonly kind: 'time' | 'cached' | 'economy' | 'pressure' | 'expired' | 'unsent' | 'asked' | 'boundary'
  readonly isWarm: boolean
  readonly freedTokens: number
  readonly tailTokens: number
  readonly expectedRequests: number
  readonly saves: number
  readonly costs: number
  readonly net: number
  readonly isWorth: boolean
}
/** What the server says it has left out by itself so far. */
export interface ServerReport {
  readonly kind?: undefined
  readonly toolUses: number
  readonly thinkingTurns: number
  readonly tokens: number
}
export type EditPrice = ClearingPrice | ServerReport
