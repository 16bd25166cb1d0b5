import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaults } from '../../settings/defaults.ts'
import { FileRanker, type RankedFile } from './file-ranker.ts'
import { askedTerms, rounded } from './ranking.ts'
import { Lexicon } from './lexicon/terms.ts'

const lexicon = new Lexicon()
const vocabulary =
  'parser lint deploy postgres 数据库 迁移 coffee kite garden release branch token 天气 violin 测试'.split(
    ' ',
  )
const text = fc
  .array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 12 })
  .map((words) => words.join(' '))
const docs = fc.uniqueArray(fc.record({ id: fc.string({ minLength: 1, maxLength: 4 }), text }), {
  selector: ({ id }) => id,
  maxLength: 30,
})

function filled(all: readonly { readonly id: string; readonly text: string }[]): FileRanker {
  const ranker = new FileRanker(lexicon)
  for (const one of all) ranker.set(one.id, { fields: [{ text: one.text, weight: 1 }] })
  return ranker
}

interface Kept {
  readonly id: string
  readonly text: string
  readonly triggers: readonly string[]
}

/** The same scores the long way: every document against every term. */
function plainly(all: readonly Kept[], query: string, most: number, isWanted: (id: string) => boolean) {
  const { k1, b, leastDocuments, subject, trigger } = defaults.ranking
  const asked = askedTerms(lexicon, query, subject)
  const read = all.map((one) => {
    const { words, more } = lexicon.read(one.text)
    const amounts = new Map<string, number>()
    for (const term of [...words, ...more]) amounts.set(term, (amounts.get(term) ?? 0) + 1)
    return { ...one, amounts, length: words.length }
  })
  const mean = Math.max(1, read.reduce((sum, { length }) => sum + length, 0) / Math.max(1, read.length))
  const holders = new Map(
    [...asked.keys()].map((term) => [term, read.filter(({ amounts }) => amounts.has(term)).length]),
  )
  const scored = read.map(({ id, triggers, amounts, length }): RankedFile => {
    const isTriggered = triggers.some((phrase) => lexicon.words(phrase).every((word) => asked.has(word)))
    let score = isTriggered ? trigger : 0
    for (const [term, weight] of asked) {
      const amount = amounts.get(term)
      if (amount === undefined) continue
      const held = holders.get(term)!
      const rarity = Math.log(1 + (Math.max(read.length, leastDocuments) - held + 0.5) / (held + 0.5))
      score += (weight * rarity * (k1 + 1) * amount) / (amount + k1 * (1 - b + (b * length) / mean))
    }
    return { id, score: rounded(score), isTriggered }
  })
  return scored
    .filter(({ id, score }) => score > 0 && isWanted(id))
    .sort((x, y) => y.score - x.score || (x.id < y.id ? -1 : 1))
    .slice(0, most)
}

describe('ranking of memory files', () => {
  it('[RC1] the order in which documents came does not change what is found', () => {
    fc.assert(
      fc.property(docs, text, fc.nat(), (all, query, turn) => {
        const at = all.length === 0 ? 0 : turn % all.length
        const other = [...all.slice(at), ...all.slice(0, at)].reverse()
        expect(filled(other).rank(query, 50)).toEqual(filled(all).rank(query, 50))
      }),
    )
  })

  it('[RC2] after changes and removals an index ranks as one that is built anew', () => {
    const step = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), text: fc.option(text) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), text, (steps, query) => {
        const ranker = new FileRanker(lexicon)
        const last = new Map<string, string>()
        for (const { id, text: now } of steps) {
          if (now === null) {
            ranker.delete(id)
            last.delete(id)
          } else {
            ranker.set(id, { fields: [{ text: now, weight: 1 }] })
            last.set(id, now)
          }
        }
        const rebuilt = filled([...last].map(([id, kept]) => ({ id, text: kept })))
        expect(ranker.rank(query, 10)).toEqual(rebuilt.rank(query, 10))
        expect(ranker.size).toBe(last.size)
      }),
    )
  })

  it('[RC39] the best have the scores of every document taken against every term', () => {
    // Some words in every second document, most in a few.
    const words = Array.from({ length: 120 }, (_, n) => `word${String.fromCharCode(97 + (n % 26))}${n}x`)
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 30 }), fc.boolean(), (seed, most, isPicky) => {
        let state = seed + 1
        const next = (below: number): number => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
          return (state >> 8) % below
        }
        const word = (): string => words[Math.min(next(120), next(120), next(120))]!
        const some = (count: number): string => Array.from({ length: count }, word).join(' ')
        const ranker = new FileRanker(lexicon)
        const kept = new Map<string, Kept>()
        for (let n = 0; n < 3000; n++) {
          const id = `d${next(2500)}`
          const one = {
            id,
            text: some(1 + next(30)),
            triggers: next(10) === 0 ? [some(1 + next(2))] : [],
          }
          kept.set(id, one)
          const { triggers } = one
          ranker.set(id, { fields: [{ text: one.text, weight: 1 }], triggers })
          if (next(8) > 0) continue
          kept.delete(id)
          ranker.delete(id)
        }
        const isWanted = (id: string): boolean => !isPicky || !id.endsWith('3')
        for (let n = 0; n < 3; n++) {
          const query = some(4 + next(40))
          const found = ranker.rank(query, most, isWanted)
          expect(found).toEqual(plainly([...kept.values()], query, most, isWanted))
        }
      }),
      { numRuns: 12 },
    )
  })

  it('[RC3] a document on something else leaves the order of those that differ clearly', () => {
    fc.assert(
      fc.property(docs, text, (all, query) => {
        const before = filled(all).rank(query, 50)
        const after = filled([...all, { id: 'another', text: 'quarry basalt granite slate' }])
          .rank(query, 50)
          .map(({ id }) => id)
        for (const [at, high] of before.entries()) {
          for (const low of before.slice(at + 1)) {
            if (high.score > low.score * 1.2)
              expect(after.indexOf(high.id)).toBeLessThan(after.indexOf(low.id))
          }
        }
      }),
    )
  })

  it('[RC4] forms of a word, identifiers in parts, dates and Chinese words are found', () => {
    const ranker = filled([
      { id: 'went', text: 'She went camping in the mountains' },
      { id: 'names', text: 'maxOutputTokens decides how long answers are' },
      { id: 'date', text: 'The freeze begins on 2026-05-08' },
      { id: 'chinese', text: '用户喜欢用数据库迁移脚本' },
      { id: 'accent', text: 'The café at the corner' },
    ])
    const first = (query: string): string | undefined => ranker.rank(query, 1)[0]?.id
    expect(first('when does she go camping?')).toBe('went')
    expect(first('output tokens')).toBe('names')
    expect(first('what happens in May')).toBe('date')
    expect(first('数据库要怎么迁移？')).toBe('chinese')
    expect(first('a cafe nearby')).toBe('accent')
  })

  it('[RC5] a subject links what shares no word, across languages, and counts less than a word', () => {
    const ranker = filled([
      { id: 'packages', text: 'Use pnpm here' },
      { id: 'cat', text: 'Her cat sleeps on the piano' },
      { id: 'word', text: 'install the dependencies first' },
    ])
    expect(ranker.rank('please install the dependencies', 3).map(({ id }) => id)).toEqual([
      'word',
      'packages',
    ])
    expect(ranker.rank('安装依赖', 1)[0]?.id).toMatch(/^(?:packages|word)$/)
  })

  it('[RC6] a trigger phrase counts only when it stands whole in the message', () => {
    const ranker = new FileRanker(lexicon)
    ranker.set('freeze', {
      fields: [{ text: 'No merges after Thursday', weight: 1 }],
      triggers: ['cut a release'],
    })
    expect(ranker.rank('can we cut the release now?', 1)[0]?.isTriggered).toBe(true)
    expect(ranker.rank('what is in the release after Thursday?', 1)[0]?.isTriggered).toBe(false)
  })
})
