// Screen P: the same session under another policy.
import type { Totals } from './sessions.ts'

export interface PolicyList {
  readonly policies: readonly {
    readonly name: string
    readonly kind: 'bound' | 'peer' | 'ours'
    readonly about: string
  }[]
}
export interface ReplayWish {
  readonly policy: string
}
/** `failed` has the reason in `problem`; `running` may be asked again after a moment. */
export interface ReplayAnswer {
  readonly state: 'running' | 'done' | 'failed'
  readonly policy: string
  readonly problem: string | null
  readonly replay: Replay | null
}
export interface Replay {
  /** Hash of the transcript and of the policy: the same pair is replayed once. */
  readonly transcript: string
  readonly policyHash: string
  readonly head: number
  readonly totals: Totals
  /** Share of what later calls needed that was in sight. */
  readonly needsInSight: number | null
  readonly edits: Readonly<Record<string, number>>
  readonly problems: readonly string[]
  /** Request by request, on the same x-axis: row n is request n+1. */
  readonly moments: readonly ReplayMoment[]
}
export interface ReplayMoment {
  readonly at: number
  /** By holder as in RequestChunk. */
  readonly held: readonly number[]
  readonly input: number
  readonly read: number
  readonly written: number
  readonly output: number
  readonly dollars: number | null
  readonly lost: number
  readonly changes: readonly { readonly layer: string; readonly why: string; readonly freed: number }[]
}
