// Screens M and A: memories with versions and origins, agents as a tree.
import type { Totals } from './sessions.ts'

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
