import { describe, expect, it } from 'vitest'
import { atomsOf, contentWords } from './atoms.ts'

const found = (text: string): readonly string[] => [...atomsOf(text)].sort()

describe('atoms', () => {
  it('[J1] are paths, identifiers, numbers and hashes, and no plain words', () => {
    expect(found('see ./src/lab/replay.ts:120 for createEngine, please')).toEqual([
      '120',
      'createEngine',
      'replay.ts',
      'src/lab/replay.ts',
    ])
    expect(found('commit 9fed7ed on v1.2.34 with max_tokens and 42 words')).toEqual(['9fed7ed', 'max_tokens'])
    expect(found('/home/dev/a.go')).toEqual(['/home/dev/a.go', 'a.go'])
    expect(found('fmt.printLine(x)')).toEqual(['printLine'])
    expect(found('The well-known and/or plain words. Nothing, really!')).toEqual(['and/or'])
  })

  it('[J1] stand beside content words, which are longer than two letters and not common', () => {
    expect([...contentWords('the Totals of `row_1` are für 合計金額 and 7')]).toEqual([
      'totals',
      'row_1',
      'für',
      '合計金額',
    ])
  })
})
