// What a prompt costs with the provider's cache in mind, as it was given and as it is returned: of this call, and of each one
// that follows while the cache is warm. A compaction makes this call dearer and the following ones cheaper; here both are told.
import { ratesOf } from '../model/models.ts'
import type { FitCost, FitReport } from './contract.ts'
import type { Named } from './output.ts'
import { writeRate } from './pace.ts'
import { untouchedTokens, type Work } from './work.ts'

/** Prices are for a million tokens. */
const perTokens = 1_000_000

export function costOf(work: Work, out: Named, tokens: number, kept: number): FitReport['cost'] {
  const { setting, state, options, fixed, factor } = work
  const untouched = untouchedTokens(work)
  const rates = setting.info === null ? null : ratesOf(setting.info, Math.max(untouched, tokens))
  if (rates === null) return null
  const isCold =
    state.given.length === 0 ||
    (options.now !== undefined && state.at !== null && options.now - state.at >= setting.lifetimeMs)
  const cached = (sizes: readonly number[], upTo: number): number =>
    isCold ? 0 : factor * sizes.slice(0, upTo).reduce((sum, each) => sum + each, upTo === 0 ? 0 : fixed)
  const priced = (all: number, read: number): number => {
    const least = Math.min(all, read)
    return (least * rates.read + (all - least) * writeRate(rates)) / perTokens
  }
  const both = (ofUntouched: number, ofFitted: number): FitCost => ({
    untouched: ofUntouched,
    fitted: ofFitted,
  })
  return {
    now: both(priced(untouched, cached(work.tokens, work.known)), priced(tokens, cached(out.tokens, kept))),
    next: both(priced(untouched, untouched), priced(tokens, tokens)),
  }
}
