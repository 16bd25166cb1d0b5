// Vectors beside words: a port that turns texts into vectors, off unless one is given, the mixing of both scores, and the
// vectors of the memories of an index.
// Scores are put on one scale and added with their shares; ranks are not mixed, since that throws away how sure each side
// is.
import type { OrWhy } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import type { IndexedMemory, MemoryIndex } from './memory-index.ts'
import type { MemorySource } from './memory-source.ts'

export type Embedded = OrWhy<{ readonly vectors: readonly Float32Array[] }>

export interface Embedder {
  /** Whose vectors these are: those of another one cannot be compared with them. */
  readonly name: string
  /** Whether it knows the script of a text; left out, it knows all. What it cannot read is left to the words. */
  readonly reads?: ((text: string) => boolean) | undefined
  /** One vector for each text, all of one length. A failure leaves the words alone to decide. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embedded>
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0
  let left = 0
  let right = 0
  for (let at = 0; at < a.length; at++) {
    dot += a[at]! * b[at]!
    left += a[at]! * a[at]!
    right += b[at]! * b[at]!
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right)
}

/**
 * Both sides by how far each score stands from the middle of its side; `share` is the part of the vectors. What shares no
 * word has no score by words; what has no vector yet stands in the middle of the vectors.
 */
export function mixed(
  words: ReadonlyMap<string, number>,
  vectors: ReadonlyMap<string, number>,
  share: number,
): ReadonlyMap<string, number> {
  const ids = [...new Set([...words.keys(), ...vectors.keys()])]
  const byWords = standardized(new Map(ids.map((id) => [id, words.get(id) ?? 0])))
  const byVectors = standardized(vectors)
  return new Map(
    ids.map((id) => [id, (1 - share) * (byWords.get(id) ?? 0) + share * (byVectors.get(id) ?? 0)]),
  )
}

function standardized(scores: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const count = Math.max(1, scores.size)
  const sum = (of: (score: number) => number): number =>
    [...scores.values()].reduce((all, score) => all + of(score), 0)
  const middle = sum((score) => score) / count
  const spread = Math.sqrt(sum((score) => (score - middle) ** 2) / count)
  return new Map([...scores].map(([id, score]) => [id, spread === 0 ? 0 : (score - middle) / spread]))
}

export type Near = OrWhy<{ readonly near: ReadonlyMap<string, number> }>

/**
 * The vectors of the memories of an index: kept ones are loaded once, missing ones made of the texts, and all kept for later
 * processes. By the hash of the memory, so one that changed has none until it is made.
 */
export class MemoryVectors {
  readonly #embedder: Embedder
  readonly #index: MemoryIndex
  readonly #vectors = new Map<string, Float32Array>()
  readonly #loaded = new Set<MemorySource>()
  #unsaved = 0

  constructor(embedder: Embedder, index: MemoryIndex) {
    this.#embedder = embedder
    this.#index = index
  }

  /** How near each is to a text. At most so many that have no vector get one; the others are left out. */
  async near(
    query: string,
    candidates: readonly IndexedMemory[],
    most: number,
    signal: AbortSignal,
  ): Promise<Near> {
    if (this.#embedder.reads?.(query) === false) return { ok: true, near: new Map() }
    for (const { source } of candidates) await this.#load(source)
    const fresh = candidates.filter(({ memory }) => !this.#vectors.has(memory.sha256)).slice(0, most)
    const texts = await Promise.all(fresh.map((one) => this.#textOf(one)))
    const made = await this.#embedder.embed([query, ...texts], signal)
    if (!made.ok) return made
    const asked = made.vectors[0]!
    for (const [at, { memory }] of fresh.entries()) this.#vectors.set(memory.sha256, made.vectors[at + 1]!)
    this.#unsaved += fresh.length
    const near = new Map<string, number>()
    for (const { name, memory } of candidates) {
      const vector = this.#vectors.get(memory.sha256)
      if (vector?.length === asked.length) near.set(name, cosine(asked, vector))
    }
    return { ok: true, near }
  }

  /** Gives every memory that may be shown a vector, and keeps them, however far it came. */
  async fill(signal: AbortSignal): Promise<void> {
    const open = this.#index.all().filter(({ memory }) => memory.standing === 'open')
    for (const { source } of open) await this.#load(source)
    const missing = open.filter(({ memory }) => !this.#vectors.has(memory.sha256))
    for (let at = 0; at < missing.length && !signal.aborted; at += defaults.encoder.textsAtOnce) {
      const some = missing.slice(at, at + defaults.encoder.textsAtOnce)
      const texts = await Promise.all(some.map((one) => this.#textOf(one)))
      const made = await this.#embedder.embed(texts, signal)
      // Whoever asks next is told why; here nobody waits.
      if (!made.ok) break
      for (const [i, { memory }] of some.entries()) this.#vectors.set(memory.sha256, made.vectors[i]!)
      this.#unsaved += some.length
    }
    await this.#store()
  }

  /** Keeps the vectors of what is in the index now. */
  async #store(): Promise<void> {
    if (this.#unsaved === 0) return
    this.#unsaved = 0
    for (const source of this.#loaded) {
      const own = this.#index.all().filter((one) => one.source === source)
      const kept = own.flatMap(({ memory: { sha256 } }) => {
        const vector = this.#vectors.get(sha256)
        return vector === undefined ? [] : [[sha256, vector] as const]
      })
      await source.recorded?.keepVectors(new Map(kept), this.#embedder.name)
    }
  }

  async #load(source: MemorySource): Promise<void> {
    if (this.#loaded.has(source)) return
    this.#loaded.add(source)
    const kept = await source.recorded?.vectors(this.#embedder.name)
    for (const [sha, vector] of kept ?? []) this.#vectors.set(sha, vector)
  }

  /** One whose index was loaded has no text yet. */
  async #textOf(one: IndexedMemory): Promise<string> {
    const read = one.memory.opening === '' ? await this.#index.read(one) : null
    const { name, description, opening } = read?.ok === true ? read.memory : one.memory
    return [name, description, opening].join('\n').slice(0, defaults.encoder.textChars)
  }
}
