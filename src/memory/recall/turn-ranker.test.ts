import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TurnRanker, type Turn } from './turn-ranker.ts'
import { Lexicon } from './lexicon/terms.ts'

const lexicon = new Lexicon()

function filled(turns: readonly Turn[]): TurnRanker {
  const ranker = new TurnRanker(lexicon)
  for (const turn of turns) ranker.add(turn)
  return ranker
}
const ids = (turns: readonly { readonly id: string }[]): readonly string[] => turns.map(({ id }) => id)

describe('ranking of turns', () => {
  const talk: readonly Turn[] = [
    { id: '1', session: 's1', text: 'Which violin teacher did you choose?', speaker: 'Ann' },
    { id: '2', session: 's1', text: 'Mrs. Okafor, on Elm Street.', speaker: 'Bo' },
    { id: '3', session: 's1', text: 'Nice. And the weather?', speaker: 'Ann' },
    { id: '4', session: 's2', text: 'The parser fails on tabs.', speaker: 'Ann' },
    { id: '5', session: 's2', text: 'I will look at it.', speaker: 'Bo' },
  ]

  it('[RC7] an answer is found by the words of its question, behind the question itself', () => {
    expect(ids(filled(talk).rank('violin teacher', 2))).toEqual(['1', '2'])
  })

  it('[RC8] neighbours are those of the same session', () => {
    const found = ids(filled(talk).rank('parser tabs', 5))
    expect(found[0]).toBe('4')
    expect(found).not.toContain('3')
  })

  it('[RC9] what the user said comes before the same words of an answer', () => {
    const ranker = filled([
      { id: 'answer', session: 's', text: 'tabs break the parser' },
      { id: 'gap', session: 's', text: 'something else entirely, several words of it' },
      { id: 'gap2', session: 's', text: 'other matters with several words too' },
      { id: 'gap3', session: 's', text: 'and more of these matters' },
      { id: 'user', session: 's', text: 'tabs break the parser', isUser: true },
    ])
    expect(ranker.rank('parser tabs', 1)[0]?.id).toBe('user')
  })

  it('[RC10] a long turn is found by the one place in it that fits', () => {
    const filler = Array.from({ length: 600 }, (_, at) => `filler${at % 90}`).join(' ')
    const ranker = filled([
      { id: 'long', session: 'a', text: `${filler} the turbine blade cracked ${filler}` },
      { id: 'short', session: 'b', text: 'a turbine is a machine' },
    ])
    expect(ranker.rank('cracked turbine blade', 1)[0]?.id).toBe('long')
  })

  it('[RC2] the same turns give the same ranks, whatever was asked between', () => {
    const words = fc.array(fc.constantFrom('violin', 'parser', 'tabs', '天气', 'street', 'okafor'), {
      minLength: 1,
    })
    fc.assert(
      fc.property(words, fc.nat(5), (query, at) => {
        const grown = filled(talk.slice(0, at))
        grown.rank(query.join(' '), 5)
        for (const turn of talk.slice(at)) grown.add(turn)
        expect(grown.rank(query.join(' '), 5)).toEqual(filled(talk).rank(query.join(' '), 5))
      }),
    )
  })

  it('[RC11] a turn can be expanded by the turns around it, and not beyond its session', () => {
    expect(filled(talk).around('3', 2)).toEqual(['1', '2', '3'])
  })
})
