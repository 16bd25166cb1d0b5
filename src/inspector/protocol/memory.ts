// Screens M and A: memories with versions and origins, agents as a tree.
import type { Totals } from './index.ts'

export interface MemoryList {
  readonly stores: readonly {
    /** One path segment, for MemoryDetail. */
    readonly store: string
    readonly scope: string
    readonly folder: string
    readonly memories: readonly MemoryRow[]
    readonly problem: string | null
  }[]
}
export interface MemoryRow {
  readonly file: string
  readonly title: string
  readonly kind: string | null
  readonly trust: string | null
  readonly version: number
  readonly versions: number
  readonly at: number | null
  readonly origin: MemoryOrigin | null
  /** Sessions that recalled it, newest first. */
  readonly recalledBy: readonly { readonly session: string; readonly seq: number; readonly at: number }[]
}
export interface MemoryOrigin {
  readonly session: string | null
  readonly seq: number | null
  readonly by: string
}
export interface MemoryDetail extends MemoryRow {
  /** Oldest first; the last is the text of now. `text` null: its bytes are gone (forgotten). */
  readonly history: readonly {
    readonly version: number
    readonly at: number
    readonly origin: MemoryOrigin
    readonly why: string | null
    readonly text: string | null
    readonly isRemoval: boolean
  }[]
}
export interface AgentTree {
  readonly root: AgentNode
}
export interface AgentNode {
  readonly session: string
  /** Whether its transcript lies in this store: only then it can be opened. */
  readonly isHere: boolean
  readonly label: string
  /** Its type; `main` for the root. */
  readonly agent: string
  readonly mode: string
  readonly state: 'running' | 'done' | 'aborted' | 'failed' | 'unknown'
  /** Where it was started in its parent, and where it ended. */
  readonly startedAt: { readonly seq: number; readonly at: number } | null
  readonly endedAt: { readonly seq: number; readonly at: number } | null
  readonly totals: Totals | null
  /** With all below it. */
  readonly dollarsWithChildren: number
  readonly worktree: { readonly path: string; readonly branch: string } | null
  /** What it reported at its end, shortened. */
  readonly report: string | null
  readonly children: readonly AgentNode[]
}

// Screen P: the same session under another policy.
export interface PolicyList {
  readonly policies: readonly {
    readonly name: string
    readonly kind: 'bound' | 'peer' | 'ours'
    readonly about: string
  }[]
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
/** In place of an edit: a compaction that another program made, as its recording has it. */
export interface RecordedHead {
  readonly kind: 'recorded'
  readonly seq: number
  readonly at: number
  readonly client: string
}
/** Screen E of a compaction that another program made: its text, ours in the same room, and what was needed later. */
export interface RecordedAnswer {
  readonly state: 'running' | 'done' | 'failed'
  readonly problem: string | null
  readonly recorded: RecordedCompaction | null
}
export interface RecordedCompaction {
  /** The same figures as `pal replay --compactions --show`; `vendor` is null where its text is sealed. */
  readonly vendor: string | null
  readonly ours: string
  readonly vendorTokens: number
  readonly oursTokens: number
  /** Per cent of what the person typed that stands in each. */
  readonly words: { readonly vendor: string; readonly ours: string }
  /** What a later call used before it was seen again: `no`, `bare`, `company` or `useful` in each text. */
  readonly needed: readonly {
    readonly atom: string
    readonly vendor: string
    readonly ours: string
    readonly line: string
  }[]
}
export interface ReplayMoment {
  readonly at: number
  /** By holder as in RequestChunk. */
  readonly byHolder: readonly number[]
  readonly input: number
  readonly read: number
  readonly written: number
  readonly output: number
  readonly dollars: number | null
  readonly lost: number
  readonly changes: readonly { readonly layer: string; readonly why: string; readonly freed: number }[]
}
