// The ladder: whatever the history, a compaction that ends at or below the target, or below the threshold
// where what must be kept exceeds it, or a refusal with the numbers. Rungs, from the mildest: clear large results that
// were sent before; put away the older part and keep the newest messages; keep fewer; keep only what awaits an answer;
// put that away too; show less of the user's words. Pure: it plans, and somebody else writes.
import type { Edit, Range } from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import type { Room } from '../projection/budget.ts'
import { allowanceOf, pointOf, type Thrift } from '../projection/dial.ts'
import type { Fold } from '../projection/fold.ts'
import type { Part } from '../projection/view.ts'
import { defaults } from '../settings/defaults.ts'
import type { ScoreWeights } from '../settings/score-weights.ts'
import type { Audit } from './audit.ts'
import { draft, finish, ledgerTokens, type Draft, type Finished, type Shape, withLedger } from './draft.ts'
import { wordCaps } from './user-words.ts'
import { bareCut, newestOf } from './kept-messages.ts'
import type { Writer } from './summary.ts'
import {
  cutBefore,
  planContextOf,
  sizeWith,
  stubsOf,
  wasSent,
  type PlanContext,
  type Stub,
} from './plan-context.ts'
import { focusOf } from './phrases.ts'
import { draftWithin } from './within.ts'
import { notSmaller, nothingToGo, refused, tooLarge, type PlanRefusal } from './plan-refusals.ts'

export interface PlanOptions {
  readonly trigger: 'auto' | 'manual' | 'reactive'
  /** Summarise what follows this place; what is before stays. */
  readonly from?: Seq | undefined
  /** Summarise what precedes this place; it and what follows stay. */
  readonly upTo?: Seq | undefined
  /** What the user wants to find again: lines with these words come first. */
  readonly instructions?: string | undefined
  /** How many times more the provider counted than we did. */
  readonly scale?: number | undefined
  readonly mayTouchHolds?: boolean | undefined
  /** What is up to this place is another session's prefix and stays as it is. */
  readonly prefixTo?: Seq | undefined
  /** Where the dial stands: how much stays. */
  readonly thrift?: Thrift | undefined
  /** Other weights than those that were fitted. */
  readonly weights?: ScoreWeights | undefined
  /** All that stands beside system prompt and tools takes at most so many tokens. */
  readonly within?: number | undefined
  /** Large results the model has seen become stubs first; where that is enough, no text is needed. */
  readonly pressureClearing?: boolean | undefined
}

export type Step = 'clear' | 'keep' | 'keep-less' | 'keep-input' | 'all' | 'trim'

export interface Plan {
  readonly edits: readonly Edit[]
  readonly steps: readonly Step[]
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Whose text it is, or null when only results were cleared. */
  readonly source: Writer | 'extractive' | null
  readonly span: Range | null
  /** The summaries, as they will stand in the view. */
  readonly texts: readonly string[]
  readonly partsGone: readonly Part[]
  readonly partsKept: readonly Part[]
  readonly audit: Audit | null
  /** From which it was made; null when only results were cleared. */
  readonly shape: Shape | null
}

export type PlanOutcome = { readonly ok: true; readonly plan: Plan } | PlanRefusal

export function plan(fold: Fold, room: Room, options: PlanOptions): PlanOutcome {
  const context = planContextOf(fold, room, options)
  if (!isWorthTrying(context, options))
    return refused('nothing-new', context, 'nothing was said since the last compaction')
  const cleared = options.pressureClearing === true && options.trigger !== 'manual' ? clearing(context) : null
  if (cleared !== null) return { ok: true, plan: cleared }
  const found =
    options.within !== undefined
      ? inRoom(context, options, options.within)
      : options.from === undefined && options.upTo === undefined
        ? climb(context, options)
        : atPivot(context, options)
  if (!('step' in found)) return found
  const made = finishing(context, found)
  return made.ok && options.trigger !== 'manual' && isNewerGone(context, made.plan)
    ? refused('on-hold', context, 'all that could be compacted is newer than what an undo restored')
    : made
}

/** An undo gives older work back; newer work does not go in its place. */
function isNewerGone({ fold, holds }: PlanContext, { partsGone }: Plan): boolean {
  const spans = fold.edits.holds.filter(({ isSpan, range }) => isSpan && holds.includes(range))
  return spans.some(({ range }) => partsGone.some((part) => part.from > range.to))
}

/** A text that somebody wrote for what goes away. */
export interface Given {
  readonly summary: string
  readonly by: Writer
  /** The first part that stays as it is; left out, the plan's own. */
  readonly keptFrom?: ((context: PlanContext) => number) | undefined
}

/** The same plan with a text that somebody else wrote for its span, if it then is still small enough. */
export function rewritten(
  fold: Fold,
  room: Room,
  options: PlanOptions,
  made: Plan,
  given: Given,
): PlanOutcome {
  const context = planContextOf(fold, room, options)
  const whole = rewrittenWith(context, options, made, given)
  if (whole.ok || made.shape === null || made.shape.excerptTokens === 0) return whole
  // A long text leaves no room for excerpts beside it, and for the user's words only what they must have.
  const bare = { ...made.shape, excerptTokens: 0, detailTokens: 0, caps: wordCaps(made.shape.caps.factor) }
  const without = rewrittenWith(context, options, { ...made, shape: bare }, given)
  return without.ok ? without : whole
}

function rewrittenWith(
  context: PlanContext,
  options: PlanOptions,
  { shape, steps, tokensAfter }: Plan,
  { summary, by, keptFrom }: Given,
): PlanOutcome {
  const { room } = context
  const cut = keptFrom === undefined || shape === null ? {} : bareCut(context, keptFrom(context))
  const made = shape === null ? null : draft(context, { ...shape, ...cut, summary, by })
  if (made === null) return nothingToGo(context)
  // Notes keep all that came after them, so they may end above the target; with a gap, or it would begin again at once.
  const isNotes = by === 'notes'
  const most = isNotes ? belowThreshold(room) : Math.max(room.target, tokensAfter)
  if (withLedger(made) > most && (isNotes || options.trigger !== 'manual'))
    return tooLarge(context, made.tokens)
  return finishing(context, { step: steps.at(-1)!, draft: made })
}

function finishing(context: PlanContext, { step, draft: made }: Found): PlanOutcome {
  const finished = finish(context, made)
  if (finished.tokens > smallEnough(context)) return notSmaller(context, finished.tokens)
  return { ok: true, plan: planOf(context, finished, step, made.shape) }
}

/** Two compactions never run without new content between, unless what is known of the room has changed. */
function isWorthTrying({ fold, parts, room }: PlanContext, { trigger, from, upTo }: PlanOptions): boolean {
  if (trigger === 'reactive' || from !== undefined || upTo !== undefined) return true
  const last = fold.edits.controls.findLast(
    ({ fact, seq }) => fact.type === 'boundary' && fold.edits.editing(seq) !== undefined,
  )
  if (last?.fact.type !== 'boundary') return true
  if (room.threshold < (last.fact.chain?.threshold ?? 0)) return true
  return parts.some((part) => part.kind !== 'edit' && part.kind !== 'injected' && part.from > last.seq)
}

// ---- the first rung: large results the model has seen, oldest first ----

function clearing(context: PlanContext): Plan | null {
  const { parts, view, room } = context
  const stubs: Stub[] = []
  let estimate = view.estimate
  for (const part of parts) {
    if (part.kind !== 'result' || !wasSent(context, part.from)) continue
    for (const stub of stubsOf(context, part)) {
      stubs.push(stub)
      estimate -= stub.freed
    }
    const tokens = sizeWith(context, estimate)
    if (stubs.length === 0 || tokens > Math.min(room.target, smallEnough(context))) continue
    return {
      edits: stubs.map(({ edit }) => edit),
      steps: ['clear'],
      tokensBefore: context.before,
      tokensAfter: tokens,
      source: null,
      span: null,
      texts: [],
      partsGone: [],
      partsKept: parts,
      audit: null,
      shape: null,
    }
  }
  return null
}

// ---- the further rungs ----

interface Rung {
  readonly step: Step
  /** Share of what may be kept; null puts away even what awaits an answer. */
  readonly kept: number | null
  /** Share of the text's tokens. */
  readonly text: number
}

const rungs: readonly Rung[] = [
  { step: 'keep', kept: 1, text: 1 },
  { step: 'keep-less', kept: 1 / 2, text: 1 },
  { step: 'keep-less', kept: 1 / 4, text: 1 / 2 },
  { step: 'keep-input', kept: 0, text: 1 / 2 },
  { step: 'all', kept: null, text: 1 / 4 },
  { step: 'all', kept: null, text: 1 / 16 },
]
/** Nothing is kept but what must be. */
const isLean = (step: Step): boolean => step === 'keep-input' || step === 'all'

type Found = { readonly step: Step; readonly draft: Draft }

function climb(context: PlanContext, options: PlanOptions): Found | PlanRefusal {
  const { room } = context
  const least = smallEnough(context)
  const tried: Found[] = []
  for (const rung of rungs) {
    // Where the room is no matter, less would only be lost: then it is not worth it.
    if (rung.kept === null && tried.some((one) => withLedger(one.draft) <= room.target)) break
    const made = draft(context, shapeOf(context, options, rung))
    if (made === null) continue
    tried.push({ step: rung.step, draft: made })
    if (withLedger(made) <= Math.min(room.target, least)) return tried.at(-1)!
  }
  // What must be kept exceeds the target: below the threshold will do, with some room left to grow.
  const limit = Math.min(belowThreshold(room), least)
  const lean = tried.find((one) => isLean(one.step) && withLedger(one.draft) <= limit)
  if (lean !== undefined) return lean
  const trimmed = trimming(context, options, limit)
  if (trimmed !== null) return trimmed
  if (tried.length === 0) return nothingToGo(context)
  const best = Math.min(...tried.map((one) => one.draft.tokens))
  return best < room.threshold && context.holds.length === 0
    ? notSmaller(context, best)
    : tooLarge(context, best)
}

function inRoom(context: PlanContext, options: PlanOptions, tokens: number): Found | PlanRefusal {
  const rest = { focus: focusOf(options.instructions), isAutomatic: options.trigger !== 'manual' }
  const made = draftWithin(context, tokens, rest)
  return made === null ? tooLarge(context, tokens) : { step: 'keep', draft: made }
}

/** Where what must be kept exceeds the target. */
const belowThreshold = ({ threshold, room }: Room): number =>
  threshold - Math.ceil(defaults.compaction.gapShare * room)

/** The last rung: less and less of the user's words, down to their places, and at the very last no tasks. */
function trimming(context: PlanContext, options: PlanOptions, limit: number): Found | null {
  const bare = shapeOf(context, options, rungs.at(-1)!)
  const { totalTokens, messageTokens } = bare.caps
  for (let total = Math.min(totalTokens, context.room.room); ; total /= 2) {
    const words = total < 1 ? 0 : total
    const caps = { ...bare.caps, totalTokens: words, messageTokens: Math.min(messageTokens, words) }
    const made = draft(context, {
      ...bare,
      caps,
      textTokens: 0,
      taskTokens: words === 0 ? 0 : bare.taskTokens,
      ledgerTokens: 0,
      excerptTokens: 0,
      detailTokens: 0,
    })
    if (made === null) return null
    if (made.tokens <= limit) return { step: 'trim', draft: made }
    if (words === 0) return null
  }
}

/** A cut that somebody chose: the text may shrink, at the very last to nothing; the cut stays. */
function atPivot(context: PlanContext, options: PlanOptions): Found | PlanRefusal {
  const { start, end } = pivotOf(context, options)
  const made: Found[] = []
  for (const text of [1, 1 / 2, 1 / 16, 0]) {
    const shape = shapeOf(context, options, { step: 'keep', kept: 0, text })
    const one = draft(context, { ...shape, start, end, stubs: [] })
    if (one === null) return nothingToGo(context)
    made.push({ step: 'keep', draft: one })
    if (withLedger(one) <= Math.min(context.room.target, smallEnough(context))) return made.at(-1)!
  }
  return (
    made.find((one) => withLedger(one.draft) <= smallEnough(context)) ??
    notSmaller(context, made.at(-1)!.draft.tokens)
  )
}

/** Pivots move backwards only, to where the wire allows a cut. */
function pivotOf(
  context: PlanContext,
  { from, upTo }: PlanOptions,
): { readonly start: number; readonly end: number } {
  const { parts, pendingFrom } = context
  const indexOf = (place: Seq): number => {
    const index = parts.findIndex((part) => part.to >= place)
    return index < 0 ? parts.length : index
  }
  return {
    start: from === undefined ? 0 : cutBefore(context, indexOf(from)),
    end: cutBefore(context, upTo === undefined ? pendingFrom : indexOf(upTo)),
  }
}

function shapeOf(context: PlanContext, options: PlanOptions, rung: Rung): Shape {
  const { room, parts, factor } = context
  const allowance = allowanceOf(pointOf(options.thrift), room.room)
  const kept =
    rung.kept === null
      ? { start: parts.length, stubs: [] }
      : newestOf(context, rung.kept * allowance.tailTokens, allowance.tailTokens)
  const excerptTokens = rung.text * allowance.excerptTokens
  const detailTokens = rung.text * allowance.detailTokens
  return {
    start: 0,
    end: kept.start,
    stubs: kept.stubs,
    textTokens: rung.text * allowance.textTokens,
    taskTokens: rung.text === 0 ? 0 : defaults.compaction.taskTokens,
    ledgerTokens: rung.text * ledgerTokens(context),
    excerptTokens,
    detailTokens,
    caps: wordCaps(factor, defaults.dial.wordsShare * (excerptTokens + detailTokens)),
    summary: null,
    focus: focusOf(options.instructions),
    isAutomatic: options.trigger !== 'manual',
  }
}

/** A result that is not smaller is thrown away. */
const smallEnough = ({ before }: PlanContext): number => before * (1 - defaults.compaction.leastSavedShare)

function planOf(context: PlanContext, finished: Finished, step: Step, shape: Shape): Plan {
  const { segments, edits, tokens, audit } = finished
  const isGone = (index: number): boolean => segments.some(({ start, end }) => index >= start && index < end)
  return {
    edits,
    steps: edits.some((edit) => edit.kind === 'stub') ? ['clear', step] : [step],
    tokensBefore: context.before,
    tokensAfter: tokens,
    source: shape.summary === null ? 'extractive' : (shape.by ?? 'model'),
    span: { from: segments[0]!.range.from, to: segments.at(-1)!.range.to },
    texts: segments.map(({ edit }) => edit.text),
    partsGone: context.parts.filter((_, index) => isGone(index)),
    partsKept: context.parts.filter((_, index) => !isGone(index)),
    audit,
    shape,
  }
}
