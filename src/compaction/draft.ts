// One draft of a compaction: the edits for a given cut, with the size the view would have. The same context and shape
// give the same draft; a ladder tries several and takes the first that is small enough.
import { redact } from '../disk/redact.ts'
import type { Edit, Kept, Range, SummaryEdit } from '../transcript/fact.ts'
import { seq } from '../transcript/ids.ts'
import { blockWords, rangePart } from '../projection/folding/render.ts'
import { userWords } from '../projection/refusal.ts'
import type { Part } from '../projection/view.ts'
import { defaults } from '../settings/defaults.ts'
import { auditOf, inventoryOf, ledgerOf, missingFrom, placesIn, type Audit } from './audit.ts'
import { excerptsOf } from './excerpts.ts'
import { chooseLines, groupedLines, type Grouped } from './scoring/choice.ts'
import { countedOf } from './scoring/counted.ts'
import type { Line } from './scoring/lines.ts'
import { keepWords, type Keeping, type WordCaps } from './user-words.ts'
import { readAll, readOnce, sectionsOnce, tasksOfSpans } from './plan-reading.ts'
import { shownText } from './span-reading.ts'
import {
  cutAfter,
  cutBefore,
  isUntouchable,
  rangeOfParts,
  sizeWith,
  weightOf,
  type PlanContext,
  type Stub,
} from './plan-context.ts'
import { fitSections, leftOut, noSections, renderSections, sectionNames, type Sections } from './sections.ts'
import { summaryText, type Writer } from './summary.ts'

export interface Shape {
  /** The parts that go, from (included) to (excluded). */
  readonly start: number
  readonly end: number
  readonly stubs: readonly Stub[]
  readonly textTokens: number
  /** Of the text or beyond it, for tasks that are open. */
  readonly taskTokens: number
  readonly ledgerTokens: number
  /** Pieces of what goes that stay word for word. */
  readonly excerptTokens: number
  /** Single lines of it, chosen by the score, under what they belong to. */
  readonly detailTokens: number
  readonly caps: WordCaps
  readonly summary: string | null
  /** Who wrote the summary. */
  readonly by?: Writer | undefined
  readonly focus: readonly string[]
  readonly isAutomatic: boolean
}

interface Segment {
  readonly start: number
  readonly end: number
  readonly range: Range
  readonly all: Sections
  readonly fitted: Sections
  readonly keeping: Keeping
  readonly excerpts: readonly Kept[]
  /** The single lines that stay, in their order. */
  readonly lines: readonly Line[]
  readonly edit: SummaryEdit
  readonly part: Part
}

export interface Draft {
  readonly shape: Shape
  readonly segments: readonly Segment[]
  /** Without the ledger; it may add up to `ledgerTokens`. */
  readonly tokens: number
}

/** Null when nothing of the span may go. */
export function draft(context: PlanContext, shape: Shape): Draft | null {
  const spans = spansOf(context, shape)
  if (spans.length === 0) return null
  const weights = spans.map(([start, end]) => weightSum(context.parts.slice(start, end)))
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  const tasks = tasksOfSpans(context, spans)
  const segments = spans.map(([start, end], index) => {
    const isLast = index === spans.length - 1
    return segment(context, shape, start, end, {
      tokens: (shape.textTokens * weights[index]!) / Math.max(1, whole),
      isLast,
      tasks: isLast || tasks === null ? tasks : [],
    })
  })
  return { shape, segments, tokens: tokensOf(context, shape, segments) }
}

/** The spans between what may not be touched, each at places where the wire allows a cut. */
function spansOf(context: PlanContext, { start, end }: Shape): [number, number][] {
  const spans: [number, number][] = []
  let from = start
  for (let at = start; at <= end; at++) {
    if (at < end && !isUntouchable(context, context.parts[at]!)) continue
    const first = cutAfter(context, from)
    const last = cutBefore(context, at)
    // What a summary stands for already cannot be put away by itself once more.
    if (last > first && context.fold.edits.fits(rangeOfParts(context, first, last))) spans.push([first, last])
    from = at + 1
  }
  return spans
}

function segment(
  context: PlanContext,
  shape: Shape,
  start: number,
  end: number,
  {
    tokens,
    isLast,
    tasks,
  }: { readonly tokens: number; readonly isLast: boolean; readonly tasks: readonly string[] | null },
): Segment {
  const { fold, factor } = context
  const range = rangeOfParts(context, start, end)
  const summary = isLast ? shape.summary : null
  const all = summary === null ? sectionsOnce(context, start, end, tasks) : noSections
  const lines = fitSections(all, tokens, { factor, focus: shape.focus, taskTokens: shape.taskTokens })
  const keeping = keepWords(
    userWords(fold, range),
    (place) => fold.units.find(place),
    shape.caps,
    (place) => place >= (context.parts[context.pendingFrom]?.from ?? Infinity),
  )
  const excerpts = excerptsFor(context, shape, { start, end }, keeping, isLast)
  const details = isLast
    ? detailsFor(context, shape, { start, end }, [summary ?? renderSections(lines)], excerpts)
    : noDetails
  const fitted = { ...lines, details: details.items }
  const rest = {
    start,
    end,
    range,
    all: { ...all, details: details.items },
    fitted,
    keeping,
    excerpts,
    lines: details.lines,
  }
  return { ...rest, ...withText(context, shape, rest, summary, isLast) }
}

/** Of several spans the last has all that may stay: what is newest is needed most. */
function excerptsFor(
  context: PlanContext,
  { excerptTokens }: Shape,
  span: { readonly start: number; readonly end: number },
  { keep }: Keeping,
  isLast: boolean,
): readonly Kept[] {
  if (!isLast || excerptTokens <= 0) return []
  const whole = keep.filter(({ head }) => head === undefined)
  const words = whole.flatMap(({ at }) => {
    const part = context.fold.units.find(at.seq)
    return part === undefined ? [] : [shownText(part)]
  })
  return excerptsOf(context, span, excerptTokens, words)
}

/** Lines that add most to what stands in any case: messages that stay, what is written, excerpts. */
function detailsFor(
  context: PlanContext,
  { detailTokens }: Shape,
  span: { readonly start: number; readonly end: number },
  written: readonly string[],
  excerpts: readonly Kept[],
): Grouped {
  const tokens = detailTokens / context.factor
  if (tokens < leastDetailTokens) return noDetails
  const scored = context.scored()
  const texts = [...written, ...excerpts.map((kept) => excerptText(context, kept))]
  return groupedLines(scored.survey, chooseLines(scored, span, tokens, texts))
}

const leastDetailTokens = 50
const noDetails: Grouped = { items: [], lines: [] }

function excerptText({ fold }: PlanContext, { at, lines }: Kept): string {
  const part = fold.units.find(at.seq)
  const block = part?.blocks[part.source.indexOf(at.block ?? 0)]
  if (block === undefined) return ''
  const all = blockWords(block).split('\n')
  return (lines ?? []).map(([from, to]) => all.slice(from, to).join('\n')).join('\n')
}

type Unwritten = Omit<Segment, 'edit' | 'part'>

function withText(
  context: PlanContext,
  { isAutomatic, by = 'model' }: Shape,
  { range, start, end, all, fitted, keeping, excerpts }: Unwritten,
  summary: string | null,
  isLast: boolean,
): Pick<Segment, 'edit' | 'part'> {
  const { fold, view, parts, pendingFrom } = context
  const { media } = readOnce(context, start, end)
  const text = summaryText({
    span: range,
    summary: summary === null ? null : redact(summary).text,
    by,
    sections: redact(renderSections(fitted, leftOut(all, fitted))).text,
    words: keeping,
    media,
    isUnanswered: parts.slice(Math.max(start, pendingFrom), end).some((part) => part.kind === 'input'),
    isAutomatic,
    isLast,
    canExpand: view.tools.some((tool) => tool.name === expandTool),
    hasExcerpts: excerpts.length > 0,
  })
  const edit: SummaryEdit = {
    kind: 'summary',
    ...range,
    text,
    ref: `${range.from}-${range.to}`,
    ...(media.length === 0 ? {} : { media }),
    keep: [...keeping.keep, ...excerpts],
    wording: 3,
  }
  // As the fold will show it, once the edit has the next place.
  const place = seq(fold.numbers.upTo + 1)
  const live = { seq: place, uuid: parts[start]!.uuid, at: 0, layer: '', asked: 'automatic', edit } as const
  const part = rangePart(live, fold.edits.pins, (at) => fold.units.find(at))
  return { edit, part: part! }
}

const expandTool = 'Expand'

const weightSum = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + weightOf(part), 0)

function tokensOf(context: PlanContext, shape: Shape, segments: readonly Segment[]): number {
  let estimate = context.view.estimate
  for (const { start, end, part } of segments)
    estimate += part.estimate - weightSum(context.parts.slice(start, end))
  for (const { freed } of shape.stubs) estimate -= freed
  return sizeWith(context, estimate)
}

export interface Finished {
  readonly edits: readonly Edit[]
  readonly segments: readonly Segment[]
  readonly tokens: number
  readonly audit: Audit
}

/** Audits a draft against what it takes away, and puts what is missing into it as far as the ledger reaches. */
export function finish(context: PlanContext, { shape, segments }: Draft): Finished {
  const reading = readAll(
    context,
    segments.map(({ start, end }) => [start, end] as const),
  )
  const inventory = inventoryOf(reading)
  const around = shownAround(context, shape, segments)
  const shown = (now: readonly Segment[]): string =>
    [around, ...now.map(({ part }) => shownText(part))].join('\n')
  const before = missingFrom(inventory, shown(segments))
  const ledger = ledgerOf(before, shape.ledgerTokens, context.factor)
  const last = segments.at(-1)!
  const fitted = added(last.fitted, ledger)
  const unwritten = { ...last, fitted, all: added(last.all, ledger) }
  const written = { ...unwritten, ...withText(context, shape, unwritten, shape.summary, true) }
  const counted = countedOf(context.scored(), context.fold.numbers.upTo, { ...written, ...context.usage() })
  const final = [...segments.slice(0, -1), { ...written, edit: { ...written.edit, counted } }]
  const stubs = shape.stubs.map(({ edit }) => edit)
  return {
    edits: [...final.map(({ edit }) => edit), ...stubs],
    segments: final,
    tokens: tokensOf(context, shape, final),
    audit: auditOf(
      inventory,
      before,
      missingFrom(inventory, shown(final)),
      totalOf(final),
      placesIn(reading),
    ),
  }
}

function shownAround({ parts }: PlanContext, { stubs }: Shape, segments: readonly Segment[]): string {
  const stubbed = new Set<number>(stubs.map(({ edit }) => edit.at.seq))
  const texts = stubs.map(({ edit }) => edit.text)
  for (const [index, part] of parts.entries()) {
    if (stubbed.has(part.from) || segments.some(({ start, end }) => index >= start && index < end)) continue
    texts.push(shownText(part))
  }
  return texts.join('\n')
}

const added = (sections: Sections, more: Sections): Sections =>
  Object.fromEntries(
    sectionNames.map((name) => [name, [...new Set([...sections[name], ...more[name]])]]),
  ) as Record<keyof Sections, string[]>

export function totalOf(segments: readonly Pick<Segment, 'keeping'>[]): Keeping {
  const sum = (of: (keeping: Keeping) => number): number =>
    segments.reduce((all, { keeping }) => all + of(keeping), 0)
  return {
    keep: segments.flatMap(({ keeping }) => keeping.keep),
    whole: sum((keeping) => keeping.whole),
    shortened: sum((keeping) => keeping.shortened),
    pointed: sum((keeping) => keeping.pointed),
  }
}

/** A ledger is small beside the room and beside what it stands for. */
export function ledgerTokens({ room, before }: PlanContext): number {
  const { ledgerTokens: most, ledgerShare } = defaults.compaction
  return Math.floor(Math.min(most, ledgerShare * room.room, 2 * ledgerShare * before))
}

export const withLedger = ({ tokens, shape }: Draft): number => tokens + shape.ledgerTokens
