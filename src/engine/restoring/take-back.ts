// Undoing a compaction takes away what it gave back, so that the view is byte for byte the one before it.
import type { Fact } from '../../transcript/fact.ts'
import { seq, type Seq } from '../../transcript/ids.ts'
import type { Core } from '../core.ts'

/** The undo of an edit with all that belongs to it, as one append. */
export function undoFacts(core: Core, target: Seq): readonly Fact[] {
  const undo: Fact = { type: 'undo', target }
  let last: number = target
  let first: Seq | null = null
  let estimate = 0
  for (const part of core.fold.parts()) {
    if (part.from <= last) continue
    if (part.from !== last + 1 || part.attachment?.restored !== true) break
    first ??= part.from
    last = part.to
    estimate += part.estimate
  }
  if (first === null) return [undo]
  const drop: Fact = {
    type: 'view-edit',
    layer: 'restoration',
    asked: 'user',
    edits: [{ kind: 'drop', from: first, to: seq(last) }],
    why: `it was given back by the compaction at ${target}, which is undone`,
    tokensFreed: Math.round(core.view().factor * estimate),
  }
  return [undo, drop]
}
