// The Recall port: who brings memories for what the user says. The engine asks and hardly waits: `quick` has a few
// milliseconds and may add to the request that is about to go, `choose` runs beside it, and what it brings is written
// down before a later one. Neither rejects; a problem is said and ends nothing.
import type { Seq } from '../../transcript/ids.ts'
import type { Aside } from '../aside/aside.ts'

export interface RecallAsk {
  /** What the user has just said, and before it, newest first. */
  readonly message: string
  readonly earlier: readonly string[]
  /** What stands in the view, computed from it, so that a compaction resets it. */
  readonly surfaced: ReadonlySet<string>
  readonly visibleBytes: number
  readonly read: ReadonlySet<string>
  readonly recentTools: readonly string[]
  /** Who can ask a model on the session's account; null where nobody can. */
  readonly aside: Aside | null
}

export interface RecallOutcome {
  readonly recalled: { readonly files: readonly string[]; readonly text: string } | null
  readonly problem: string | null
}

export interface Recall {
  /** How long a request waits for `quick` where that is longer than usual: no later one may follow to bring the rest. */
  readonly patienceMs?: number | undefined
  quick(ask: RecallAsk, signal: AbortSignal): Promise<RecallOutcome>
  choose(ask: RecallAsk, signal: AbortSignal): Promise<RecallOutcome>
}

export interface Choice {
  readonly stop: AbortController
  outcome: RecallOutcome | null
}

/** Which message was asked for, and the choice under way or not yet written down. */
export interface Recalling {
  asked: Seq | null
  /** The quick look was had; the choice starts when the request is ready. */
  toChoose: boolean
  choice: Choice | null
}

export const notRecalling = (): Recalling => ({ asked: null, toChoose: false, choice: null })
