// The cache breaks of a run, for its end: the newest in words, and the sum of all.
import { describeCause } from '../request/break-report.ts'
import type { ForeignBreak } from './breaks.ts'

export interface ListedBreak {
  readonly session: string
  readonly tokens: number
  readonly cost: number
  /** Each cause in words. */
  readonly causes: readonly string[]
}

/** So many are named one by one. */
const mostListed = 100

export class BreakList {
  readonly #newest: ListedBreak[] = []
  #count = 0
  #cost = 0

  add(session: string, { causes, tokens, cost }: ForeignBreak): void {
    this.#count++
    this.#cost += cost
    this.#newest.push({ session, tokens, cost, causes: causes.map(describeCause) })
    if (this.#newest.length > mostListed) this.#newest.shift()
  }

  get count(): number {
    return this.#count
  }

  /** Dollars beyond reading what was lost. */
  get cost(): number {
    return this.#cost
  }

  get newest(): readonly ListedBreak[] {
    return this.#newest
  }
}
