import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FileRanker } from './file-ranker.ts'
import { Lexicon } from './words/terms.ts'

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
