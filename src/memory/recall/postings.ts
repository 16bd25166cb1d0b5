// Owns the inverted index: for each term the passages that hold it and how much of it. Passages get rising slots, so a
// list grows at its end only; a removed passage stays in the lists until enough of them are dead, and counts for nothing
// from the moment it goes. Law: after any additions and removals every count (passages, lengths, passages a term) is
// what a rebuilt index would have, so scores do not depend on the way there.

export interface Posting {
  /** Rising, and beside it how much of the term each has. As they were stored until the list grows. */
  slots: ArrayLike<number>
  amounts: ArrayLike<number>
  /** Living passages that hold the term. */
  live: number
}

/** An index as it is kept on disk: the lists one behind the other, for passages that are numbered from 0. */
export interface StoredPostings {
  readonly terms: readonly string[]
  /** How many passages hold each term. */
  readonly counts: Uint32Array
  readonly slots: Uint32Array
  readonly amounts: Float32Array
  /** The length of each passage. */
  readonly lengths: Uint32Array
}

export type Amounts = ReadonlyMap<string, number>

/** Share of dead slots at which the lists are written anew. */
const deadShare = 0.5
const fewestDead = 64

export class Postings {
  readonly #lists = new Map<string, Posting>()
  /** The terms of each slot; null once it is removed, unknown where they were stored and nobody asked yet. */
  #terms: (readonly string[] | null | undefined)[] = []
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
        growing(list).slots.push(slot)
        growing(list).amounts.push(amount)
        list.live += 1
      }
    }
    this.#terms.push([...amounts.keys()])
    this.#lengths.push(length)
    this.#totalLength += length
    this.#live += 1
    return slot
  }

  /** Takes a stored index whole; its passages get the slots from the one that is returned on. */
  adopt({ terms, counts, slots, amounts, lengths }: StoredPostings): number {
    const first = this.#terms.length
    let at = 0
    for (const [i, term] of terms.entries()) {
      const end = at + counts[i]!
      const known = this.#lists.get(term)
      const moved =
        first === 0 ? slots.subarray(at, end) : slots.subarray(at, end).map((slot) => slot + first)
      if (known === undefined)
        this.#lists.set(term, { slots: moved, amounts: amounts.subarray(at, end), live: end - at })
      else {
        const grown = growing(known)
        for (const slot of moved) grown.slots.push(slot)
        for (let from = at; from < end; from++) grown.amounts.push(amounts[from]!)
        known.live += end - at
      }
      at = end
    }
    for (const length of lengths) {
      this.#terms.push(undefined)
      this.#lengths.push(length)
      this.#totalLength += length
    }
    this.#live += lengths.length
    return first
  }

  /** These slots as they are kept on disk, numbered in the order in which they are named. */
  stored(wanted: readonly number[]): StoredPostings {
    const place = new Map(wanted.map((slot, at) => [slot, at]))
    const terms: string[] = []
    const counts: number[] = []
    const slots: number[] = []
    const amounts: number[] = []
    for (const [term, list] of [...this.#lists].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const moved: (readonly [slot: number, amount: number])[] = []
      for (let at = 0; at < list.slots.length; at++) {
        const slot = place.get(list.slots[at]!)
        if (slot !== undefined) moved.push([slot, list.amounts[at]!])
      }
      if (moved.length === 0) continue
      terms.push(term)
      counts.push(moved.length)
      for (const [slot, amount] of moved.toSorted(([a], [b]) => a - b)) {
        slots.push(slot)
        amounts.push(amount)
      }
    }
    return {
      terms,
      counts: Uint32Array.from(counts),
      slots: Uint32Array.from(slots),
      amounts: Float32Array.from(amounts),
      lengths: Uint32Array.from(wanted, (slot) => this.lengthOf(slot)),
    }
  }

  /** What was stored has no terms by passage; they are looked up once, when the first passage goes. */
  #fillTerms(): void {
    if (!this.#terms.includes(undefined)) return
    const missing = new Map<number, string[]>()
    for (const [slot, terms] of this.#terms.entries()) if (terms === undefined) missing.set(slot, [])
    for (const [term, { slots }] of this.#lists)
      for (let at = 0; at < slots.length; at++) missing.get(slots[at]!)?.push(term)
    for (const [slot, terms] of missing) this.#terms[slot] = terms
  }

  remove(slot: number): void {
    this.#fillTerms()
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
    for (const [term, list] of this.#lists) {
      const { slots, amounts } = growing(list)
      this.#lists.set(term, {
        slots: slots.filter(isLive).map((slot) => moved[slot]!),
        amounts: amounts.filter((_, at) => isLive(slots[at]!)),
        live: list.live,
      })
    }
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

/** The list with arrays that can grow, in place of what was stored. */
function growing(list: Posting): { readonly slots: number[]; readonly amounts: number[] } {
  const { slots, amounts } = list
  if (Array.isArray(slots) && Array.isArray(amounts)) return { slots, amounts }
  const grown = { slots: Array.from(slots), amounts: Array.from(amounts) }
  Object.assign(list, grown)
  return grown
}
