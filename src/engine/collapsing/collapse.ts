// Collapse at work (SPEC 5): from one share of the threshold on the best spans are staged and their texts written beside
// the talk; from the next on they are committed, the oldest first, until the view is at the target. A stage is a snapshot
// (the last one counts), a commit an edit of its own that can be undone. What fails degrades to the extracted text.
import { collapsible } from '../../projection/layers/collapse.ts'
import { viewRefusal } from '../../projection/refusal.ts'
import type { Room } from '../../projection/budget.ts'
import type { Budget } from '../../projection/layer.ts'
import { priceOf } from '../../projection/layers/pricing.ts'
import type { View } from '../../projection/view.ts'
import { partsIn, spanText } from '../../compaction/collapsing/span-text.ts'
import { defaults } from '../../settings/defaults.ts'
import type { FactOf } from '../../transcript/fact.ts'
import type { Core } from '../core.ts'
import type { Emit, TurnFailure } from '../live.ts'
import { writeTexts } from './texts.ts'

type Stage = FactOf<'collapse-stage'>
type Staged = Stage['spans'][number]

export async function collapseNow(core: Core, room: Budget, emit: Emit): Promise<TurnFailure | null> {
  const { commitShare } = defaults.collapse
  return core.view().tokens >= commitShare * room.threshold
    ? commit(core, room, emit)
    : stage(core, room, emit)
}

// ---- staging ----

async function stage(core: Core, room: Room, emit: Emit): Promise<TurnFailure | null> {
  const { tokens } = core.view()
  const before = core.latest.collapse
  const growth = tokens - (before?.lastSpawnTokens ?? 0)
  if (before?.armed === true && Math.abs(growth) < defaults.collapse.growthShare * room.room) return null
  const spans = best(core, room)
  if (spans.length === 0) return null
  const written = await core.append([{ type: 'collapse-stage', spans, armed: true, lastSpawnTokens: tokens }])
  if (!written.ok) return written.failure
  writeTexts(core, emit)
  return null
}

/**
 * The spans that together bring a view at the threshold down to the target: those staged before, for their texts are
 * paid for and sizes move as the count is learned, then the best of the others.
 */
function best(core: Core, room: Room): readonly Staged[] {
  const wanted = room.threshold - room.target
  const chosen = (core.latest.collapse?.spans ?? []).filter((span) => isWhole(core, span))
  let freed = chosen.reduce((sum, span) => sum + freedBy(sizeOf(core, span)), 0)
  for (const span of collapsible(core.view()).toSorted((a, b) => b.score - a.score)) {
    if (freed >= wanted) break
    if (chosen.some((one) => one.from <= span.to && one.to >= span.from)) continue
    chosen.push({ from: span.from, to: span.to })
    freed += freedBy(span.tokens)
  }
  return chosen.toSorted((a, b) => a.from - b.from)
}

const freedBy = (tokens: number): number => tokens * (1 - defaults.collapse.textShare)

/** Nothing of it was edited, taken back or cut off since. */
const isWhole = (core: Core, span: Staged): boolean => {
  const parts = partsIn(core.fold, span)
  return (
    parts[0]?.from === span.from &&
    parts.at(-1)?.to === span.to &&
    parts.every((part) => part.kind !== 'edit') &&
    core.view().held.every((range) => range.to < span.from || range.from > span.to)
  )
}

const sizeOf = (core: Core, span: Staged): number =>
  partsIn(core.fold, span).reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0) *
  core.view().factor

// ---- committing ----

async function commit(core: Core, room: Budget, emit: Emit): Promise<TurnFailure | null> {
  // Work may have leapt over the first share, or moved on since: what is staged is looked at again.
  const spans = best(core, room)
  const left: Staged[] = []
  for (const span of spans) {
    if (core.view().tokens <= room.target) left.push(span)
    else {
      const failure = await commitOne(core, span, { room, isFirst: span === spans[0], emit })
      if (failure !== null) return failure
    }
  }
  if (spans.length === 0) return null
  const { tokens } = core.view()
  const snapshot: Stage = { type: 'collapse-stage', spans: left, armed: false, lastSpawnTokens: tokens }
  const written = await core.append([snapshot])
  return written.ok ? null : written.failure
}

/** Estimated tokens behind a span that must be written again; what an earlier edit rewrites anyway costs nothing more. */
function tailOf(view: View, span: Staged, isFirst: boolean): number {
  if (!isFirst || (view.changedFrom !== null && view.changedFrom <= span.from)) return 0
  return [...view.messages].reduce((sum, { from, estimate }) => (from > span.to ? sum + estimate : sum), 0)
}

interface Committing {
  readonly room: Budget
  /** Of those committed together, oldest first. */
  readonly isFirst: boolean
  readonly emit: Emit
}

async function commitOne(
  core: Core,
  span: Staged,
  { room, isFirst, emit }: Committing,
): Promise<TurnFailure | null> {
  const { text = '' } = span
  const made = (text === '' ? null : spanText(core.fold, span, text)) ?? spanText(core.fold, span, null)
  if (made === null) return null
  const view = core.view()
  const count = partsIn(core.fold, span).length
  const fact: FactOf<'view-edit'> = {
    type: 'view-edit',
    layer: 'collapse',
    asked: 'automatic',
    edits: [made.edit],
    why: `the view takes ${view.tokens} of ${room.threshold} tokens, so ${count} early messages are archived`,
    tokensFreed: made.tokensFreed,
    price: priceOf(view, room, 'pressure', made.tokensFreed / view.factor, tailOf(view, span, isFirst)),
  }
  // What somebody pinned, held or edited meanwhile stays; the next span may still do.
  if (viewRefusal(core.fold, fact) !== null) return null
  const written = await core.append([fact])
  if (!written.ok) return written.failure
  const { seq } = written.entries[0]!
  emit({ type: 'view-edit', layer: fact.layer, why: fact.why, tokensFreed: fact.tokensFreed, seq })
  return null
}
