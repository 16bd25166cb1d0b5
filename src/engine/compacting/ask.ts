// What is asked of a compaction, and what is told of one.
import type { Audit } from '../../compaction/audit.ts'
import type { PlanOutcome } from '../../compaction/ladder.ts'
import type { Overflow } from '../../model/model.ts'
import type { FactOf } from '../../transcript/fact.ts'
import type { Range } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { Failure } from '../../transcript/store.ts'

export interface CompactAsk {
  readonly trigger: 'auto' | 'manual' | 'reactive'
  /** Of a layer: its name, its reason, and whether the text is a boundary or stands for its span alone. */
  readonly layer?:
    | { readonly name: string; readonly why: string; readonly text: 'summary' | 'archive' }
    | undefined
  /** What the user wants to find again. */
  readonly instructions?: string | undefined
  /** Put away what follows this place. */
  readonly from?: Seq | undefined
  /** Put away what precedes this place. */
  readonly upTo?: Seq | undefined
  /** Plan only, and write nothing. */
  readonly dryRun?: boolean | undefined
  /** A text of the caller's own in place of the extracted one: a preview that was edited. */
  readonly text?: string | undefined
  /** What a provider said when it refused a request for its length. */
  readonly overflow?: Overflow | undefined
}

export interface Compacted {
  /** The place of the entry that can be undone; null for a preview. */
  readonly seq: Seq | null
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Null when clearing large results was enough. */
  readonly source: FactOf<'boundary'>['source'] | null
  readonly steps: readonly string[]
  /** From the first to the last of what goes; null when only results are cleared. */
  readonly span: Range | null
  readonly partsGone: number
  readonly partsKept: number
  readonly texts: readonly string[]
  /** What is given back beside the text: kinds of attachment, files with their paths; and what that takes. */
  readonly restored: readonly string[]
  readonly restoredTokens: number
  readonly audit: Audit | null
}

export type PlanRefusalCode = Extract<PlanOutcome, { readonly ok: false }>['code']

/** Why a compaction is not made, beside what a plan says: not now, and the session is as it was. */
export type CompactRefusalCode = 'busy' | 'blocked' | 'no-recursion' | 'no-room' | 'aborted'

export function refused(
  code: CompactRefusalCode | PlanRefusalCode,
  message: string,
): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: { code, message } }
}
