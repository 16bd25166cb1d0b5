// What was decided about a conversation, put into the bytes of a request that begins with it. Decisions are found by the
// beginning they end, so the same beginning gets the same bytes, whoever asks and however often.
import type { Chain } from './chain.ts'
import { wordsBefore, type Boundary } from './compaction.ts'
import { stringAt, textAt, type Splice } from './json-spans.ts'
import { resultTexts, userMessage, type ForeignRequest, type ResultTexts, type Unit } from './layouts.ts'
import { sameAs, type UnitEdit } from './trim.ts'

/** What was decided, by the beginning that it ends. */
export interface Decisions {
  edit(link: string): UnitEdit | undefined
  boundary(link: string): Boundary | undefined
}

/** A result that is sent shorter. */
export interface AppliedEdit {
  readonly unit: number
  readonly edit: UnitEdit
  readonly result: ResultTexts
}

export interface AppliedDecisions {
  readonly splices: readonly Splice[]
  readonly edits: readonly AppliedEdit[]
  /** The compaction that this request carries, and the first unit behind what it replaces. */
  readonly boundary: { readonly boundary: Boundary; readonly end: number } | null
}

export function applyDecisions(
  request: ForeignRequest,
  { links }: Pick<Chain, 'links'>,
  decisions: Decisions,
): AppliedDecisions {
  const at = links.findLastIndex((link) => isApplicable(decisions.boundary(link), request))
  const boundary = at < 0 ? undefined : decisions.boundary(links[at]!)
  const isGone = ({ message }: Unit): boolean =>
    boundary !== undefined && message >= boundary.from && message < boundary.to
  // What names an earlier result stands for nothing once that one is behind a summary: then it is sent whole.
  let inSight: readonly (readonly [unit: number, name: string])[] | null = null
  const isInSight = (upTo: number, edit: UnitEdit): boolean => {
    inSight ??= request.units.flatMap((unit, index) => {
      const call = isGone(unit) ? undefined : resultTexts(request, unit)?.call
      return call === undefined ? [] : [[index, sameAs(call)] as const]
    })
    return inSight.some(([index, name]) => index < upTo && edit.texts[0]?.includes(name) === true)
  }
  const splices: Splice[] = boundary === undefined ? [] : boundarySplices(request, links, boundary)
  const edits: AppliedEdit[] = []
  for (const [unit, link] of links.entries()) {
    const edit = decisions.edit(link)
    if (edit === undefined || isGone(request.units[unit]!)) continue
    const result = resultTexts(request, request.units[unit]!)
    if (result === null || result.texts.length !== edit.texts.length) continue
    if (edit.why === 'repeated' && boundary !== undefined && !isInSight(unit, edit)) continue
    edits.push({ unit, edit, result })
    for (const [nth, span] of result.texts.entries()) {
      const text = edit.texts[nth]
      if (text !== null && text !== undefined) splices.push({ ...span, text: JSON.stringify(text) })
    }
  }
  return { splices, edits, boundary: boundary === undefined ? null : { boundary, end: at + 1 } }
}

/** One that would leave nothing behind it is of a longer conversation than this; others come from a damaged file. */
function isApplicable(boundary: Boundary | undefined, { messages, elements }: ForeignRequest): boolean {
  if (boundary === undefined) return false
  const { from, to } = boundary
  return from < to && to < messages && elements[from] !== undefined && elements[to] !== undefined
}

/** The text in place of the messages it replaces, and reasoning that was made under them left out. */
function boundarySplices(request: ForeignRequest, links: readonly string[], boundary: Boundary): Splice[] {
  const { elements } = request
  const [first, next] = [elements[boundary.from]!, elements[boundary.to]!]
  const text = `${userMessage(request.wire, boundary.text)},`
  const place = wordsBefore(request, boundary.from)
  const { start } = elements[place]!
  const splices: Splice[] =
    place === boundary.from
      ? [{ start, end: next.start, text }]
      : [
          { start, end: start, text },
          { start: first.start, end: next.start, text: '' },
        ]
  return [...splices, ...splicesWithout(request, new Set(boundary.without), links)]
}

/** The blocks whose links are named left out; a message that had nothing else says so. */
export function splicesWithout(
  { bytes, units }: ForeignRequest,
  without: ReadonlySet<string>,
  links: readonly string[],
): readonly Splice[] {
  const touched = new Set(units.flatMap(({ message }, at) => (without.has(links[at]!) ? [message] : [])))
  return [...touched].map((message) => {
    const whole = units.flatMap((unit, at) => (unit.message === message ? [{ unit, link: links[at]! }] : []))
    const left = whole.filter(({ link }) => !without.has(link))
    const slices = left.map(({ unit }) => textAt(bytes, unit) ?? '')
    return {
      start: whole[0]!.unit.start,
      end: whole.at(-1)!.unit.end,
      text: slices.length === 0 ? emptied : slices.join(','),
    }
  })
}
const emptied = JSON.stringify({ type: 'text', text: '[only reasoning stood here]' })

/** What is shown of a result that is sent shorter. */
export const shownText = ({ bytes }: ForeignRequest, { result, edit }: AppliedEdit): string =>
  edit.texts.map((text, index) => text ?? stringAt(bytes, result.texts[index]!) ?? '').join('\n')
