// Adds up what the terms of a query give each slot, and leaves out what cannot come among the best. Terms that may give
// much come first; once all that is left could lift no slot above those that are best already, the rest is looked up for
// the few that are still in the race. Law: for every slot that may be among the best the sum is the whole one.
import type { Posting } from './postings.ts'

/** One term: what a slot full of nothing else would get, and how length counts against it. */
export interface Asked {
  readonly list: Posting
  readonly most: number
  /** No slot gets more. */
  readonly bound: number
}

export interface Lengths {
  readonly of: Int32Array
  /** What stands beside the amount below the line: `base + slope * length`. */
  readonly base: number
  readonly slope: number
}

/** What is known before the query: it multiplies the sum. Zero: not there any more. */
export interface Priors {
  readonly of: Float64Array
  readonly highest: number
}

/** Below this, looking for what can be left out costs more than it saves. */
const fewPlaces = 1024
/** Sums of the same parts in another order differ in their last digits. */
const slack = 1e-6

export class Sums {
  #sums = new Float64Array(0)
  #touched = new Int32Array(0)
  #count = 0
  #highest = 0

  /** Begins anew, with room for so many slots. */
  clear(slots: number): void {
    for (let at = 0; at < this.#count; at++) this.#sums[this.#touched[at]!] = 0
    this.#count = 0
    this.#highest = 0
    if (slots <= this.#sums.length) return
    this.#sums = new Float64Array(2 * slots)
    this.#touched = new Int32Array(2 * slots)
  }

  of(slot: number): number {
    return this.#sums[slot]!
  }

  add(slot: number, amount: number): void {
    const before = this.#sums[slot]!
    if (before === 0) this.#touched[this.#count++] = slot
    const now = before + amount
    this.#sums[slot] = now
    this.#highest = Math.max(this.#highest, now)
  }

  /** No sum was higher when a list was last added. */
  get highest(): number {
    return this.#highest
  }

  /** The slots that have anything. */
  touched(): Int32Array {
    return this.#touched.subarray(0, this.#count)
  }

  /** What the last of the best `most` has at least by now; zero where there are fewer. */
  leastOf(most: number, priors: Float64Array, isWanted: (slot: number) => boolean): number {
    const heap = new Float64Array(most)
    let size = 0
    for (let at = 0; at < this.#count; at++) {
      const slot = this.#touched[at]!
      const score = this.#sums[slot]! * priors[slot]!
      if (score <= 0 || (size === most && score <= heap[0]!) || !isWanted(slot)) continue
      if (size < most) rise(heap, size++, score)
      else sink(heap, score)
    }
    return size < most || most === 0 ? 0 : heap[0]!
  }

  /** The slots that reach so much once more is added and their prior counts. */
  above(least: number, more: number, priors: Float64Array): Int32Array {
    const found = new Int32Array(this.#count)
    let size = 0
    for (let at = 0; at < this.#count; at++) {
      const slot = this.#touched[at]!
      if ((this.#sums[slot]! + more) * priors[slot]! >= least) found[size++] = slot
    }
    return found.subarray(0, size)
  }

  addList({ list, most }: Asked, { of, base, slope }: Lengths): void {
    const { slots, amounts, count } = list
    if (slots instanceof Int32Array && amounts instanceof Float64Array)
      this.#addLong(slots.subarray(0, count), amounts, most, of, base, slope)
    else
      for (let at = 0; at < count; at++) {
        const amount = amounts[at]!
        this.add(slots[at]!, (most * amount) / (amount + base + slope * of[slots[at]!]!))
      }
  }

  /** Apart from the short ones, so that the machine knows what it walks over. */
  #addLong(
    slots: Int32Array,
    amounts: Float64Array,
    most: number,
    lengths: Int32Array,
    base: number,
    slope: number,
  ): void {
    const sums = this.#sums
    const touched = this.#touched
    let next = this.#count
    let highest = this.#highest
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at]!
      const amount = amounts[at]!
      const before = sums[slot]!
      if (before === 0) touched[next++] = slot
      const now = before + (most * amount) / (amount + base + slope * lengths[slot]!)
      if (now > highest) highest = now
      sums[slot] = now
    }
    this.#count = next
    this.#highest = highest
  }

  /** The same for a few slots. */
  addFor(few: Int32Array, { list, most }: Asked, { of, base, slope }: Lengths): void {
    for (let n = 0; n < few.length; n++) {
      const slot = few[n]!
      const at = placeOf(list, slot)
      if (at < 0) continue
      const amount = list.amounts[at]!
      this.#sums[slot]! += (most * amount) / (amount + base + slope * of[slot]!)
    }
  }
}

/** The slots that may be among the best `most`, their whole sums in `sums`; what is in it already counts along. */
export function contenders(
  sums: Sums,
  asked: readonly Asked[],
  lengths: Lengths,
  priors: Priors,
  most: number,
  isWanted: (slot: number) => boolean,
): Int32Array {
  const terms = asked.toSorted((a, b) => b.bound - a.bound)
  let more = terms.reduce((sum, { bound }) => sum + bound, 0)
  let places = terms.reduce((sum, { list }) => sum + list.count, 0)
  // Looking costs a walk over all that was touched: again only when something has changed.
  let looksBelow = Infinity
  for (const [at, term] of terms.entries()) {
    sums.addList(term, lengths)
    more -= term.bound
    places -= term.list.count
    const lift = (more + slack) * priors.highest
    if (places < fewPlaces || lift > Math.min(looksBelow, sums.highest * priors.highest)) continue
    const least = sums.leastOf(most, priors.of, isWanted)
    looksBelow = lift < least ? lift / 2 : least
    if (lift >= least) continue
    const few = sums.above(least, more + slack, priors.of)
    if (few.length * (terms.length - at) * lookupPlaces > places) continue
    for (const other of terms.slice(at + 1)) sums.addFor(few, other, lengths)
    return few
  }
  return sums.touched()
}
/** Finding a slot in a list takes about as long as walking over this many places. */
const lookupPlaces = 8

/** The least stands first, and none before what it stands above. */
function rise(heap: Float64Array, from: number, score: number): void {
  let at = from
  while (at > 0 && heap[(at - 1) >> 1]! > score) {
    heap[at] = heap[(at - 1) >> 1]!
    at = (at - 1) >> 1
  }
  heap[at] = score
}

function sink(heap: Float64Array, score: number): void {
  let at = 0
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    const lesser = child + 1 < heap.length && heap[child + 1]! < heap[child]! ? child + 1 : child
    if (heap[lesser]! >= score) break
    heap[at] = heap[lesser]!
    at = lesser
  }
  heap[at] = score
}

/** Where a slot stands in a list, or -1. */
function placeOf({ slots, count }: Posting, slot: number): number {
  let low = 0
  let high = count - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const there = slots[middle]!
    if (there === slot) return middle
    if (there < slot) low = middle + 1
    else high = middle - 1
  }
  return -1
}
