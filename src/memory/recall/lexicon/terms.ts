// Owns how text becomes terms, for queries and documents alike. Words of scripts with spaces are stemmed; scripts
// without spaces give every pair of neighbouring characters, and each character for itself; an identifier gives its
// parts and itself; a date in digits gives its month by name. Deterministic.
//
// A term is a plain word or pair, `·x` for a single character of an unspaced script, or `~x` for a subject.
import { createHash } from 'node:crypto'
import { associations } from './associations.ts'
import { everydayText, stopCharacters, stopWords } from './everyday-words.ts'
import { irregularForms } from './irregular-forms.ts'
import { stem } from './stem.ts'

export interface Terms {
  /** Words and pairs in their order, with repetitions. */
  readonly words: readonly string[]
  /** What else the text is found by: single characters and subjects. */
  readonly more: readonly string[]
}

const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const pieces = new RegExp(
  String.raw`[${unspaced}]+|(?:(?![${unspaced}])[\p{L}\p{M}\p{N}_])+(?:['’](?:(?![${unspaced}])\p{L})+)?`,
  'gu',
)
const unspacedRuns = new RegExp(`[${unspaced}]+`, 'gu')
const isUnspaced = new RegExp(`^[${unspaced}]`, 'u')
const partBorder = /_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const mayHaveParts = /_|[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u
const months = 'january february march april may june july august september october november december'.split(
  ' ',
)

/** One more whenever the same text gives other terms by a change of the code, not of the tables: what was stored is read anew. */
const readingVersion = 1

/** Another one whenever texts may be read into other terms. */
export const readingPrint = (): string =>
  createHash('sha256')
    .update([`${readingVersion}`, associations, everydayText, [...stopWords], [...irregularForms]].join('\n'))
    .digest('hex')
    .slice(0, printChars)
const printChars = 16

/** Stems are kept for the words met so far, up to this many. */
const keptStems = 50_000

/** What is known of a term from the tables of words. */
interface Known {
  readonly subjects: readonly string[]
  readonly isEveryday: boolean
}

const everydayMark = ''

/**
 * Reads text. It has a life because it remembers: stems, and what the tables say of a term. The tables are sorted into
 * buckets by the first letters and only stemmed where a term asks for them, so that making one costs next to nothing.
 */
export class Lexicon {
  readonly #stems = new Map<string, string | null>()
  readonly #known = new Map<string, Known>()
  readonly #buckets = new Map<string, (readonly [word: string, mark: string])[]>()

  constructor() {
    for (const line of associations.trim().split('\n')) {
      const words = line.split(' ')
      for (const word of words) this.#sort(word, `~${words[0]!}`)
    }
    for (const word of everydayText.trim().split(/\s+/u)) this.#sort(word, everydayMark)
  }

  read(text: string): Terms {
    const words = this.words(text)
    const more: string[] = []
    for (const word of words) for (const subject of this.#about(word).subjects) more.push(subject)
    for (const [run] of text.matchAll(unspacedRuns))
      for (const character of run) if (!stopCharacters.test(character)) more.push(`·${character}`)
    return { words, more }
  }

  isEveryday(term: string): boolean {
    return this.#about(term).isEveryday
  }

  #sort(word: string, mark: string): void {
    const key = bucketOf(irregularForms.get(word) ?? word)
    const bucket = this.#buckets.get(key)
    if (bucket === undefined) this.#buckets.set(key, [[word, mark]])
    else bucket.push([word, mark])
  }

  #about(term: string): Known {
    const known = this.#known.get(term)
    if (known !== undefined) return known
    const marks = new Set<string>()
    for (const [word, mark] of this.#buckets.get(bucketOf(term)) ?? [])
      if (word === term || this.#termOf(word) === term) marks.add(mark)
    const isEveryday = marks.delete(everydayMark)
    const about = marks.size === 0 && !isEveryday ? nothingKnown : { subjects: [...marks], isEveryday }
    if (this.#known.size < keptStems) this.#known.set(term, about)
    return about
  }

  words(text: string): string[] {
    const words: string[] = []
    for (const [piece] of withMonths(text.normalize('NFKC')).matchAll(pieces)) {
      if (isUnspaced.test(piece)) pushPairs(piece, words)
      else this.#pushWord(piece, words)
    }
    return words
  }

  #pushWord(piece: string, words: string[]): void {
    if (mayHaveParts.test(piece)) {
      const parts = piece.split(partBorder).filter((part) => part !== '')
      if (parts.length > 1) {
        this.#pushTerm(piece.replaceAll('_', ''), words)
        for (const part of parts) this.#pushTerm(part, words)
        return
      }
    }
    this.#pushTerm(piece, words)
  }

  #pushTerm(piece: string, words: string[]): void {
    const term = this.#termOf(piece.toLowerCase())
    if (term !== null) words.push(term)
  }

  #termOf(lower: string): string | null {
    const known = this.#stems.get(lower)
    if (known !== undefined) return known
    const term = termOf(lower)
    if (this.#stems.size < keptStems) this.#stems.set(lower, term)
    return term
  }
}

const nothingKnown: Known = { subjects: [], isEveryday: false }
const bucketOf = (word: string): string => word.slice(0, 2)

function termOf(lower: string): string | null {
  const word = lower.replaceAll('’', "'")
  const bare = word.replace(/'(?:s|t|re|ve|ll|d|m)?$/u, '').replaceAll('_', '')
  if (bare === '' || stopWords.has(bare) || stopWords.has(word.replace("'", ''))) return null
  return stem(plain(bare))
}

/** Letters without their accents, so that "cafe" finds "café". */
const plain = (word: string): string =>
  /^\p{ASCII}*$/u.test(word) ? word : word.normalize('NFD').replace(/\p{M}+/gu, '')

/** "2023-05-08" also says May, as people do. */
const withMonths = (text: string): string =>
  text.replace(
    /\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/gu,
    (whole, year: string, month: string, day: string) => {
      const name = months[Number(month) - 1]
      return name === undefined ? whole : `${year} ${name} ${Number(day)}`
    },
  )

function pushPairs(run: string, words: string[]): void {
  for (const part of run.split(stopCharacters)) {
    const characters = Array.from(part)
    for (let at = 0; at + 1 < characters.length; at++) words.push(characters[at]! + characters[at + 1]!)
  }
}

/** The single characters of a pair, as terms. */
export const charactersOf = (term: string): readonly string[] =>
  isUnspaced.test(term) ? Array.from(term, (character) => `·${character}`) : noTerms
const noTerms: readonly string[] = []

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** How many words a text has in any script, counted up to `most`. */
export function countWords(text: string, most: number): number {
  let count = 0
  for (const { isWordLike } of segmenter.segment(text)) {
    if (isWordLike === true && ++count >= most) break
  }
  return count
}
