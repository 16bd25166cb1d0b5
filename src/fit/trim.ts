// What is shortened before it is first sent (and never after): results that are too large, and results that repeat an
// earlier one word for word. Pure: a decision about units that no request has carried yet, given what was decided before.
import { stringAt, type Span } from './json-spans.ts'
import { resultTexts, type ForeignRequest } from './layouts.ts'
import type { Chain } from './chain.ts'
import { fromLineStart, headOf, tailOf, toLineEnd } from '../tools/outcome.ts'

/** What replaces the texts of one result, by their order in it; null leaves one as it is. */
export interface UnitEdit {
  readonly texts: readonly (string | null)[]
  readonly why: 'large' | 'repeated'
  /** Characters that are not sent. */
  readonly saved: number
  /** Where the whole is kept; null where it stands in the conversation already. */
  readonly kept: string | null
}

export interface TrimLimits {
  /** Largest result that passes whole. */
  readonly resultChars: number
  /** Largest sum of the results of one message. */
  readonly messageChars: number
  /** Smallest result that is replaced by the name of its equal. */
  readonly repeatedChars: number
  readonly headChars: number
  readonly tailChars: number
}

/** A result as it stands in a request. */
export interface LargeResult {
  readonly unit: number
  readonly message: number
  readonly call: string
  readonly texts: readonly string[]
  readonly chars: number
  /** A limit of its own, in place of `resultChars`. */
  readonly most?: number | undefined
}

/** Results of units that were never sent. */
export function newResults(request: ForeignRequest, from: number): readonly LargeResult[] {
  return request.units.slice(from).flatMap((unit, index) => {
    const found = resultTexts(request, unit)
    const texts = found?.texts.map((span: Span) => stringAt(request.bytes, span) ?? '') ?? []
    const chars = texts.reduce((sum, text) => sum + text.length, 0)
    return found === null || chars === 0
      ? []
      : [{ unit: from + index, message: unit.message, call: found.call, texts, chars }]
  })
}

/** Earlier results of the conversation that are still sent whole: which call gave a text, by the text. */
export type Repeats = (text: string) => string | undefined

/** Where the whole of a text will be. */
export interface KeptText {
  /** What it is kept under. */
  readonly ref: string
  /** How the agent gets at it, as a sentence that it is told. */
  readonly wayBack: string
}
/** Chooses that before the text is put there. */
export type Keeper = (text: string) => KeptText

/** The edits for results that were never sent, by their links. */
export function trimmed(
  results: readonly LargeResult[],
  { links }: Chain,
  limits: TrimLimits,
  repeats: Repeats,
  keeper: Keeper,
): ReadonlyMap<string, UnitEdit> {
  const edits = new Map<string, UnitEdit>()
  for (const result of results) {
    const edit = repeated(result, limits, repeats)
    if (edit !== null) edits.set(links[result.unit]!, edit)
  }
  const rest = results.filter(({ unit }) => !edits.has(links[unit]!))
  for (const result of tooLarge(rest, limits)) edits.set(links[result.unit]!, cut(result, limits, keeper))
  return edits
}

/** How the text in place of a repeated result names the call that gave it first. */
export const sameAs = (call: string): string => `that of call ${call} above`

function repeated({ texts, chars }: LargeResult, limits: TrimLimits, repeats: Repeats): UnitEdit | null {
  const [text] = texts
  if (texts.length !== 1 || text === undefined || chars < limits.repeatedChars) return null
  const call = repeats(text)
  if (call === undefined) return null
  return repeatOf(call, chars)
}

/** A result that stands above already. */
export function repeatOf(call: string, chars: number): UnitEdit {
  const shown = `[The same result, word for word, as ${sameAs(call)}: ${chars} characters, not repeated.]`
  return { texts: [shown], why: 'repeated', saved: chars - shown.length, kept: null }
}

/** Those over their own limit, and of a message that is over its sum the largest first. */
function tooLarge(results: readonly LargeResult[], limits: TrimLimits): readonly LargeResult[] {
  const chosen = new Set(results.filter(({ chars, most }) => chars > (most ?? limits.resultChars)))
  const shown = limits.headChars + limits.tailChars
  for (const message of new Set(results.map((result) => result.message))) {
    const inOrder = results
      .filter((result) => result.message === message)
      .toSorted((a, b) => b.chars - a.chars)
    let sum = inOrder.reduce((total, result) => total + (chosen.has(result) ? shown : result.chars), 0)
    for (const result of inOrder) {
      if (sum <= limits.messageChars || result.chars <= 2 * shown) break
      if (chosen.has(result)) continue
      chosen.add(result)
      sum -= result.chars - shown
    }
  }
  return results.filter((result) => chosen.has(result))
}

/** Both ends of what is large in a result. */
export function cut(
  { texts }: Pick<LargeResult, 'texts'>,
  limits: Pick<TrimLimits, 'headChars' | 'tailChars'>,
  keeper: Keeper,
): UnitEdit {
  const { ref, wayBack } = keeper(texts.join('\n'))
  const [most] = texts.toSorted((a, b) => b.length - a.length)
  // Only what is large is cut; small texts beside it (a status line, a note) say what it is.
  const small = Math.min(limits.headChars, most!.length - 1)
  const shown = texts.map((text) => (text.length <= small ? null : bothEnds(text, limits, wayBack)))
  const saved = shown.reduce(
    (sum, text, at) => sum + (text === null ? 0 : texts[at]!.length - text.length),
    0,
  )
  return { texts: shown, why: 'large', saved, kept: ref }
}

function bothEnds(
  text: string,
  { headChars, tailChars }: Pick<TrimLimits, 'headChars' | 'tailChars'>,
  wayBack: string,
): string {
  const head = toLineEnd(headOf(text, headChars))
  const tail = fromLineStart(tailOf(text, tailChars))
  const left = text.length - head.length - tail.length
  return `${head}\n[… ${left} characters left out here to keep the context small. ${wayBack} …]\n${tail}`
}
