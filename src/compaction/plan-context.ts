// What a plan is made from: the view with its parts, where it may be cut, the room, and how sizes are counted. Reading
// only; nothing of the fold is changed.
import { expandCall } from '../transcript/markers.ts'
import type { BlockRef, Range, StubEdit } from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import { seq } from '../transcript/ids.ts'
import type { Room } from '../projection/budget.ts'
import { sizeOf } from '../projection/calibration.ts'
import { cutPlaces } from '../projection/cuts.ts'
import type { Fold } from '../projection/fold.ts'
import { canBeStubbed, isPinned, stubbed } from '../projection/folding/render.ts'
import { estimateBlock } from '../projection/tokens.ts'
import { standsOn } from '../projection/layers/survey.ts'
import type { Part, ToolResultBlock, View, ViewBlock } from '../projection/view.ts'
import { defaults } from '../settings/defaults.ts'
import { scoreWeights, type ScoreWeights } from '../settings/score-weights.ts'
import { usageIn, type Usage } from './file-work.ts'
import { scored, type Scored } from './scoring/choice.ts'
import { surveyOf } from './scoring/survey.ts'
import type { Reading } from './span-reading.ts'
import type { Sections } from './sections.ts'

export interface PlanContext {
  readonly fold: Fold
  readonly view: View
  readonly parts: readonly Part[]
  /** Whether a span may begin at part i, or end before it. */
  readonly cuts: readonly boolean[]
  readonly room: Room
  /** What an estimate is multiplied by, the provider's own count included where it differed. */
  readonly factor: number
  readonly before: number
  /** Parts that an undo gave back, and that may not be touched. */
  readonly holds: readonly Range[]
  /** Where the prefix ends that a fork shares with its parent; -1 where nothing is shared. */
  readonly prefixTo: number
  /** The first part after the last answer: what the model has not spoken to yet, when it is the user's. */
  readonly pendingFrom: number
  /** Calls whose results later ones point back to. */
  readonly stoodOn: ReadonlySet<string>
  /** Reading a span is the dear part of a plan: each is read once. */
  readonly known: Map<
    string,
    {
      readonly reading: Reading
      /** By the list of tasks that stands among them. */
      readonly sections: Map<string, Sections>
      readonly media: readonly string[]
    }
  >
  /** What is likely to be needed of the view; looked through when it is first asked for. */
  readonly scored: () => Scored
  /** Which files its calls worked on; the same. */
  readonly usage: () => Usage
}

export interface PlanContextOptions {
  /** How many times more the provider counted than we did. */
  readonly scale?: number | undefined
  readonly mayTouchHolds?: boolean | undefined
  /** What is up to this place is another's and stays as it is. */
  readonly prefixTo?: Seq | undefined
  /** Other weights than those that were fitted. */
  readonly weights?: ScoreWeights | undefined
}

export function planContextOf(fold: Fold, room: Room, options: PlanContextOptions): PlanContext {
  const { scale = 1, mayTouchHolds = false, prefixTo = -1 } = options
  const view = fold.view()
  const parts = [...fold.parts()]
  let known: Scored | null = null
  let usage: Usage | null = null
  const last = parts.findLastIndex((part) => part.kind === 'answer' || part.kind === 'result')
  return {
    fold,
    view,
    parts,
    // Made-up results share the place of the entry after them and cannot be told apart by places.
    cuts: cutPlaces(parts).map(
      (isLegal, index) =>
        isLegal && (index === 0 || index === parts.length || parts[index]!.from > parts[index - 1]!.to),
    ),
    room,
    factor: view.factor * scale,
    before: Math.round(view.tokens * scale),
    holds: mayTouchHolds ? [] : fold.edits.visibleHolds().toSorted((a, b) => a.from - b.from),
    prefixTo,
    pendingFrom: last + 1,
    stoodOn: new Set(parts.flatMap(pointersIn)),
    known: new Map(),
    scored: () => (known ??= scored(surveyOf({ fold, parts }), options.weights ?? scoreWeights)),
    usage: () => (usage ??= usageIn({ fold, parts })),
  }
}

/** What stays whatever a plan wants: what an undo restored, and in a forked agent its parent's conversation. */
export const isUntouchable = ({ holds, prefixTo }: PlanContext, part: Part): boolean =>
  part.from <= prefixTo || holds.some((range) => part.from <= range.to && part.to >= range.from)

/** What the view would take with another estimate of its messages. */
export function sizeWith({ view, factor }: PlanContext, estimate: number): number {
  return Math.round(sizeOf(view.anchor, estimate, view.factor) * (factor / view.factor))
}

export const weightOf = (part: Part): number => part.estimate - part.clearedEstimate

/** The entries that stand for parts `start` to `end`, up to the next part: what shows nothing goes with them. */
export function rangeOfParts({ parts, fold }: PlanContext, start: number, end: number): Range {
  const next = parts[end]
  return { from: parts[start]!.from, to: next === undefined ? seq(fold.numbers.upTo) : seq(next.from - 1) }
}

/** A legal cut at or before an index. */
export function cutBefore({ cuts }: PlanContext, index: number): number {
  let at = Math.min(index, cuts.length - 1)
  while (at > 0 && !cuts[at]) at--
  return at
}

export function cutAfter({ cuts }: PlanContext, index: number): number {
  let at = index
  while (at < cuts.length - 1 && !cuts[at]) at++
  return at
}

// ---- large blocks that may become stubs ----

const isResult = (block: ViewBlock): block is ToolResultBlock =>
  block.type === 'tool_result' && 'is_error' in block

function pointersIn(part: Part): readonly string[] {
  if (part.kind !== 'result') return []
  return part.blocks.flatMap((block) => (isResult(block) ? (standsOn(block) ?? []) : []))
}

export interface Stub {
  readonly edit: StubEdit
  /** Estimated tokens it frees. */
  readonly freed: number
}

/** The large blocks of a part as stubs; what is pinned, untouchable, reasoning, a call or the user's stays. */
export function stubsOf(context: PlanContext, part: Part): readonly Stub[] {
  if (part.kind === 'input' || part.kind === 'edit' || part.by !== null || isUntouchable(context, part))
    return []
  return part.blocks.flatMap((block, index): readonly Stub[] => {
    const at: BlockRef = { seq: part.from, block: part.source[index]! }
    const weight = estimateBlock(block)
    if (part.source[index] === -1 || context.factor * weight <= defaults.compaction.largeTokens) return []
    if (!canBeStubbed(block) || isPinned(context.fold.edits.pins, part.from, at.block!, Infinity)) return []
    if (isResult(block) && (block.cleared !== undefined || context.stoodOn.has(block.tool_use_id))) return []
    const text = stubText(part, block)
    const freed = weight - estimateBlock(stubbed(block, text))
    return freed <= 0 ? [] : [{ edit: { kind: 'stub', at, text, ref: `${part.from}` }, freed }]
  })
}

function stubText(part: Part, block: ViewBlock): string {
  const text = blockText(block)
  const ends = defaults.compaction.stubEndChars
  const what = part.kind === 'result' ? `result of ${part.tool ?? 'a tool'}` : 'text'
  if (text === '') return `[${block.type} cleared to save context. ${expandCall(part.from)} names it.]`
  const shown = `${text.slice(0, ends)}\n[…]\n${text.slice(-ends)}`.toWellFormed()
  return `[This ${what} had ${text.length} characters and was shortened to save context; both ends follow. ${expandCall(part.from)} returns the whole.]\n${shown}`
}

function blockText(block: ViewBlock): string {
  if (isResult(block))
    return block.content.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
  return 'text' in block && typeof block.text === 'string' ? block.text : ''
}

export const wasSent = ({ view }: PlanContext, place: Seq): boolean => place <= (view.lastRequest ?? -1)
