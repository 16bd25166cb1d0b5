// Texts written short beside others: one that stands there as a word is the number of that word, and a beginning that several
// share is said once, with a sign for it wherever it stands in them.

/** The words of texts, each by its number. */
export class Words {
  readonly words: string[] = []
  readonly numbers = new Map<string, number>()

  constructor(texts: readonly string[]) {
    this.add(texts)
  }

  /** Words of further texts, after those that are known. */
  add(texts: readonly string[]): void {
    for (const text of texts)
      for (const [run] of text.matchAll(word)) {
        if (!isTelling.test(run)) continue
        const bare = hasEdge.test(run) ? run.replaceAll(edges, '') : run
        if (this.numbers.has(bare)) continue
        this.numbers.set(bare, this.words.length)
        this.words.push(bare)
      }
  }
}

/** Beginnings that texts share, each by its sign. */
export class Shared {
  readonly shared: readonly string[]
  /** The longest first, under what they begin with. */
  readonly #starts = new Map<string, readonly number[]>()

  constructor(shared: readonly string[]) {
    this.shared = shared
    const longest = [...shared.keys()].toSorted((a, b) => shared[b]!.length - shared[a]!.length)
    for (const index of longest) {
      const start = shared[index]!.slice(0, leastShared)
      this.#starts.set(start, [...(this.#starts.get(start) ?? []), index])
    }
  }

  short(text: string): string {
    let short = ''
    for (let at = 0; at < text.length;) {
      const starts = this.#starts.get(text.slice(at, at + leastShared))
      const found = starts?.find((index) => text.startsWith(this.shared[index]!, at))
      short += found === undefined ? text[at] : `^${signs[found]}`
      at += found === undefined ? 1 : this.shared[found]!.length
    }
    return short
  }

  /** Undefined where a sign stands for nothing. */
  long(short: string): string | undefined {
    if (!short.includes('^')) return short
    let isKnown = true
    const long = short.replaceAll(sign, (_, one: string) => {
      const start = this.shared[signs.indexOf(one)]
      isKnown &&= start !== undefined
      return start ?? ''
    })
    return isKnown ? long : undefined
  }
}

const word = /[A-Za-z0-9_@~./-]{3,}/g
/** A plain word is no name. */
const isTelling = /[\d_./@~]|[a-z][A-Z]/
const hasEdge = /^[./-]|[./-]$/
const edges = /^[./-]+|[./-]+$/g
const sign = /\^([0-9a-zA-Z])/g
const signs = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Neither so many nor so long that what is short could become huge. */
export const areShared = (shared: readonly string[]): boolean =>
  shared.length <= signs.length && shared.every(({ length }) => length >= leastShared && length <= mostShared)

/** Numbers of words are short, and nobody counts words. */
export const numberBase = 36
const leastShared = 4
const mostShared = 240
/** What a sign takes, and what stands around a beginning where it is said. */
const signChars = 2
const saidChars = 3

/** Beginnings that are worth saying once. */
export function sharedIn(texts: readonly string[]): readonly string[] {
  const sorted = [...new Set(texts)].toSorted()
  const found: { readonly start: string; readonly saves: number }[] = []
  const seek = (from: number, to: number, known: number): void => {
    for (let at = from; at < to;) {
      const { length, saves } = longestFrom(sorted.slice(at, to), known)
      if (saves <= 0) {
        at++
        continue
      }
      const start = sorted[at]!.slice(0, length)
      let end = at + 1
      while (end < to && sorted[end]!.startsWith(start)) end++
      found.push({ start, saves })
      seek(at, end, length)
      at = end
    }
  }
  seek(0, sorted.length, 0)
  return found
    .toSorted((a, b) => b.saves - a.saves)
    .slice(0, signs.length)
    .map(({ start }) => start)
}

/** The beginning of the first that saves most, shared with those that follow it. */
function longestFrom(
  sorted: readonly string[],
  known: number,
): { readonly length: number; readonly saves: number } {
  let best = { length: 0, saves: 0 }
  let length = Math.min(sorted[0]!.length, mostShared)
  for (let at = 1; at < sorted.length; at++) {
    length = Math.min(length, commonStart(sorted[at - 1]!, sorted[at]!))
    if (length < known + leastShared) break
    const saves = (at + 1) * (length - known - signChars) - length - saidChars
    if (saves > best.saves) best = { length, saves }
  }
  return best
}

function commonStart(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

/** What texts are written beside. */
export interface Lexicon {
  readonly words: Words
  readonly starts: Shared
}
