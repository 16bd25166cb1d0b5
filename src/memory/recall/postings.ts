// Owns the inverted index: for each term the passages that hold it and how much of it. Passages get rising slots, so a
// list grows at its end only; a removed passage stays in the lists until enough of them are dead, and counts for nothing
// from the moment it goes. Law: after any additions and removals every count (passages, lengths, passages a term) is
// what a rebuilt index would have, so scores do not depend on the way there.

export interface Posting {
  /** Rising, and beside it how much of the term each has. */
  readonly slots: number[]
  readonly amounts: number[]
  /** Living passages that hold the term. */
  live: number
}

export type Amounts = ReadonlyMap<string, number>

/** Share of dead slots at which the lists are written anew. */
const deadShare = 0.5
const fewestDead = 64

export class Postings {
  readonly #lists = new Map<string, Posting>()
  /** The terms of each slot; null once it is removed. */
  #terms: (readonly string[] | null)[] = []
  #lengths: number[] = []
  #totalLength = 0
  #live = 0

  /** One past the last slot. */
  get slots(): number {
    return this.#terms.length
  }

  get meanLength(): number {
    return this.#live === 0 ? 1 : Math.max(1, this.#totalLength / this.#live)
  }

  lengthOf(slot: number): number {
    return this.#lengths[slot] ?? 0
  }

  list(term: string): Posting | undefined {
    return this.#lists.get(term)
  }

  add(amounts: Amounts, length: number): number {
    const slot = this.#terms.length
    for (const [term, amount] of amounts) {
      const list = this.#lists.get(term)
      if (list === undefined) this.#lists.set(term, { slots: [slot], amounts: [amount], live: 1 })
      else {
        list.slots.push(slot)
        list.amounts.push(amount)
        list.live += 1
      }
    }
    this.#terms.push([...amounts.keys()])
    this.#lengths.push(length)
    this.#totalLength += length
    this.#live += 1
    return slot
  }

  remove(slot: number): void {
    const terms = this.#terms[slot] ?? null
    if (terms === null) return
    for (const term of terms) {
      const list = this.#lists.get(term)!
      list.live -= 1
      if (list.live === 0) this.#lists.delete(term)
    }
    this.#terms[slot] = null
    this.#totalLength -= this.lengthOf(slot)
    this.#live -= 1
  }

  /** Whether so much is dead that the owner should renumber its slots with `compacted`. */
  get isSparse(): boolean {
    const dead = this.#terms.length - this.#live
    return dead >= fewestDead && dead > this.#terms.length * deadShare
  }

  /** Drops the dead and returns for each old slot its new one, or -1. */
  compacted(): readonly number[] {
    let next = 0
    const moved = this.#terms.map((terms) => (terms === null ? -1 : next++))
    const isLive = (slot: number): boolean => moved[slot]! >= 0
    for (const [term, { slots, amounts, live }] of this.#lists)
      this.#lists.set(term, {
        slots: slots.filter(isLive).map((slot) => moved[slot]!),
        amounts: amounts.filter((_, at) => isLive(slots[at]!)),
        live,
      })
    this.#lengths = this.#lengths.filter((_, slot) => isLive(slot))
    this.#terms = this.#terms.filter((terms) => terms !== null)
    return moved
  }

  /** How much a term tells by being rare, in an index taken for at least so large. Never negative. */
  rarity(term: string, least = 0): number {
    const live = this.#lists.get(term)?.live ?? 0
    return Math.log(1 + (Math.max(this.#live, least) - live + 0.5) / (live + 0.5))
  }
}
