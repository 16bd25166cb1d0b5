// Owns how text becomes terms, for queries and documents alike. Words of scripts with spaces are stemmed; scripts
// without spaces give every pair of neighbouring characters, and each character for itself; an identifier gives its
// parts and itself; a date in digits gives its month by name. Deterministic.
//
// A term is a plain word or pair, `·x` for a single character of an unspaced script, or `~x` for a subject.
import { createHash } from 'node:crypto'
import { associations } from './associations.ts'
import { irregularForms, stem } from './stem.ts'

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
const readingVersion = 2

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

/** Letters without their accents, so that "cafe" finds "café", and "strasse" finds "Straße". */
const plain = (word: string): string =>
  /^\p{ASCII}*$/u.test(word)
    ? word
    : word
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .replace(/[ßæœøłđðþı]/gu, (letter) => unaccented[letter]!)
/** Letters of one piece, as they are written where a keyboard does not have them. */
const unaccented: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

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

// Words that say little about a subject, in two degrees. Stop words hold a sentence together and are left out. Everyday
// words (today, feel, really) are kept for little: a small store cannot tell by itself that they are common, since they
// are rare in it and would count as telling. Data, written by hand.

const stopWords: ReadonlySet<string> = new Set(
  (
    'a an the this that these those there here and or but nor so yet if then than as at by for from in into of off on onto out over ' +
    'to up with without within about above after again against all also am any are aren be because been before being below between both ' +
    'can cannot could couldn did didn do does doesn doing don down during each either else ever every few further had hadn has hasn have ' +
    'haven having he her hers herself him himself his how i ii im ive id ill isn it its itself just let ll me more most much must my ' +
    'myself neither no not now oh okay ok one only other our ours ourselves own per please rather really re s same shall she should ' +
    'shouldn since some such t their theirs them themselves they through too under until upon us ve very was wasn we well were weren ' +
    'what when where whether which while who whom whose why will won would wouldn yes yeah you your yours yourself d m hey hi hello ' +
    'anything something everything thing things going got get like know think want way'
  ).split(' '),
)

/** Characters that hold a sentence together; a pair that spans one says little. */
const stopCharacters =
  /[的了是在我你他她它们吗呢吧啊呀哦嗯嘛这那就都也还又很太和与及或有没不会要能可以把被让给对从到着过得地个么什怎样哪谁啦哈嘿噢唉はがをにでとものへやかねよな]/u

const everydayText = `
today yesterday tomorrow tonight now time day week month year moment morning afternoon evening ago later soon already still always never often sometimes usually once again
feel feeling think know want need try use make take give find tell say see look come go keep let put ask seem become happen start stop begin end show hear mean believe guess hope wish wonder remember
good great nice best better bad big small little large long short new old first last next different same right wrong sure possible able special particular whole full real true ready
really quite super extremely pretty especially particularly actually probably maybe perhaps almost finally simply totally definitely certainly even though however instead
lot bit kind sort part place person people man woman everyone someone anyone nobody name number point case fact idea reason way thing stuff
two three four five second many much several another enough
talk speak wow haha thank thanks please sorry
今天 昨天 明天 今晚 刚才 现在 时候 时间 最近 以前 以后 之前 之后 早上 晚上 每天 有时 经常 总是 已经 马上 开始 一直 后来 当时
知道 觉得 感觉 感到 认为 希望 想要 需要 应该 可能 或许 也许 当然 一定 真的 真是 其实 特别 非常 超级 十分 有点 一点 一些 一下 一次
因为 所以 但是 可是 不过 而且 如果 虽然 然后 或者 只是 只有 自己 大家 别人 东西 事情 地方 样子 办法
谢谢 好像 告诉 看到 听到 起来 出来 过来 回来 进去 如何
`
