// Screens E and K: removals with before and after, and cache breaks.

export interface EditSummary {
  readonly seq: number
  readonly at: number
  readonly kind: 'edit' | 'compaction' | 'spill'
  readonly layer: string
  readonly asked: 'user' | 'model' | 'automatic'
  readonly why: string
  readonly does: readonly { readonly kind: string; readonly count: number }[]
  readonly from: number | null
  readonly to: number | null
  readonly freed: number
  /** Dollars it was expected to save, and has saved up to now (negative: it cost more than it saved). */
  readonly foreseen: number | null
  readonly realised: number | null
  readonly state: 'live' | 'undone' | 'rewound'
  /** The undo that took it back: release takes this place. */
  readonly undoneBy: number | null
}
export interface EditDetail extends EditSummary {
  readonly price: {
    readonly kind: string
    readonly isWarm: boolean
    readonly tailTokens: number
    readonly expectedRequests: number
    readonly saves: number
    readonly costs: number
  } | null
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** What was there, entry by entry, and what became of it. */
  readonly before: readonly EditedEntry[]
  /** What stands there now. */
  readonly after: readonly EditedText[]
  /** Only of a compaction. */
  readonly compaction: {
    readonly trigger: string
    readonly source: string
    readonly instructions: string | null
    readonly audit: AuditDetail | null
  } | null
}
export interface EditedEntry {
  readonly seq: number
  readonly block: number
  readonly kind: string
  readonly label: string
  readonly tokens: number
  readonly became: 'removed' | 'stub' | 'summarised' | 'verbatim' | 'excerpt' | 'cleared'
}
export interface EditedText {
  readonly kind: 'stub' | 'summary' | 'verbatim' | 'excerpt' | 'restored'
  /** The entry it shows or replaces, where it is one. */
  readonly seq: number | null
  readonly tokens: number
  readonly text: string
}
export interface AuditDetail {
  readonly retention: number
  readonly userMessages: { readonly found: number; readonly kept: number }
  readonly kinds: readonly { readonly kind: string; readonly found: number; readonly kept: number }[]
  /** What is no longer in sight, with its place where that was recorded. */
  readonly lost: readonly {
    readonly text: string
    readonly at: { readonly seq: number; readonly block: number | null } | null
  }[]
}
export interface Breaks {
  readonly breaks: readonly BreakRow[]
}
export interface BreakRow {
  readonly seq: number
  readonly at: number
  readonly source: string
  /** The request that found it and the one before, as places: open R with against=. */
  readonly request: number | null
  readonly previous: number | null
  readonly tokens: number
  readonly dollars: number | null
  /** In words. */
  readonly causes: readonly string[]
  /** Part of it was said beforehand by an edit. */
  readonly isAnnounced: boolean
  /** Where the first difference is. */
  readonly entry: number | null
  readonly block: number | null
  readonly offset: number | null
  readonly diff: string | null
  /** What the provider itself says of it, where it was asked, and where that is another part of the prompt than ours. */
  readonly provider: string | null
  readonly differs: string | null
}
