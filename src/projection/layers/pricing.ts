// What clearing a set of results is worth (SPEC 16.5), and which set is worth most. Whoever clears one result rewrites
// everything behind it, so the best set is always "everything that may go from some place on": one pass finds it.
import { defaults } from '../../settings/defaults.ts'
import { priceOfReduction, type ReductionPrice } from '../economy.ts'
import type { Budget } from '../layer.ts'
import type { View } from '../view.ts'
import type { Candidate } from './survey.ts'

/** The numbers of a choice, as they are written down with it. */
export interface ClearingPrice extends ReductionPrice {
  readonly kind: 'time' | 'cached' | 'economy' | 'pressure' | 'expired'
  readonly isWarm: boolean
  readonly freedTokens: number
  readonly tailTokens: number
  readonly expectedRequests: number
}

/** Where no price is known, the ratios that hold nearly everywhere. */
const plainRates = { read: 0.1, write: 1.25 }

/** Estimated tokens that clearing gives back, before the stub is written. */
export const freedBy = (candidate: Candidate, stubTokens: number): number =>
  candidate.part.estimate - candidate.part.clearedEstimate - stubTokens

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

/** Estimated tokens behind a result that are cached now: what another edit rewrites anyway is not paid twice. */
export function tailOf(view: View, candidate: Candidate, rewritten: number): number {
  if (view.changedFrom !== null && view.changedFrom <= candidate.part.from) return 0
  return Math.max(0, candidate.behind - rewritten)
}

/** Estimated tokens of the view from the first place on that has changed since the last request. */
export function rewrittenTail(view: View): number {
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

/** The candidates to clear so that most is won, by the margin asked for; none when every choice loses. */
export function worthClearing(
  view: View,
  budget: Budget,
  nominated: readonly Candidate[],
  stubTokens: number,
): readonly Candidate[] {
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
  for (let start = nominated.length - 1; start >= 0; start--) {
    const candidate = nominated[start]!
    freed += freedBy(candidate, stubTokens)
    // Of what lies behind, the results that go with it are not written again.
    const tail = Math.max(0, tailOf(view, candidate, rewritten) - cleared)
    cleared += candidate.part.estimate
    const value = saved * freed - paid * tail
    if (value > best.value) best = { value, start, freed }
  }
  return view.factor * best.freed < defaults.clearing.minFreedTokens ? [] : nominated.slice(best.start)
}
