// The index of a session and its requests in columns; lines and searches.

// Sessions: what is being looked at, and the head of each.
/** The body of every failure: what happened and what to do, in words for the reader. */
export interface Problem {
  readonly problem: string
}
/** What is being looked at, asked once when the page opens. */
export interface About {
  readonly version: string
  /** 1 for this protocol; another number: the page is older or newer than the server and says "reload". */
  readonly protocol: 1
  /** The session named on the command line, to open first. */
  readonly session: string | null
  /** Whether undo, pin and release can be asked for at all (not in an export, not on a read-only database). */
  readonly canChange: boolean
  /** Only in an export: when it was made, and whether what looks like a secret was taken out, and how often. */
  readonly exported?:
    | { readonly at: number; readonly isRedacted: boolean; readonly secrets: number }
    | undefined
}

/** Screen S. */
export interface SessionList {
  readonly sessions: readonly SessionRow[]
  /** What could not be listed, in words. */
  readonly problems: readonly string[]
}
export interface SessionRow {
  readonly session: string
  /** Where it lies: sessions of `pal`, or of another agent that works through the gateway. */
  readonly kind: 'own' | 'gateway'
  /** The first thing the user said, shortened; empty where nobody said anything. */
  readonly title: string
  /** `main`, or what a fork or an agent is for. */
  readonly purpose: string
  /** The session that started it. */
  readonly startedBy: string | null
  readonly cwd: string | null
  readonly bytes: number
  readonly modifiedAt: number
  /** Who writes it now, in words, or null. */
  readonly owner: string | null
  /** What is wrong with its lines, or null. */
  readonly damage: string | null
  /** Figures, as far as the session has been indexed; null: not yet (its head asks for it). */
  readonly figures: Totals | null
  /** Tokens of its last request and how many fit. */
  readonly window: { readonly tokens: number; readonly limit: number } | null
  /** The newest cache break: its place and when. */
  readonly lastBreak: { readonly seq: number; readonly at: number; readonly tokens: number } | null
}

/** Sums over answers, each counted once. The prompt is input + read + written. `dollars` holds what has a price. */
export interface Totals {
  readonly requests: number
  readonly input: number
  readonly read: number
  readonly written: number
  readonly output: number
  readonly dollars: number
  /** Answers of models without a known price: in no sum of dollars. */
  readonly unpriced: number
  /** Answers whose server did not say what they took: counted by size, as plain input. */
  readonly estimated: number
}

/** What a page needs at once when it opens a session. */
export interface SessionHead extends SessionRow {
  /** First and last place; null for an empty session. */
  readonly first: number | null
  readonly head: number | null
  readonly totals: Totals
  /** Of forks and agents that ended in it, as it was told (`fork-end`): not in `totals`. */
  readonly forks: { readonly tokens: number; readonly dollars: number }
  readonly requests: number
  readonly edits: number
  readonly breaks: number
  /** The models that answered, most used first. */
  readonly models: readonly string[]
  /** Session whose beginning it continues: its entries up to `upTo` come first in every request. */
  readonly parent: { readonly session: string; readonly upTo: number } | null
  /** An edit of an unknown kind: from there on the view cannot be computed. */
  readonly readOnlyFrom: number | null
}

/**
 * One piece of the index: columns over the entries `from`…`to` in order (a place may be missing: then `kind` is 255).
 * On the wire it is bytes; `decodeChunk` in columns.ts gives this.
 */
export interface IndexChunk {
  readonly from: number
  readonly to: number
  /** Time of the entry `from`; the others by `delta`. */
  readonly at: number
  /** The head the flags were computed at. */
  readonly head: number
  /** Where the next older chunk ends (ask with before=), or null when this is the oldest. */
  readonly before: number | null
  /** Names of the kinds: the fact's type, and tool names and sources are in `labels`. */
  readonly kinds: readonly string[]
  /** Short texts by number: tool names, attachment kinds, layers, sources. Hostile like everything else. */
  readonly labels: readonly string[]
  /** Bytes of the stored line. */
  readonly bytes: Uint32Array
  /** Milliseconds since the entry before. */
  readonly delta: Int32Array
  /** Estimated tokens of the entry's own content; 0 for facts that are in no request. */
  readonly tokens: Uint32Array
  /** Index into `labels`, 65535 for none. */
  readonly label: Uint16Array
  /** Index into `kinds`, 255 for a missing place. */
  readonly kind: Uint8Array
  /** Bits of `EntryFlags`. */
  readonly flags: Uint8Array
}

/** Bits of the column `flags`. No bit of the first three and tokens > 0: removed from context. */
export interface EntryFlags {
  /** Whole in the view now. */
  readonly visible: 1
  /** In the view as a stub, or partly. */
  readonly stubbed: 2
  /** Named or quoted by a live summary. */
  readonly summarised: 4
  /** A result that is an error, a turn that failed, a compaction that failed. */
  readonly isError: 8
  /** Kept beside the session because it was too large. */
  readonly spilled: 16
  readonly pinned: 32
  /** An undo restored it, and layers leave it alone. */
  readonly onHold: 64
  /** Cut off by a rewind. */
  readonly rewound: 128
}

/** Who takes the tokens of a request, in this order in every list of six numbers (`byHolder`). */

/** Requests in columns; row n of every list is one request. Newest chunk first, rows in order of place. */
export interface RequestChunk {
  readonly before: number | null
  readonly head: number
  /** Place of the `request-sent`. */
  readonly seq: readonly number[]
  /** 1, 2, 3 … within the session, as people count them (#231). */
  readonly number: readonly number[]
  readonly at: readonly number[]
  /** Index into `sources` (main, a fork's purpose). */
  readonly source: readonly number[]
  readonly sources: readonly string[]
  /** Index into `models`. */
  readonly model: readonly number[]
  readonly models: readonly string[]
  /** What the provider counted; null while unanswered or where it said nothing. */
  readonly input: readonly (number | null)[]
  readonly read: readonly (number | null)[]
  readonly written: readonly (number | null)[]
  readonly output: readonly (number | null)[]
  /** Null where the model has no known price. */
  readonly dollars: readonly (number | null)[]
  /** The prompt: the provider's count, or our estimate where it gave none. */
  readonly tokens: readonly number[]
  /** Tokens by holder, whole numbers that sum to `tokens`. */
  readonly byHolder: readonly (readonly number[])[]
  /** How many fit. */
  readonly limit: readonly number[]
  /** Place of its answer, or null. */
  readonly answer: readonly (number | null)[]
  /** Place of a cache break that this request found, or null. */
  readonly break: readonly (number | null)[]
  /** Milliseconds to the first byte and to the end, and how often it was tried; null where not recorded. */
  readonly firstMs: readonly (number | null)[]
  readonly ms: readonly (number | null)[]
  readonly tries: readonly (number | null)[]
}

/** What entries have cost so far, for the rows in sight. Lists run over `from`…`to`. */
export interface Carried {
  readonly from: number
  readonly to: number
  /** Requests that carried it, whole or as a stub. */
  readonly requests: readonly number[]
  readonly dollars: readonly number[]
}

/** Entries as they are stored, one line of JSON each. */
export interface Lines {
  readonly lines: readonly { readonly seq: number; readonly line: string }[]
  /** More lines were asked for than are sent at once: go on from here. Null: all of them. */
  readonly next: number | null
  /** Places that could not be read, in words. */
  readonly damage: readonly string[]
}

/** Hits of a search, newest first. */
export interface Found {
  readonly hits: readonly {
    readonly seq: number
    readonly block: number
    /** The hit with a little text around it, and where in it the hit stands. */
    readonly excerpt: string
    readonly at: number
    readonly length: number
  }[]
  /** Ask again with before=; null: everything was searched. */
  readonly before: number | null
}

// What changes a session, what is pushed while it grows, and what an exported file holds.

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
  /** The session is no longer the one it was (cut, or another file in its place): read everything again. */
  | { readonly type: 'replaced'; readonly session: string }
  /** The list of sessions is another one: read it again. */
  | { readonly type: 'sessions' }
  /** A session got or lost its writer. */
  | {
      readonly type: 'owner'
      readonly session: string
      readonly owner: string | null
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
