// Ranks memory files for what the user says: BM25 over the fields of a memory, each with its weight. A memory shares few
// words with the moment it is needed in, so its subjects count for a little and a phrase of its own triggers for much.
// Deterministic; `set` and `delete` leave the index as a rebuilt one would be.
import { defaults } from '../../settings/defaults.ts'
import { contenders, Sums, type Asked } from './adding.ts'
import { askedTerms, Best, rounded } from './asking.ts'
import { Postings, widened } from './postings.ts'
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
}

/** Ranks memories by the words of a message. */
export class FileRanker {
  readonly #lexicon: Lexicon
  readonly #postings = new Postings()
  readonly #slotOf = new Map<string, number>()
  #held: (Held | null)[] = []
  /** The slots that have a phrase beginning with a word. */
  readonly #triggering = new Map<string, Set<number>>()
  /** By slot; zero where nothing is held. No memory has ever had a higher one than the highest. */
  #priors = new Float64Array(1)
  #highestPrior = 0
  readonly #sums = new Sums()

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
    const { prior = 1 } = entry
    this.#held[slot] = { id, triggers }
    if (slot >= this.#priors.length) this.#priors = widened(this.#priors, new Float64Array(2 * slot))
    this.#priors[slot] = prior
    this.#highestPrior = Math.max(this.#highestPrior, prior)
    this.#noteTriggers(slot)
  }

  #noteTriggers(slot: number): void {
    for (const [first] of this.#held[slot]?.triggers ?? []) {
      const slots = this.#triggering.get(first!) ?? new Set()
      this.#triggering.set(first!, slots.add(slot))
    }
  }

  delete(id: string): void {
    const slot = this.#slotOf.get(id)
    if (slot === undefined) return
    this.#postings.remove(slot)
    this.#slotOf.delete(id)
    for (const [first] of this.#held[slot]?.triggers ?? []) this.#triggering.get(first!)?.delete(slot)
    this.#held[slot] = null
    this.#priors[slot] = 0
    if (!this.#postings.isSparse) return
    const moved = this.#postings.compacted()
    const held: (Held | null)[] = []
    const priors = new Float64Array(this.#priors.length)
    for (const [name, old] of this.#slotOf) {
      held[moved[old]!] = this.#held[old]!
      priors[moved[old]!] = this.#priors[old]!
      this.#slotOf.set(name, moved[old]!)
    }
    this.#held = held
    this.#priors = priors
    this.#triggering.clear()
    for (const slot of this.#slotOf.values()) this.#noteTriggers(slot)
  }

  /** Best first, equal scores by name; only what has something in common with the query. */
  rank(query: string, most: number, isWanted: (id: string) => boolean = () => true): RankedFile[] {
    const asked = askedTerms(this.#lexicon, query, defaults.ranking.subject)
    const sums = this.#sums
    sums.clear(this.#postings.slots)
    const triggered = this.#triggeredBy(asked)
    for (const slot of triggered) sums.add(slot, defaults.ranking.trigger)
    const { k1, b } = defaults.ranking
    const slots = contenders(
      sums,
      [...asked].flatMap(([term, weight]) => this.#asked(term, weight) ?? []),
      { of: this.#postings.lengths, base: k1 * (1 - b), slope: (k1 * b) / this.#postings.meanLength },
      { of: this.#priors, highest: this.#highestPrior },
      most,
      (slot) => isWanted(this.#held[slot]!.id),
    )
    const best = new Best<RankedFile>(most)
    for (const slot of slots) {
      const score = rounded(sums.of(slot) * this.#priors[slot]!)
      if (score <= 0 || score < best.least) continue
      const { id } = this.#held[slot]!
      if (isWanted(id)) best.offer({ id, score, isTriggered: triggered.has(slot) })
    }
    return best.all()
  }

  /** The slots of which a phrase stands whole in the query. */
  #triggeredBy(asked: ReadonlyMap<string, number>): ReadonlySet<number> {
    const found = new Set<number>()
    for (const word of asked.keys())
      for (const slot of this.#triggering.get(word) ?? [])
        if (this.#held[slot]?.triggers.some((words) => words.every((one) => asked.has(one))) === true)
          found.add(slot)
    return found
  }

  #asked(term: string, weight: number): Asked | null {
    const list = this.#postings.list(term)
    const { k1, b, leastDocuments, longList } = defaults.ranking
    if (list === undefined || (weight < 1 && list.live > longList)) return null
    const most = weight * this.#postings.rarity(term, leastDocuments) * (k1 + 1)
    const shortest = k1 * (1 - b + (b * list.shortest) / this.#postings.meanLength)
    return { list, most, bound: (most * list.peak) / (list.peak + shortest) }
  }
}
