// Where a fact begins to change bytes that were sent: what lies behind it cannot be read from the cache any more.
import type { Fold } from '../../projection/fold.ts'
import { rangeOf } from '../../projection/folding/live-edits.ts'
import { isEditing, type Fact } from '../../transcript/fact.ts'

/** The first place whose bytes a fact changes, or null. */
export function changedFrom(fact: Fact, fold: Fold): number | null {
  if (fact.type === 'view-edit') return firstOf(fact)
  if (fact.type === 'rewind') return fact.to
  if (fact.type === 'model-set') return 0
  if (fact.type !== 'undo') return null
  const undone = fold.edits.editing(fact.target)?.fact
  return undone !== undefined && isEditing(undone) ? firstOf(undone) : null
}

function firstOf(fact: Extract<Fact, { edits: unknown }>): number | null {
  const places = fact.edits.flatMap((edit) => rangeOf(edit)?.from ?? [])
  return places.length === 0 ? null : Math.min(...places)
}
