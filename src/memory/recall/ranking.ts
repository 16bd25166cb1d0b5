// What both rankers share: the terms of a query, sums of scores by slot, and the best few of them.
import { defaults } from '../../settings/defaults.ts'
import type { Lexicon } from './lexicon/terms.ts'

/** Sums over many places of which few are touched, so that a rare term costs little in a large index. */
export class Sums {
  readonly #sums: Float64Array
  #touched: number[] = []

  constructor(places: number) {
    this.#sums = new Float64Array(places)
  }

  add(place: number, amount: number): void {
    if (this.#sums[place] === 0) this.#touched.push(place)
    this.#sums[place]! += amount
  }

  /** The larger of what stands there and this. */
  raise(place: number, amount: number): void {
    if (this.#sums[place] === 0) this.#touched.push(place)
    if (amount > this.#sums[place]!) this.#sums[place] = amount
  }

  highest(): number {
    return this.#touched.reduce((most, place) => Math.max(most, this.#sums[place]!), 0)
  }

  drain(take: (place: number, sum: number) => void): void {
    for (const place of this.#touched) {
      take(place, this.#sums[place]!)
      this.#sums[place] = 0
    }
    this.#touched = []
  }
}

interface Scored {
  readonly id: string
  readonly score: number
}

/** Keeps the best few of many, best first, equal scores by name: cheaper than sorting all of them. */
export class Best<T extends Scored> {
  readonly #most: number
  readonly #kept: T[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** What a newcomer must reach. */
  get least(): number {
    return this.#kept.length < this.#most ? 0 : (this.#kept.at(-1)?.score ?? Infinity)
  }

  offer(one: T): void {
    const kept = this.#kept
    if (kept.length >= this.#most && (this.#most === 0 || !isBefore(one, kept.at(-1)!))) return
    let low = 0
    let high = kept.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(one, kept[middle]!)) high = middle
      else low = middle + 1
    }
    kept.splice(low, 0, one)
    if (kept.length > this.#most) kept.pop()
  }

  all(): T[] {
    return [...this.#kept]
  }
}

const isBefore = (a: Scored, b: Scored): boolean => a.score > b.score || (a.score === b.score && a.id < b.id)

/** Sums of the same parts in another order differ in their last digits; a rank must not. */
export const rounded = (score: number): number => Math.round(score * 1e9) / 1e9

/** The terms of a query and what each counts before rarity. A repeated word counts more, but less each time. */
export function askedTerms(
  lexicon: Lexicon,
  query: string,
  subjectWeight: number,
): ReadonlyMap<string, number> {
  const { words, more } = lexicon.read(query)
  const asked = new Map<string, number>()
  for (const term of words) asked.set(term, (asked.get(term) ?? 0) + 1)
  for (const term of more) asked.set(term, (asked.get(term) ?? 0) + 1)
  const { querySaturation: q, character, everyday } = defaults.ranking
  for (const [term, count] of asked) {
    const kind = term.startsWith('~')
      ? subjectWeight
      : term.startsWith('·')
        ? character
        : lexicon.isEveryday(term)
          ? everyday
          : 1
    if (kind === 0) asked.delete(term)
    else asked.set(term, (kind * count * (q + 1)) / (count + q))
  }
  return asked
}
