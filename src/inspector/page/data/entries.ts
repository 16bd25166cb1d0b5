// The index of one session in the page: flat columns over all its places, filled as chunks come, newest first. A hundred
// thousand entries are a few typed arrays, and no object is made for a row before it is seen.
import { missingKind, noLabel } from '../../columns.ts'
import type { IndexChunk } from '../../protocol.ts'

export interface EntryRow {
  readonly seq: number
  /** The type of its fact; null: not loaded yet, '' for a place that is missing. */
  readonly kind: string | null
  readonly label: string | null
  readonly tokens: number
  readonly bytes: number
  readonly at: number
  readonly flags: number
}

/** Bits of a row that only the page knows. */
const unknownKind = 254

export class Entries {
  #first = 0
  #count = 0
  #bytes = new Uint32Array(0)
  #at = new Float64Array(0)
  #tokens = new Uint32Array(0)
  #label = new Uint32Array(0)
  #kind = new Uint8Array(0)
  #flags = new Uint8Array(0)
  readonly #kinds = new Names()
  readonly #labels = new Names()
  /** How many rows have been filled at least once. */
  #filled = 0

  get first(): number {
    return this.#first
  }
  get count(): number {
    return this.#count
  }
  get last(): number {
    return this.#first + this.#count - 1
  }
  /** Rows that have come. */
  get loaded(): number {
    return this.#filled
  }

  /** Room for all places of a session, known before any of them has come. */
  span(first: number, last: number): void {
    const count = last - first + 1
    if (count <= this.#count && first === this.#first) return
    if (count > this.#kind.length || first !== this.#first) {
      const room = Math.ceil(count * 1.2) + 64
      const shift = this.#count === 0 ? 0 : this.#first - first
      const grow = <T extends Uint32Array | Float64Array | Uint8Array>(made: T, old: T): T => {
        made.set(old.subarray(0, this.#count), shift)
        return made
      }
      this.#bytes = grow(new Uint32Array(room), this.#bytes)
      this.#at = grow(new Float64Array(room), this.#at)
      this.#tokens = grow(new Uint32Array(room), this.#tokens)
      this.#label = grow(new Uint32Array(room).fill(noLabel), this.#label)
      this.#kind = grow(new Uint8Array(room).fill(unknownKind), this.#kind)
      this.#flags = grow(new Uint8Array(room), this.#flags)
    }
    this.#first = first
    this.#count = count
  }

  put(chunk: IndexChunk): void {
    this.span(
      this.#count === 0 ? chunk.from : Math.min(this.#first, chunk.from),
      Math.max(this.last, chunk.to),
    )
    const kinds = chunk.kinds.map((name) => this.#kinds.numberOf(name))
    const labels = chunk.labels.map((name) => this.#labels.numberOf(name))
    const start = chunk.from - this.#first
    let at = chunk.at
    for (let row = 0; row < chunk.kind.length; row++) {
      const place = start + row
      if (row > 0) at += chunk.delta[row]!
      if (this.#kind[place] === unknownKind) this.#filled++
      const kind = chunk.kind[row]!
      this.#kind[place] = kind === missingKind ? missingKind : (kinds[kind] ?? missingKind)
      const label = chunk.label[row]!
      this.#label[place] = label === noLabel ? noLabel : (labels[label] ?? noLabel)
      this.#bytes[place] = chunk.bytes[row]!
      this.#tokens[place] = chunk.tokens[row]!
      this.#flags[place] = chunk.flags[row]!
      this.#at[place] = at
    }
  }

  row(seq: number): EntryRow {
    const place = seq - this.#first
    const kind = this.#kind[place]
    const isKnown = kind !== undefined && kind !== unknownKind && place < this.#count
    const label = this.#label[place] ?? noLabel
    return {
      seq,
      kind: !isKnown ? null : kind === missingKind ? '' : this.#kinds.nameOf(kind),
      label: label === noLabel ? null : this.#labels.nameOf(label),
      tokens: this.#tokens[place] ?? 0,
      bytes: this.#bytes[place] ?? 0,
      at: this.#at[place] ?? 0,
      flags: this.#flags[place] ?? 0,
    }
  }

  /** The places whose kind and flags a filter wants, oldest first. */
  placesOf(isWanted: (kind: string, flags: number) => boolean): Uint32Array {
    const found = new Uint32Array(this.#count)
    // Few pairs of kind and flags occur: each is judged once.
    const judged = new Int8Array(256 * 256).fill(-1)
    let count = 0
    for (let place = 0; place < this.#count; place++) {
      const kind = this.#kind[place]!
      if (kind === unknownKind || kind === missingKind) continue
      const pair = kind * 256 + this.#flags[place]!
      if (judged[pair]! < 0) judged[pair] = isWanted(this.#kinds.nameOf(kind), pair % 256) ? 1 : 0
      if (judged[pair] === 1) found[count++] = this.#first + place
    }
    return found.subarray(0, count)
  }
}

/** Texts by number, each once. */
class Names {
  readonly #names: string[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#names.push(name)
    this.#numbers.set(name, this.#names.length - 1)
    return this.#names.length - 1
  }

  nameOf(number: number): string {
    return this.#names[number] ?? ''
  }
}
