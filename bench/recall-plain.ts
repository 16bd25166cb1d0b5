// The ordinary BM25 that ours is measured beside: k1 1.2, b 0.75, one field, words as they stand and characters of
// scripts without spaces in pairs; with a lexicon the same over its stems and without its stop words.
import type { Doc } from './recall-sets.ts'
import type { Lexicon } from '../src/memory/recall/lexicon/terms.ts'

export type Ranker = (query: string, most: number) => readonly string[]

const k1 = 1.2
const b = 0.75

export function plainRanker(docs: readonly Doc[], lexicon: Lexicon | null): Ranker {
  const wordsOf = lexicon === null ? plainWords : (text: string): readonly string[] => lexicon.words(text)
  const lists = new Map<string, Map<number, number>>()
  const lengths: number[] = []
  for (const [at, { text, tags = [], speaker = '', date = '' }] of docs.entries()) {
    const words = wordsOf([speaker, date, text, ...tags].join(' '))
    lengths.push(words.length)
    for (const word of words) {
      const list = lists.get(word) ?? new Map<number, number>()
      lists.set(word, list)
      list.set(at, (list.get(at) ?? 0) + 1)
    }
  }
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, docs.length)
  return (query, most) => {
    const scores = new Map<number, number>()
    for (const word of wordsOf(query)) {
      const list = lists.get(word)
      if (list === undefined) continue
      const rarity = Math.log(1 + (docs.length - list.size + 0.5) / (list.size + 0.5))
      for (const [at, count] of list) {
        const score = (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + (b * lengths[at]!) / mean))
        scores.set(at, (scores.get(at) ?? 0) + score)
      }
    }
    return [...scores]
      .toSorted((x, y) => y[1] - x[1] || x[0] - y[0])
      .slice(0, most)
      .map(([at]) => docs[at]!.id)
  }
}

const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}`
const pieces = new RegExp(`[${unspaced}]+|(?:(?![${unspaced}])[\\p{L}\\p{N}])+`, 'gu')
const isUnspaced = new RegExp(`^[${unspaced}]`, 'u')

function plainWords(text: string): readonly string[] {
  const words: string[] = []
  for (const [piece] of text.toLowerCase().matchAll(pieces)) {
    if (!isUnspaced.test(piece)) words.push(piece)
    else for (let at = 0; at + 1 < piece.length; at++) words.push(piece.slice(at, at + 2))
  }
  return words
}
