// What clearing a set of results is worth, and which set is worth most. Whoever clears one result rewrites
// everything behind it, so the best set is always "everything that may go from some place on": one pass finds it.
import { defaults } from '../../settings/defaults.ts'
import type { ClearingPrice } from '../../transcript/fact.ts'
import { priceOfReduction } from '../economy.ts'
import type { Budget } from '../layer.ts'
import type { View } from '../view.ts'
import type { Candidate } from './survey.ts'

/** Where no price is known, the ratios that hold nearly everywhere. */
export const plainRates = { read: 0.1, write: 1.25, output: 5 }

/** Estimated tokens that clearing gives back, before the stub is written. */
export const freedBy = (candidate: Candidate, stubTokens: number): number => shownBy(candidate) - stubTokens

export function priceOf(
  view: View,
  budget: Budget,
  kind: ClearingPrice['kind'],
  freedEstimate: number,
  tailEstimate: number,
): ClearingPrice {
  const freedTokens = Math.round(view.factor * freedEstimate)
  const tailTokens = Math.round(view.factor * tailEstimate)
  const { isWarm, expectedRequests } = budget
  const rates = budget.rates ?? plainRates
  const price = priceOfReduction({ freedTokens, tailTokens, isWarm, rates, expectedRequests })
  return { kind, isWarm, freedTokens, tailTokens, expectedRequests, ...price }
}

/** Estimated tokens that are cached now and must be written again when all of these, in order, are cleared. */
export function tailOf(view: View, cleared: readonly Candidate[]): number {
  const [first, ...others] = cleared.filter((candidate) => !isRewritten(view, candidate))
  if (first === undefined) return 0
  const gone = others.reduce((sum, candidate) => sum + shownBy(candidate), 0)
  return Math.max(0, first.behind - rewrittenTail(view) - gone)
}

/** Another edit has changed what stands before it: it is written again in any case, and that is not paid twice. */
const isRewritten = (view: View, candidate: Candidate): boolean =>
  view.changedFrom !== null && view.changedFrom <= candidate.part.from

const shownBy = ({ part }: Candidate): number => part.estimate - part.clearedEstimate

/** Estimated tokens of the view from the first place on that has changed since the last request. */
function rewrittenTail(view: View): number {
  const { changedFrom, messages } = view
  if (changedFrom === null) return 0
  let tail = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages.at(index)!
    if (message.to < changedFrom) break
    for (const part of message.parts) if (part.to >= changedFrom) tail += part.estimate - part.clearedEstimate
  }
  return tail
}

// Below this a gain is noise of the arithmetic, and deciding twice must decide the same.
const noise = 1e-12

export interface Weighed {
  /** What to clear so that most is won, by the margin asked for; none when every choice loses. */
  readonly chosen: readonly Candidate[]
  /** Then the choice that loses least, of those that would free enough. */
  readonly left: readonly Candidate[]
}

export function worthClearing(
  view: View,
  budget: Budget,
  nominated: readonly Candidate[],
  stubTokens: number,
): Weighed {
  const { isWarm, expectedRequests } = budget
  const margin = isWarm ? defaults.clearing.margin : 1
  const rates = budget.rates ?? plainRates
  // Both are in proportion to their tokens, so one of each is priced and the rest is counting.
  const one = { isWarm, rates, expectedRequests }
  const saved = view.factor * priceOfReduction({ ...one, freedTokens: 1, tailTokens: 0 }).saves
  const paid = view.factor * margin * priceOfReduction({ ...one, freedTokens: 0, tailTokens: 1 }).costs
  const rewritten = rewrittenTail(view)
  let freed = 0
  let cleared = 0
  let best = { value: noise, start: nominated.length, freed: 0 }
  let least = { value: -Infinity, start: nominated.length }
  const isEnough = (tokens: number): boolean => view.factor * tokens >= defaults.clearing.minFreedTokens
  for (let start = nominated.length - 1; start >= 0; start--) {
    const candidate = nominated[start]!
    freed += freedBy(candidate, stubTokens)
    // As `tailOf` has it, carried along: of what lies behind, the results that go too are not written again.
    const isFree = isRewritten(view, candidate)
    const tail = isFree ? 0 : Math.max(0, candidate.behind - rewritten - cleared)
    if (!isFree) cleared += shownBy(candidate)
    const value = saved * freed - paid * tail
    if (value > best.value) best = { value, start, freed }
    if (value > least.value && isEnough(freed)) least = { value, start }
  }
  if (isEnough(best.freed)) return { chosen: nominated.slice(best.start), left: [] }
  return { chosen: [], left: nominated.slice(least.start) }
}
