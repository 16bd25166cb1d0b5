// Owns the inverted index: for each term the passages that hold it and how much of it. Passages get rising slots, so a
// list grows at its end only; a removed passage keeps its places in the lists until enough of them are dead, and counts
// for nothing from the moment it goes. Law: after any additions and removals every count (passages, lengths, passages
// a term) is what a rebuilt index would have, so scores do not depend on the way there.

export interface Posting {
  /** Rising, and how much of the term each has; the first `count` of both hold. Long lists are kept close together. */
  slots: number[] | Int32Array
  amounts: number[] | Float64Array
  count: number
  /** Living passages that hold the term. */
  live: number
  /** No passage has more of it, and none that has it is shorter; a removed one may still stand for this. */
  peak: number
  shortest: number
}

export type Amounts = ReadonlyMap<string, number>

/** Share of dead slots at which the lists are written anew. */
const deadShare = 0.5
const fewestDead = 64
/** A list of this many is kept in typed arrays: a query walks it whole, but one of a few would only waste room. */
const longFrom = 64

export class Postings {
  readonly #lists = new Map<string, Posting>()
  /** The terms of each slot; null once it is removed. */
  #held: (readonly string[] | null)[] = []
  #lengths = new Int32Array(longFrom)
  #totalLength = 0
  #live = 0

  get size(): number {
    return this.#live
  }

  /** One past the last slot. */
  get slots(): number {
    return this.#held.length
  }

  get meanLength(): number {
    return this.#live === 0 ? 1 : Math.max(1, this.#totalLength / this.#live)
  }

  lengthOf(slot: number): number {
    return this.#lengths[slot] ?? 0
  }

  /** Of all slots, by slot; good until the next addition. */
  get lengths(): Int32Array {
    return this.#lengths
  }

  isLive(slot: number): boolean {
    return (this.#held[slot] ?? null) !== null
  }

  list(term: string): Posting | undefined {
    return this.#lists.get(term)
  }

  add(amounts: Amounts, length: number): number {
    const slot = this.#held.length
    for (const [term, amount] of amounts) {
      const list = this.#lists.get(term)
      if (list === undefined)
        this.#lists.set(term, {
          slots: [slot],
          amounts: [amount],
          count: 1,
          live: 1,
          peak: amount,
          shortest: length,
        })
      else append(list, slot, amount, length)
    }
    this.#held.push([...amounts.keys()])
    if (slot >= this.#lengths.length) this.#lengths = widened(this.#lengths, new Int32Array(2 * slot))
    this.#lengths[slot] = length
    this.#totalLength += length
    this.#live += 1
    return slot
  }

  remove(slot: number): void {
    const held = this.#held[slot]
    if (held === undefined || held === null) return
    for (const term of held) {
      const list = this.#lists.get(term)!
      list.live -= 1
      if (list.live === 0) this.#lists.delete(term)
    }
    this.#held[slot] = null
    this.#totalLength -= this.#lengths[slot]!
    this.#live -= 1
  }

  /** Whether so much is dead that the owner should renumber its slots with `compacted`. */
  get isSparse(): boolean {
    const dead = this.#held.length - this.#live
    return dead >= fewestDead && dead > this.#held.length * deadShare
  }

  /** Drops the dead and gives for each old slot its new one, or -1. */
  compacted(): Int32Array {
    const moved = new Int32Array(this.#held.length).fill(-1)
    let next = 0
    for (let slot = 0; slot < this.#held.length; slot++) if (this.isLive(slot)) moved[slot] = next++
    for (const list of this.#lists.values()) {
      let kept = 0
      for (let at = 0; at < list.count; at++) {
        const slot = moved[list.slots[at]!]!
        if (slot < 0) continue
        list.slots[kept] = slot
        list.amounts[kept++] = list.amounts[at]!
      }
      list.count = kept
    }
    for (const [slot, now] of moved.entries()) if (now >= 0) this.#lengths[now] = this.#lengths[slot]!
    this.#held = this.#held.filter((held) => held !== null)
    return moved
  }

  /** How much a term tells by being rare, in an index taken for at least so large. Never negative. */
  rarity(term: string, least = 0): number {
    const live = this.#lists.get(term)?.live ?? 0
    return Math.log(1 + (Math.max(this.#live, least) - live + 0.5) / (live + 0.5))
  }
}

function append(list: Posting, slot: number, amount: number, length: number): void {
  const at = list.count
  const isFull = at >= longFrom && at >= list.slots.length
  if (isFull) {
    list.slots = widened(list.slots, new Int32Array(2 * at))
    list.amounts = widened(list.amounts, new Float64Array(2 * at))
  }
  list.slots[at] = slot
  list.amounts[at] = amount
  list.count += 1
  list.live += 1
  list.peak = Math.max(list.peak, amount)
  list.shortest = Math.min(list.shortest, length)
}

export function widened<T extends Int32Array | Float64Array>(old: ArrayLike<number>, wide: T): T {
  wide.set(old)
  return wide
}
