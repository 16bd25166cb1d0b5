// What the examples of `fit` share: a log of many pages, and a count of what was done to the messages.
import type { FitFailure, FitReport } from 'palimpsest/fit'

export const page = (number: number) =>
  Array.from(
    { length: 400 },
    (_, line) => `page ${number} line ${line}: request ${number * 400 + line} took ${line % 97} ms`,
  ).join('\n')

export const seen = { calls: 0, shortened: 0, compactions: 0, cached: 0 }

export function onFit(told: FitReport | FitFailure): void {
  if ('ok' in told) throw new Error(told.message)
  seen.calls += 1
  seen.shortened += told.edits.filter(({ isNew }) => isNew).length
  seen.compactions += told.boundary?.isNew === true ? 1 : 0
}

export const whatWasSeen = (): string =>
  `${seen.shortened} results shortened, ${seen.compactions} compactions, ${seen.cached} tokens from the cache`
