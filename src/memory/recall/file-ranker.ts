// Ranks memory files for what the user says: BM25 over the fields of a memory, each with its weight. A memory shares few
// words with the moment it is needed in, so its subjects count for a little and a phrase of its own triggers for much.
// Deterministic; `set` and `delete` leave the index as a rebuilt one would be.
import { defaults } from '../../settings/defaults.ts'
import { askedTerms, Best, rounded, Sums } from './ranking.ts'
import { Postings, type StoredPostings } from './postings.ts'
import type { Lexicon } from './lexicon/terms.ts'

export interface RankedField {
  readonly text: string
  readonly weight: number
}

export interface RankedFile {
  readonly id: string
  readonly score: number
  /** A phrase of its triggers stands whole in the query. */
  readonly isTriggered: boolean
}

export interface FileEntry {
  readonly fields: readonly RankedField[]
  readonly triggers?: readonly string[] | undefined
}

/** What a ranker keeps on disk: its documents with the words of their triggers, and their postings in that order. */
export interface StoredRanking {
  readonly documents: readonly KnownFile[]
  readonly postings: StoredPostings
}

interface KnownFile {
  readonly id: string
  readonly triggers: readonly (readonly string[])[]
}

/** Ranks memories by the words of a message. */
export class FileRanker {
  readonly #lexicon: Lexicon
  readonly #postings = new Postings()
  readonly #slotOf = new Map<string, number>()
  #files: (KnownFile | null)[] = []
  /** The slots that have a phrase beginning with a word. */
  readonly #triggering = new Map<string, Set<number>>()

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon
  }

  get size(): number {
    return this.#slotOf.size
  }

  ids(): IterableIterator<string> {
    return this.#slotOf.keys()
  }

  set(id: string, entry: FileEntry): void {
    this.delete(id)
    const amounts = new Map<string, number>()
    let length = 0
    for (const { text, weight } of entry.fields) {
      const { words, more } = this.#lexicon.read(text)
      length += words.length
      for (const term of words) amounts.set(term, (amounts.get(term) ?? 0) + weight)
      for (const term of more) amounts.set(term, (amounts.get(term) ?? 0) + weight)
    }
    const slot = this.#postings.add(amounts, length)
    this.#slotOf.set(id, slot)
    const triggers = (entry.triggers ?? [])
      .map((phrase) => [...new Set(this.#lexicon.words(phrase))])
      .filter((words) => words.some((word) => !this.#lexicon.isEveryday(word)))
    this.#files[slot] = { id, triggers }
    this.#noteTriggers(slot)
  }

  /** Takes documents as they were stored; none of them may be known here. */
  adopt({ documents, postings }: StoredRanking): void {
    const first = this.#postings.adopt(postings)
    for (const [at, file] of documents.entries()) {
      this.#slotOf.set(file.id, first + at)
      this.#files[first + at] = file
      this.#noteTriggers(first + at)
    }
  }

  /** These documents as they are kept on disk, in this order; those that are not here are left out. */
  stored(ids: readonly string[]): StoredRanking {
    const slots = ids.flatMap((id) => this.#slotOf.get(id) ?? [])
    return { documents: slots.map((slot) => this.#files[slot]!), postings: this.#postings.stored(slots) }
  }

  #noteTriggers(slot: number): void {
    for (const [first] of this.#files[slot]?.triggers ?? []) {
      const slots = this.#triggering.get(first!) ?? new Set()
      this.#triggering.set(first!, slots.add(slot))
    }
  }

  delete(id: string): void {
    const slot = this.#slotOf.get(id)
    if (slot === undefined) return
    this.#postings.remove(slot)
    this.#slotOf.delete(id)
    for (const [first] of this.#files[slot]?.triggers ?? []) this.#triggering.get(first!)?.delete(slot)
    this.#files[slot] = null
    if (!this.#postings.isSparse) return
    const moved = this.#postings.compacted()
    const files: (KnownFile | null)[] = []
    for (const [name, old] of this.#slotOf) {
      files[moved[old]!] = this.#files[old]!
      this.#slotOf.set(name, moved[old]!)
    }
    this.#files = files
    this.#triggering.clear()
    for (const slot of this.#slotOf.values()) this.#noteTriggers(slot)
  }

  /** Best first, equal scores by name; only what has something in common with the query. */
  rank(query: string, most: number, isWanted: (id: string) => boolean = () => true): RankedFile[] {
    const asked = askedTerms(this.#lexicon, query, defaults.ranking.subject)
    const sums = new Sums(this.#postings.slots)
    const triggered = this.#triggeredBy(asked)
    for (const slot of triggered) sums.add(slot, defaults.ranking.trigger)
    for (const [term, weight] of asked) this.#score(term, weight, sums)
    const best = new Best<RankedFile>(most)
    sums.drain((slot, sum) => {
      const file = this.#files[slot] ?? null
      const score = rounded(sum)
      if (file === null || score < best.least || !isWanted(file.id)) return
      best.offer({ id: file.id, score, isTriggered: triggered.has(slot) })
    })
    return best.all()
  }

  /** The slots of which a phrase stands whole in the query. */
  #triggeredBy(asked: ReadonlyMap<string, number>): ReadonlySet<number> {
    const found = new Set<number>()
    for (const word of asked.keys())
      for (const slot of this.#triggering.get(word) ?? [])
        if (this.#files[slot]?.triggers.some((words) => words.every((one) => asked.has(one))) === true)
          found.add(slot)
    return found
  }

  #score(term: string, weight: number, sums: Sums): void {
    const list = this.#postings.list(term)
    const { k1, b, leastDocuments, longList } = defaults.ranking
    if (list === undefined || (weight < 1 && list.live > longList)) return
    const most = weight * this.#postings.rarity(term, leastDocuments) * (k1 + 1)
    const mean = this.#postings.meanLength
    for (let at = 0; at < list.slots.length; at++) {
      const [slot, amount] = [list.slots[at]!, list.amounts[at]!]
      sums.add(slot, (most * amount) / (amount + k1 * (1 - b + (b * this.#postings.lengthOf(slot)) / mean)))
    }
  }
}
