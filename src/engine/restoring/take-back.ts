// Undo. Of a compaction it removes what that restored, so that the view is byte for byte the one before it; of a result
// that was too large when it came it shows the whole, which the undo itself carries: a view needs nothing but entries.
import type { Fold } from '../../projection/fold.ts'
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import { textIn } from '../../transcript/content.ts'
import { isEditing, isKnown, type Entry, type Fact, type FactOf, type Range } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import { readLine } from '../../transcript/lineage.ts'
import { expandCall } from '../../transcript/markers.ts'
import type { Failure, Result } from '../../transcript/store.ts'
import type { Slice } from '../core.ts'
import { expandSpill, type Spill } from '../expansion.ts'
import { serverClearings } from '../requests/server-edits.ts'
import { mediaUndoRefusal } from '../media/limits.ts'
import { whole } from '../../transcript/whole.ts'

/** Why something cannot be brought back now: the view would no longer fit. */
function roomRefusal(core: Slice<'room' | 'view'>, what: string, freed: number): Failure | null {
  const outcome = core.room()
  const after = core.view().tokens + freed
  if (!outcome.ok || after <= outcome.room.effective) return null
  const { effective } = outcome.room
  return {
    code: 'no-room',
    message: `${what} the view would take about ${whole(after)} tokens, and ${whole(effective)} fit`,
  }
}

/** A server that is not asked to clear clears nothing: all it has cleared comes back, or none of it. */
function withItsLike(core: Slice<'state'>, target: Seq): readonly Seq[] {
  const like = serverClearings(core).map(({ seq }) => seq)
  if (like.includes(target)) return [target, ...like.filter((one) => one !== target)]
  return [target, ...deletionsUnder(core.state.fold, target)]
}

/** Edits that had the server delete what the target has put stubs in place of: without them it would still not be seen. */
function deletionsUnder({ edits }: Fold, target: Seq): readonly Seq[] {
  const fact = edits.editing(target)?.fact
  if (fact === undefined || !isEditing(fact)) return []
  const under = fact.edits.flatMap((edit) =>
    edit.kind === 'stub' ? (edits.remote.get(edit.at.seq)?.get(edit.at.block ?? 0) ?? []) : [],
  )
  return [...new Set(under.flatMap(({ seq, via }) => (via === 'cache-edit' ? [seq] : [])))]
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
  core: Slice<'append' | 'links' | 'modelInfo' | 'options' | 'room' | 'state' | 'view'>,
  target: Seq,
): Promise<Result<{ readonly entry: Entry }>> {
  const spilled = await spilledAt(core, target)
  if (spilled !== null) return showWhole(core, target, spilled)
  const unsendable = mediaUndoRefusal(core, target)
  if (unsendable !== null) return { ok: false, failure: { code: 'no-room', message: unsendable } }
  const targets = withItsLike(core, target)
  const freed = targets.reduce((sum, one) => sum + freedBy(core.state.fold, one), 0)
  const failure = roomRefusal(core, `without the edit at ${target}`, freed)
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

// ---- results that were too large when they came ----

type SpilledResult = FactOf<'tool-result'> & { readonly spill: Spill }

async function spilledAt(
  { options, links }: Slice<'links' | 'options'>,
  target: Seq,
): Promise<SpilledResult | null> {
  for await (const item of readLine(options.store, links, { from: target, to: target })) {
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type === 'tool-result' && fact.spill !== undefined) return { ...fact, spill: fact.spill }
  }
  return null
}

async function showWhole(
  core: Slice<'append' | 'links' | 'options' | 'room' | 'state' | 'view'>,
  target: Seq,
  { content, spill }: SpilledResult,
): Promise<Result<{ readonly entry: Entry }>> {
  const { factor } = core.view()
  const shown = textIn(content)
  if (spill.bytes > defaults.transcript.maxLineBytes)
    return { ok: false, failure: { code: 'too-large', message: tooLong(target, spill) } }
  const kept = await expandSpill(core, spill)
  if (!kept.ok) return { ok: false, failure: { code: 'damaged', message: kept.why } }
  const whole = inPlaceOfPreview(shown, kept.text)
  const freed = Math.round(factor * (estimateText(whole) - estimateText(shown)))
  const failure = roomRefusal(core, `with the whole result at ${target}`, freed)
  if (failure !== null) return { ok: false, failure }
  const written = await core.append([{ type: 'undo', target, whole }])
  return written.ok ? { ok: true, entry: written.entries[0]! } : written
}

const tooLong = (target: Seq, { bytes, blob }: Spill): string =>
  `the result at ${target} takes ${bytes} bytes, and no entry holds more than ${defaults.transcript.maxLineBytes}; ${expandCall(blob)} returns it page by page`

/** Around its preview a tool may have said how the call ended. */
function inPlaceOfPreview(shown: string, whole: string): string {
  const preview = /<persisted-output [\s\S]*<\/persisted-output>/.exec(shown)
  if (preview === null) return whole
  const after = shown.slice(preview.index + preview[0].length)
  const text = after === '' ? whole : whole.replace(/\n+$/, '')
  return `${shown.slice(0, preview.index)}${text}${after}`
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
      why: 'it was restored by a compaction that was undone',
      tokensFreed: Math.round(core.view().factor * estimate),
    },
  ]
}
