// The index of a session and its requests in columns; lines and searches.

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
  /** Held: an undo restored it, and layers leave it alone. */
  readonly held: 64
  /** Cut off by a rewind. */
  readonly rewound: 128
}

/** Who takes the tokens of a request, in this order in every list of six numbers (`held`). */
export type Holders = readonly ['system', 'tools', 'user', 'assistant', 'results', 'summary']

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
  readonly held: readonly (readonly number[])[]
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
