// Ranks memory files for what the user says: BM25 over the fields of a memory, each with its weight. A memory shares few
// words with the moment it is needed in, so its subjects count for a little and a phrase of its own triggers for much.
// Deterministic; `set` and `delete` leave the index as a rebuilt one would be.
import { defaults } from '../../settings/defaults.ts'
import { askedTerms, Best, rounded } from './asking.ts'
import { Postings } from './postings.ts'
import type { Lexicon } from './words/terms.ts'

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
  /** Multiplies the score: what is known before any query. */
  readonly prior?: number | undefined
}

interface Held {
  readonly id: string
  readonly triggers: readonly (readonly string[])[]
  readonly prior: number
}

export class FileRanker {
  readonly #lexicon: Lexicon
  readonly #postings = new Postings()
  readonly #slotOf = new Map<string, number>()
  #held: (Held | null)[] = []

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
    this.#held[slot] = {
      id,
      triggers: (entry.triggers ?? [])
        .map((phrase) => [...new Set(this.#lexicon.words(phrase))])
        .filter((words) => words.some((word) => !this.#lexicon.isEveryday(word))),
      prior: entry.prior ?? 1,
    }
  }

  delete(id: string): void {
    const slot = this.#slotOf.get(id)
    if (slot === undefined) return
    this.#postings.remove(slot)
    this.#slotOf.delete(id)
    this.#held[slot] = null
    if (!this.#postings.isSparse) return
    const moved = this.#postings.compacted()
    const held: (Held | null)[] = []
    for (const [name, old] of this.#slotOf) {
      held[moved[old]!] = this.#held[old]!
      this.#slotOf.set(name, moved[old]!)
    }
    this.#held = held
  }

  /** Best first, equal scores by name; only what has something in common with the query. */
  rank(query: string, most: number, isWanted: (id: string) => boolean = () => true): RankedFile[] {
    const scores = new Float64Array(this.#postings.slots)
    const asked = askedTerms(this.#lexicon, query, defaults.ranking.subject)
    for (const [term, weight] of asked) this.#score(term, weight, scores)
    const best = new Best<RankedFile>(most)
    // By slot and not by name: most of a large index has nothing in common with the query.
    for (let slot = 0; slot < scores.length; slot++) {
      const held = this.#held[slot]
      if (held === undefined || held === null || (scores[slot] === 0 && held.triggers.length === 0)) continue
      const { id, triggers, prior } = held
      const isTriggered = triggers.some((words) => words.every((word) => asked.has(word)))
      const score = rounded((scores[slot]! + (isTriggered ? defaults.ranking.trigger : 0)) * prior)
      if (score > 0 && score >= best.least && isWanted(id)) best.offer({ id, score, isTriggered })
    }
    return best.all()
  }

  #score(term: string, weight: number, scores: Float64Array): void {
    const list = this.#postings.list(term)
    const { k1, b, leastDocuments, longList } = defaults.ranking
    if (list === undefined || (weight < 1 && list.live > longList)) return
    const most = weight * this.#postings.rarity(term, leastDocuments) * (k1 + 1)
    const mean = this.#postings.meanLength
    for (let at = 0; at < list.slots.length; at++) {
      const slot = list.slots[at]!
      const amount = list.amounts[at]!
      scores[slot]! += (most * amount) / (amount + k1 * (1 - b + (b * this.#postings.lengthOf(slot)) / mean))
    }
  }
}
