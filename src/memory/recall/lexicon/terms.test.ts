import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stem } from './stem.ts'
import { countWords, Lexicon } from './terms.ts'

describe('terms', () => {
  it('[RC4] forms of one English word have one stem', () => {
    const groups = [
      'run runs running ran',
      'prefer prefers preferred preference preferences',
      'happy happily happiness',
      'deploy deploys deployed deploying deployment',
      'child children',
      'buy buys bought buying',
      'meet met meeting meetings',
      'generate generates generated generating generation',
      'study studies studied studying',
    ]
    for (const group of groups) expect(new Set(group.split(' ').map(stem)).size, group).toBe(1)
    expect(stem('university')).not.toBe(stem('unit'))
  })

  it('[RC4] Chinese gives pairs within its runs, whatever stands around them', () => {
    expect(new Lexicon().words('Bart喜欢数学的问题')).toEqual(['bart', '喜欢', '欢数', '数学', '问题'])
  })

  it('[RC4] a letter that a keyboard does not have is found by how it is written without', () => {
    const lexicon = new Lexicon()
    const pairs = [
      ['Straßenverzeichnis', 'strassenverzeichnis'],
      ['København', 'kobenhavn'],
      ['Łódź', 'lodz'],
      ['œuvre', 'oeuvre'],
      ['ışık', 'isik'],
      ['Café', 'cafe'],
    ]
    for (const [one, other] of pairs) expect(lexicon.words(one!), one).toEqual(lexicon.words(other!))
  })

  it('[RC12] any text is read without fault, and twice alike', () => {
    const lexicon = new Lexicon()
    const other = new Lexicon()
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(lexicon.read(text)).toEqual(other.read(text))
      }),
      { numRuns: 30 },
    )
  })

  it('[RC13] words are counted in any script', () => {
    expect(countWords('hello', 5)).toBe(1)
    expect(countWords('  ok!! ', 5)).toBe(1)
    expect(countWords('两个词语', 5)).toBeGreaterThan(1)
    expect(countWords('one two three four five six', 3)).toBe(3)
    expect(countWords('…', 3)).toBe(0)
  })
})
