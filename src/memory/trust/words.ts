// The words of a sentence: those that speak of something, and signs of those that limit it. Scripts without blanks are read by the
// longest entries of the lexicon, others by phrases and stems. Pure.
import { lexicon } from './lexicon.ts'

export type Token = { readonly kind: 'word'; readonly says: string } | { readonly kind: 'limit' }

export const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]/u
const piece =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+|[\p{Script=Latin}\p{M}\p{N}](?:[\p{Script=Latin}\p{M}\p{N}_@/+#'’.:-]*[\p{Script=Latin}\p{M}\p{N}+#'’])?|[^\s\p{P}\p{S}]+|[,;:.!?…，。；：！？、()（）—–]/gu

export function tokensOf(sentence: string): readonly Token[] {
  const text = sentence
    .normalize('NFKC')
    .replace(/(?<=\p{L})n['’]t\b/gu, ' not')
    .replace(/\b(l|d|n|qu|j|c|s|m|t)['’](?=\p{L})/giu, '$1 ')
    .replace(/['’]s\b/gu, ' ')
  const tokens: Token[] = []
  const run: string[] = []
  const flush = (): void => {
    tokens.push(...spacedTokens(run))
    run.length = 0
  }
  for (const found of text.matchAll(piece)) {
    const [one] = found
    if (cjk.test(one)) {
      flush()
      tokens.push(...unspacedTokens(one))
    } else if (/^[^\p{P}\p{S}]/u.test(one)) run.push(one.toLowerCase())
    else flush()
  }
  flush()
  return tokens
}

const mostWords = 4

function spacedTokens(run: readonly string[]): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < run.length;) {
    let took = 0
    for (let size = Math.min(mostWords, run.length - at); size > 0 && took === 0; size--) {
      const phrase = run.slice(at, at + size).join(' ')
      const limits = lexicon.exact.get(phrase) ?? (size === 1 ? stemLimits(phrase) : undefined)
      if (limits === undefined) continue
      took = size
      if (limits) tokens.push({ kind: 'limit' })
    }
    if (took === 0) tokens.push({ kind: 'word', says: numberOf(run[at]!) })
    at += Math.max(1, took)
  }
  return tokens
}

function stemLimits(word: string): boolean | undefined {
  for (let size = word.length; size >= leastEntry; size--) {
    const limits = lexicon.stems.get(word.slice(0, size))
    if (limits !== undefined && word.length - size <= mostEnding) return limits
  }
  return undefined
}
const leastEntry = 2
const mostEnding = 6

const numberWords: readonly string[] = [
  'zero null zéro cero 零 〇',
  'one eins uno 一',
  'two zwei deux dos 二 两 兩',
  'three drei trois tres 三',
  'four vier quatre cuatro 四',
  'five fünf cinq cinco 五',
  'six sechs seis 六',
  'seven sieben sept siete 七',
  'eight acht huit ocho 八',
  'nine neun neuf nueve 九',
  'ten zehn dix diez 十',
]
const numbers: ReadonlyMap<string, string> = new Map(
  numberWords.flatMap((list, n) => list.split(' ').map((word) => [word, String(n)] as const)),
)
const numberOf = (word: string): string => numbers.get(word) ?? word

/** Scripts without blanks: the longest entries first, then character by character. */
function unspacedTokens(run: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < run.length;) {
    let took = 0
    for (let size = Math.min(lexicon.longest, run.length - at); size > 0 && took === 0; size--) {
      const limits = lexicon.unspaced.get(run.slice(at, at + size))
      if (limits === undefined) continue
      took = size
      if (limits) tokens.push({ kind: 'limit' })
    }
    if (took === 0) {
      const word = /^(?:[\p{Script=Katakana}ー]+|.)/u.exec(run.slice(at))![0]
      tokens.push({ kind: 'word', says: numberOf(word) })
      took = word.length
    }
    at += took
  }
  return tokens
}
