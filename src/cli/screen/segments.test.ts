import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { growthOf, mostGrowth } from '../../../test/until.ts'
import { inPieces } from './segments.ts'

const kinds = ['grapheme', 'word'] as const
const segmenterOf = (granularity: (typeof kinds)[number]): Intl.Segmenter =>
  new Intl.Segmenter('en', { granularity })
const texts = (segments: Intl.Segments): readonly string[] =>
  [...segments].map(({ index, segment }) => `${index} ${segment}`)

describe('segments in pieces', () => {
  it('[TE38] are those of the whole text', () => {
    const segmenter = segmenterOf('grapheme')
    let long = 0
    const piece = fc.constantFrom(
      'a',
      ' ',
      'é',
      '日本',
      '👩‍👩‍👧',
      '🇩🇪',
      'e\u0301',
      '\u200D',
      'שלום',
      '\uD83D',
      '\r\n',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 600, size: 'max' }), (pieces) => {
        const text = pieces.join('')
        if (text.length > 512) long++
        expect(texts(inPieces(segmenter)(text))).toEqual(texts(segmenter.segment(text)))
      }),
      { numRuns: 60 },
    )
    expect(long).toBeGreaterThan(10)
  })

  it.each(kinds)('[TE38] by %s cost as much as the text is long', (kind) => {
    const segment = inPieces(segmenterOf(kind))
    const growth = growthOf(10_000, (size) => {
      for (const { segment: each } of segment('word '.repeat(size / 5)))
        if (each === '') throw new Error(each)
    })
    expect(growth).toBeLessThan(mostGrowth)
  })
})
