// What changes a session, what is pushed while it grows, and what an exported file holds.
import type { Problem } from './sessions.ts'

/** `at` and `head` as the page knows them: a session that has moved on answers with a conflict instead. */
export interface EffectWish {
  /** undo: the edit (or the spilled result); release: the undo or the pin; pin: the entry. */
  readonly target: number
  /** pin: one block of the entry. */
  readonly block?: number | undefined
  /** The last place the page has seen. */
  readonly head: number
}
export interface EffectAnswer {
  /** The place of the new fact, where it is written. */
  readonly seq: number | null
  readonly head: number
}
/** Status 409: nothing was written. */
export interface EffectConflict extends Problem {
  readonly head: number
  /** What came since, oldest first, shortened to the newest. */
  readonly came: readonly { readonly seq: number; readonly kind: string }[]
}
/** Ids and heads, never bodies. `event:` is the type, `data:` the rest as JSON. */
export type LiveEvent =
  | {
      /** The session has grown: read index chunks after `from`; entries in `stale` have other flags now. */
      readonly type: 'grew'
      readonly session: string
      readonly from: number
      readonly head: number
      readonly stale: { readonly from: number; readonly to: number } | null
      /** New requests, edits or breaks among it. */
      readonly requests: number
      readonly edits: number
      readonly breaks: number
    }
  /** The list of sessions is another one: read it again. */
  | { readonly type: 'sessions' }
  /** A session got or lost its writer. */
  | {
      readonly type: 'owner'
      readonly session: string
      readonly owner: { readonly host: string; readonly pid: number } | null
    }
  /** Every 15 seconds, so that both sides notice a dead connection. */
  | { readonly type: 'alive' }
/**
 * An exported file holds packs: elements `<script type="text/plain" id="pal-export-N">` with the base64 of deflate-raw of JSON.
 * Pack 0 is this; the others are answers by path (without query) as the server would give them, `{ problem }` where it had none.
 */
export interface ExportedSession {
  readonly v: 1
  readonly session: string
  /** What the page asks for as soon as it opens, by path; requests and what entries cost are whole. */
  readonly answers: Readonly<Record<string, unknown>>
  /** Base64 of the bytes of index chunks, newest first, as the route gives them. */
  readonly index: readonly string[]
  /** Where each group of stored lines begins: its path ends with `/lines/START`. */
  readonly lines: readonly number[]
  /** Which pack holds a path, counted from the first behind this one. */
  readonly places: Readonly<Record<string, number>>
}
