// A map that holds what was set last: of more than so many the one unused for longest goes.
export class Recent<V> {
  readonly #most: number
  readonly #values = new Map<string, V>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): V | undefined {
    return this.#values.get(key)
  }

  /** What went for it, by its key. */
  set(key: string, value: V): string | null {
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size <= this.#most || oldest === undefined) return null
    this.#values.delete(oldest)
    return oldest
  }

  entries(): IterableIterator<[string, V]> {
    return this.#values.entries()
  }
}

/** Sessions of which something is remembered beside their files. */
export const rememberedSessions = 512
