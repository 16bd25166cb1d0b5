// Undoing a compaction takes away what it gave back, so that the view is byte for byte the one before it.
import type { Fact } from '../../transcript/fact.ts'
import { seq, type Seq } from '../../transcript/ids.ts'
import type { Failure } from '../../transcript/store.ts'
import type { Core } from '../core.ts'

/** Why an edit cannot be taken back now: the view would no longer fit. */
export function undoRefusal(core: Core, target: Seq): Failure | null {
  const outcome = core.room()
  const after = core.view().tokens + core.freedBy(target)
  if (!outcome.ok || after <= outcome.room.effective) return null
  const { effective } = outcome.room
  const message = `without the edit at ${target} the view would take about ${after} tokens, and ${effective} fit`
  return { code: 'no-room', message }
}

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
