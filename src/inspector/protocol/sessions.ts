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
  /** The process that writes it now, or null. */
  readonly owner: { readonly host: string; readonly pid: number } | null
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
