// Why an edit, undo, pin, release or rewind may not be written now, or null. Asked before the append, so that the
// fold never meets an edit it cannot apply and no edit breaks a rule of the wire or the user's words (laws P3, U1).
import type { BlockRef, Edit, Fact, FactOf, Kept, Range, StubEdit, SummaryEdit } from '../transcript/fact.ts'
import { isEditing } from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import { isMedia } from '../transcript/media.ts'
import type { Failure } from '../transcript/store.ts'
import { defaults } from '../settings/defaults.ts'
import type { RoomOutcome } from './budget.ts'
import { factorOf } from './calibration.ts'
import { covered, cutPlaces } from './cuts.ts'
import type { Fold } from './fold.ts'
import { isApart, rangeOf } from './folding/live-edits.ts'
import { canBeStubbed, isPinned } from './folding/render.ts'
import { estimateBlocks } from './tokens.ts'
import type { Part, ViewBlock } from './view.ts'
import { whole } from '../transcript/whole.ts'

export type EditRefusalCode =
  | 'no-such-entry'
  | 'no-such-edit'
  | 'covered'
  | 'overlap'
  | 'on-hold'
  | 'pinned'
  | 'splits-pair'
  | 'not-stubbable'
  | 'already-stubbed'
  | 'user-words'
  | 'nothing-left'
  | 'calls-open'
  | 'call-duplicate'
export interface EditRefusal {
  readonly code: EditRefusalCode
  readonly message: string
}

/** Why an edit cannot be applied to a view, or null. */
export function viewRefusal(fold: Fold, fact: Fact): EditRefusal | null {
  if (isEditing(fact)) return editingRefusal(fold, fact)
  switch (fact.type) {
    case 'undo':
      if (fact.whole !== undefined) return wholeRefusal(fold, fact.target)
      return undoRefusal(fold, fact.target)
    case 'release':
      return fold.edits.pins.some((pin) => pin.seq === fact.target && pin.released === null) ||
        fold.edits.holds.some((hold) => hold.seq === fact.target)
        ? null
        : { code: 'no-such-edit', message: `there is no pin or hold #${fact.target} to release` }
    case 'pin':
      return pinRefusal(fold, fact.at)
    case 'rewind':
      return rewindRefusal(fold, fact)
    default:
      return null
  }
}

function undoRefusal(fold: Fold, target: Seq): EditRefusal | null {
  const fact = fold.edits.editing(target)?.fact
  if (fact === undefined) return notThere(fold, target)
  if (!isEditing(fact)) return null
  const ranges = fact.edits.flatMap((edit) => rangeOf(edit) ?? [])
  const isBack = (part: Part): boolean => ranges.some((range) => !isApart(part, range))
  const shown = new Set([...fold.parts()].filter((part) => !isBack(part)).flatMap(callIdsOf))
  const twice = fold.units
    .parts()
    .filter(isBack)
    .flatMap(callIdsOf)
    .find((id) => shown.has(id))
  return twice === undefined
    ? null
    : {
        code: 'call-duplicate',
        message: `what edit #${target} removed holds the call ${twice}, and so does what came later: no request may hold both. Expand reads it; a rewind to before the later call makes room for it`,
      }
}

function notThere(fold: Fold, target: Seq): EditRefusal {
  const isUndone = fold.edits.controls.some((one) => one.fact.type === 'undo' && one.fact.target === target)
  const message = isUndone ? `edit #${target} is undone already` : `there is no edit #${target} to undo`
  return { code: 'no-such-edit', message }
}

const callIdsOf = ({ blocks }: Part): readonly string[] =>
  blocks.flatMap((block) => (block.type === 'tool_use' && 'input' in block ? [block.id] : []))

/** Every block of the user's own words that a summary of this range must keep. */
export function userWords(fold: Fold, range: Range): readonly Kept[] {
  const words: Kept[] = []
  for (const part of fold.parts()) {
    if (isApart(part, range)) continue
    // A placeholder in place of a picture is not the user's.
    if (part.kind === 'input') words.push(...textBlocks(fold.units.find(part.from) ?? part))
    else if (part.kind === 'edit') words.push(...keptBy(fold, part))
  }
  return words
}

function editingRefusal(fold: Fold, fact: FactOf<'view-edit'> | FactOf<'boundary'>): EditRefusal | null {
  const parts = [...fold.parts()]
  for (const [index, edit] of fact.edits.entries()) {
    const range = rangeOf(edit)
    if (range === null) continue
    const earlier = fact.edits.slice(0, index).map(rangeOf)
    if (
      earlier.some(
        (other) => other !== null && edit.kind !== 'stub' && edit.kind !== 'remote' && !isApart(other, range),
      )
    ) {
      return { code: 'overlap', message: `two edits of one proposal overlap at ${range.from}–${range.to}` }
    }
    const refusal =
      holdRefusal(fold, fact, edit, range) ?? rangeRefusal(fold, range) ?? oneRefusal(fold, parts, edit, fact)
    if (refusal !== null) return refusal
  }
  return null
}

function holdRefusal(
  fold: Fold,
  fact: FactOf<'view-edit'> | FactOf<'boundary'>,
  edit: Edit,
  range: Range,
): EditRefusal | null {
  if (fact.asked !== 'automatic' || isDeleted(fold, edit)) return null
  const hold = fold.edits.visibleHolds().find((one) => !isApart(one, range))
  if (hold === undefined) return null
  return {
    code: 'on-hold',
    message: `${hold.from}–${hold.to} was restored by an undo and stays until it is released`,
  }
}

/** A stub of what the server leaves out takes nothing out of sight: where an undo brought back no more than that, nothing is on hold. */
const isDeleted = ({ edits }: Fold, edit: Edit): boolean =>
  edit.kind === 'stub' &&
  edits.remote
    .get(edit.at.seq)
    ?.get(edit.at.block ?? 0)
    ?.at(-1)?.via === 'cache-edit'

function rangeRefusal(fold: Fold, range: Range): EditRefusal | null {
  if (range.to > fold.numbers.upTo || range.from > range.to) {
    return { code: 'no-such-entry', message: `the session has no entries ${range.from}–${range.to}` }
  }
  if (fold.edits.fits(range)) return null
  const top = fold.edits.topAt(range.from) ?? fold.edits.topAt(range.to)
  const inside = top !== undefined && range.from >= top.edit.from && range.to <= top.edit.to
  return inside
    ? { code: 'covered', message: `${range.from}–${range.to} is already replaced by the edit at ${top.seq}` }
    : {
        code: 'overlap',
        message: `${range.from}–${range.to} overlaps the edit at ${top?.seq ?? '?'} in part`,
      }
}

function oneRefusal(
  fold: Fold,
  parts: readonly Part[],
  edit: Edit,
  fact: FactOf<'view-edit'> | FactOf<'boundary'>,
): EditRefusal | null {
  switch (edit.kind) {
    case 'stub':
      return stubRefusal(fold, edit.at)
    case 'remote':
      return edit.at.map((at) => resultRefusal(fold, at)).find((refusal) => refusal !== null) ?? null
    case 'drop':
      return (
        spanRefusal(parts, edit, false) ?? (fact.asked === 'automatic' ? wordsRefusal(fold, edit, []) : null)
      )
    case 'summary':
      return spanRefusal(parts, edit, true) ?? keepRefusal(fold, edit) ?? wordsRefusal(fold, edit, edit.keep)
  }
}

function spanRefusal(parts: readonly Part[], range: Range, leavesText: boolean): EditRefusal | null {
  const span = covered(parts, range)
  if (span === null)
    return { code: 'overlap', message: `${range.from}–${range.to} cuts a part of the view in two` }
  if (span.start === span.end)
    return { code: 'no-such-entry', message: `${range.from}–${range.to} shows nothing` }
  const cuts = cutPlaces(parts)
  if (!cuts[span.start] || !cuts[span.end]) {
    return { code: 'splits-pair', message: `${range.from}–${range.to} would part a call from its result` }
  }
  if (leavesText) return null
  const next = parts[span.end]
  if (span.start === 0 && next?.role !== 'user') {
    return { code: 'nothing-left', message: 'what is left would not begin with a user message' }
  }
  return null
}

function stubRefusal(fold: Fold, at: StubEdit['at']): EditRefusal | null {
  const part = fold.units.find(at.seq)
  const index = part?.source.indexOf(at.block ?? 0) ?? -1
  if (part === undefined || index < 0) return noBlock(at)
  const block = part.blocks[index]!
  const inner = at.inner === undefined ? block : innerOf(block, at.inner)
  if (inner === undefined) return noBlock(at)
  if (at.inner === undefined ? !canBeStubbed(block) || isWords(part, block) : !isMedia(inner)) {
    return {
      code: 'not-stubbable',
      message: `block ${name(at)} is the user's, reasoning or a call and stays`,
    }
  }
  if (isPinned(fold.edits.pins, at.seq, at.block ?? 0, Infinity)) {
    return { code: 'pinned', message: `block ${name(at)} is pinned` }
  }
  const stubs = fold.edits.stubs.get(at.seq)?.get(at.block ?? 0) ?? []
  return stubs.some(({ edit }) => edit.at.inner === undefined || edit.at.inner === at.inner)
    ? { code: 'already-stubbed', message: `block ${name(at)} is a stub already` }
    : null
}

/** What the user said; a picture beside it may be replaced by what names it. */
const isWords = (part: Part, block: ViewBlock): boolean => part.kind === 'input' && !isMedia(block)

/** One of the blocks that a result holds, by its place in the entry. */
function innerOf(block: ViewBlock, place: number): ViewBlock | undefined {
  if (block.type !== 'tool_result' || !('is_error' in block)) return undefined
  return block.content.find((_, index) => (block.places?.[index] ?? index) === place)
}

function resultRefusal(fold: Fold, at: BlockRef): EditRefusal | null {
  const part = fold.units.find(at.seq)
  if (part === undefined) return noBlock(at)
  if (isPinned(fold.edits.pins, at.seq, at.block ?? 0, Infinity))
    return { code: 'pinned', message: `block ${name(at)} is pinned` }
  return part.kind === 'result'
    ? null
    : { code: 'not-stubbable', message: `${name(at)} is not a tool result` }
}

function keepRefusal(fold: Fold, edit: SummaryEdit): EditRefusal | null {
  const lost = edit.keep.find(
    ({ at }) => at.seq < edit.from || at.seq > edit.to || fold.units.find(at.seq) === undefined,
  )
  return lost === undefined ? null : noBlock(lost.at)
}

function wordsRefusal(fold: Fold, range: Range, keep: readonly Kept[]): EditRefusal | null {
  const missing = userWords(fold, range).find(
    (word) =>
      !keep.some(
        ({ at }) => at.seq === word.at.seq && (at.block === undefined || at.block === word.at.block),
      ),
  )
  if (missing === undefined) return null
  return { code: 'user-words', message: `the user's message #${name(missing.at)} would be lost; keep it` }
}

function pinRefusal(fold: Fold, at: BlockRef): EditRefusal | null {
  const part = fold.units.find(at.seq)
  if (part === undefined || (at.block !== undefined && !part.source.includes(at.block))) return noBlock(at)
  const top = fold.edits.topAt(at.seq)
  if (top !== undefined)
    return { code: 'covered', message: `${name(at)} is replaced by the edit at ${top.seq}; undo that first` }
  return fold.edits.stubs.has(at.seq) || fold.edits.remote.has(at.seq)
    ? { code: 'covered', message: `${name(at)} is cleared; undo that first` }
    : null
}

/** Lines that a summary keeps are counted in what it was made from, so nothing under one changes. */
function wholeRefusal(fold: Fold, target: Seq): EditRefusal | null {
  const top = fold.edits.topAt(target)
  if (top !== undefined)
    return { code: 'covered', message: `${target} is replaced by the edit at ${top.seq}; undo that first` }
  if (fold.edits.wholes.has(target))
    return { code: 'no-such-edit', message: `the result at ${target} is shown whole already` }
  if (fold.units.find(target)?.kind !== 'result')
    return { code: 'no-such-edit', message: `there is no result at ${target} to show whole` }
  const pin = fold.edits.pins.find(({ at, released }) => at === target && released === null)
  return pin === undefined
    ? null
    : { code: 'pinned', message: `${target} is pinned as it is; release ${pin.seq} first` }
}

function rewindRefusal(fold: Fold, fact: FactOf<'rewind'>): EditRefusal | null {
  const isCut = fold.numbers.cut.some((range) => fact.to >= range.from && fact.to <= range.to)
  if (isCut) return { code: 'no-such-entry', message: `${fact.to} was cut off by an earlier rewind` }
  const { sections, tools } = fold.view()
  // The instructions stand right behind the start: a session without them would go on as another one.
  if (fact.to === 0 && sections.length + tools.length > 0)
    return {
      code: 'no-such-entry',
      message: 'the start is before the system prompt and the tools; 1 is the first place to rewind to',
    }
  const unit = fold.units.at(fold.units.indexAfter(fact.to) - 1)
  return unit?.open === true
    ? { code: 'calls-open', message: `calls are open at ${fact.to}; rewind to before or after them` }
    : null
}

function textBlocks(part: Part): Kept[] {
  return part.source
    .filter((_, index) => part.blocks[index]!.type === 'text')
    .map((block) => ({ at: { seq: part.from, block } }))
}

function keptBy(fold: Fold, part: Part): readonly Kept[] {
  const top = fold.edits.topAt(part.from)
  if (top?.edit.kind !== 'summary') return []
  return top.edit.keep.filter(({ at }) => fold.units.find(at.seq)?.kind === 'input')
}

const name = ({ seq, block, inner }: StubEdit['at']): string =>
  block === undefined ? `${seq}` : `${seq}.${inner ?? block}`
const noBlock = (at: StubEdit['at']): EditRefusal => ({
  code: 'no-such-entry',
  message: `the view has no block ${name(at)}`,
})

// ---- pins: together they may take only a share of the room, which they take from everything else (law U1) ----

/** Why one more pin may not be set, with the numbers, or null. */
export function pinRoomRefusal(
  fold: Fold,
  model: string,
  outcome: RoomOutcome,
  at: BlockRef,
): Failure | null {
  if (!outcome.ok) return { code: 'no-room', message: outcome.why }
  const { room } = outcome.room
  const factor = factorOf(fold.numbers.calibration, model)
  const taken = factor * pinnedEstimate(fold)
  const wanted = factor * estimateAt(fold, at.seq, at.block ?? null)
  const most = defaults.view.pinShare * room
  if (taken + wanted <= most) return null
  const message =
    `this pin would take about ${whole(Math.ceil(wanted))} tokens and the others take ${whole(Math.ceil(taken))}, ` +
    `but pins may take ${whole(Math.floor(most))} of the ${whole(room)} tokens of room. Release one first, or pin a single block.`
  return { code: 'pins-full', message }
}

function pinnedEstimate(fold: Fold): number {
  let sum = 0
  for (const { at, block, released } of fold.edits.pins)
    if (released === null) sum += estimateAt(fold, at, block)
  return sum
}

function estimateAt(fold: Fold, place: Seq, block: number | null): number {
  const part = fold.units.find(place)
  if (part === undefined) return 0
  return estimateBlocks(part.blocks.filter((_, index) => block === null || part.source[index] === block))
}
