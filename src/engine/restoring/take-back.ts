// Undoing a compaction takes away what it gave back, so that the view is byte for byte the one before it.
import type { Fold } from '../../projection/fold.ts'
import { isEditing, type Entry, type Fact, type Range } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { Failure, Result } from '../../transcript/store.ts'
import type { Slice } from '../core.ts'
import { serverClearings } from '../requests/server-edits.ts'
import { mediaUndoRefusal } from '../media/limits.ts'

/** Why an edit cannot be taken back now: the view would no longer fit. */
function undoRefusal(core: Slice<'room' | 'state' | 'view'>, targets: readonly Seq[]): Failure | null {
  const outcome = core.room()
  const target = targets[0]!
  const freed = targets.reduce((sum, one) => sum + freedBy(core.state.fold, one), 0)
  const after = core.view().tokens + freed
  if (!outcome.ok || after <= outcome.room.effective) return null
  const { effective } = outcome.room
  const message = `without the edit at ${target} the view would take about ${after} tokens, and ${effective} fit`
  return { code: 'no-room', message }
}

/** A server that is not asked to clear clears nothing: all it has cleared comes back, or none of it. */
function withItsLike(core: Slice<'state'>, target: Seq): readonly Seq[] {
  const like = serverClearings(core).map(({ seq }) => seq)
  return like.includes(target) ? [target, ...like.filter((one) => one !== target)] : [target]
}

/** Tokens that undoing an edit would bring back, as the edit itself says. */
function freedBy(fold: Fold, target: Seq): number {
  const fact = fold.edits.editing(target)?.fact
  return fact !== undefined && isEditing(fact) ? fact.tokensFreed : 0
}

/**
 * Undoes an edit with all that belongs to it, as one append. While a later compaction stands over what an undone one put
 * away, what that gave back stays; it goes once the words themselves are in sight.
 */
export async function takeBack(
  core: Slice<'append' | 'modelInfo' | 'room' | 'state' | 'view'>,
  target: Seq,
): Promise<Result<{ readonly entry: Entry }>> {
  const unsendable = mediaUndoRefusal(core, target)
  if (unsendable !== null) return { ok: false, failure: { code: 'no-room', message: unsendable } }
  const targets = withItsLike(core, target)
  const failure = undoRefusal(core, targets)
  if (failure !== null) return { ok: false, failure }
  const { edits } = core.state.fold
  const undo = targets.map((one): Fact => ({ type: 'undo', target: one }))
  const isShown = edits.tops.some((top) => top.seq === target)
  const written = await core.append([...undo, ...dropping(core, ({ seq }) => isShown && seq === target)])
  if (!written.ok) return written
  const isCovered = (range: Range): boolean =>
    edits.tops.some(({ edit }) => edit.from <= range.from && edit.to >= range.to)
  const stray = dropping(
    core,
    ({ seq, fact }) => edits.editing(seq) === undefined && !summariesOf(fact).some(isCovered),
  )
  const cleaned = stray.length === 0 ? written : await core.append(stray)
  return cleaned.ok ? { ok: true, entry: written.entries[0]! } : cleaned
}

const summariesOf = (fact: Fact): readonly Range[] =>
  fact.type === 'boundary' ? fact.edits.filter((edit) => edit.kind === 'summary') : []

/** Takes out what was given back by certain compactions: such attachments follow their boundary. */
function dropping(core: Slice<'state' | 'view'>, isGone: (boundary: Entry) => boolean): readonly Fact[] {
  const { fold } = core.state
  const boundaries = fold.edits.controls.filter(({ fact }) => fact.type === 'boundary')
  const ranges: Range[] = []
  let estimate = 0
  for (const part of fold.parts()) {
    if (part.attachment?.restored !== true) continue
    const owner = boundaries.findLast(({ seq }) => seq < part.from)
    if (owner === undefined || !isGone(owner)) continue
    const last = ranges.at(-1)
    if (last !== undefined && part.from === last.to + 1)
      ranges[ranges.length - 1] = { from: last.from, to: part.to }
    else ranges.push({ from: part.from, to: part.to })
    estimate += part.estimate
  }
  if (ranges.length === 0) return []
  return [
    {
      type: 'view-edit',
      layer: 'restoration',
      asked: 'user',
      edits: ranges.map((range) => ({ kind: 'drop', ...range })),
      why: 'it was given back by a compaction that is undone',
      tokensFreed: Math.round(core.view().factor * estimate),
    },
  ]
}
