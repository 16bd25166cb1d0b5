// How the cache of a provider behaves: data that the economy, the warmth of a session and break reports read.
import type { Lifetime } from '../transcript/lifetime.ts'

export interface CacheRules {
  /** explicit: up to the breakpoints of the request · implicit: any prefix, unasked · none: nothing is cached. */
  readonly kind: 'explicit' | 'implicit' | 'none'
  /** What can be chosen, shortest first; the only one, where nothing can. */
  readonly lifetimes: readonly Lifetime[]
  /** Prices as parts of plain input, where the model has no row of its own. */
  readonly readFactor: number
  readonly writeFactor: number
  /** A shorter prefix is not cached. */
  readonly minTokens: number
  /** Hits are multiples of this. */
  readonly stepTokens: number
  /** False: a prefix may be lost at any time, and how often it is read shows in the session alone. True where unset. */
  readonly promised?: boolean | undefined
  readonly breaks: BreakRules
}

/** When a fall of what was read is a break of the cache, and not how that cache always is. */
export interface BreakRules {
  /** Up to so many tokens a fall says nothing. */
  readonly slackTokens: number
  /** So many readings in a row must have hit before one that does not is missed. */
  readonly hitsBefore: number
  /** Positions behind the last breakpoint that are looked at for a hit; null where the whole prefix is. */
  readonly lookback: number | null
}
