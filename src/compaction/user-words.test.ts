import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fold } from '../projection/fold.ts'
import { userWords } from '../projection/refusal.ts'
import { rangePart } from '../projection/folding/render.ts'
import { estimateBlocks, estimateText } from '../projection/tokens.ts'
import type { ViewBlock } from '../projection/view.ts'
import { defaults } from '../settings/defaults.ts'
import { answered, entriesOf, said } from '../testing/builders.ts'
import type { Kept } from '../transcript/fact.ts'
import { seq, uuid } from '../transcript/ids.ts'
import { keepWords, wordCaps } from './user-words.ts'

function foldOf(texts: readonly string[]): Fold {
  const fold = new Fold()
  const facts = texts.flatMap((text, index) => [said(text), answered(`answer ${index}`)])
  for (const entry of entriesOf(...facts)) fold.push(entry)
  return fold
}

function keptOf(texts: readonly string[], caps = wordCaps(1)) {
  const fold = foldOf(texts)
  const words = userWords(fold, { from: seq(0), to: seq(fold.numbers.upTo) })
  return keepWords(words, (place) => fold.units.find(place), caps)
}

/** The blocks of a summary of all of it in which these stay, without its text. */
function shownOf(fold: Fold, keep: readonly Kept[]): readonly ViewBlock[] {
  const place = seq(fold.numbers.upTo + 1)
  const range = { from: seq(1), to: seq(fold.numbers.upTo) }
  const edit = { kind: 'summary', ...range, text: 'S', ref: '', keep, wording: 3 } as const
  const live = { seq: place, uuid: uuid(''), at: 0, layer: '', asked: 'automatic', edit } as const
  return rangePart(live, [], (at) => fold.units.find(at))!.blocks.slice(1)
}

const long = (words: number) => 'word '.repeat(words)

describe('the words that stay', () => {
  it('[O5] are whole up to the caps, the first goal and the newest before the others', () => {
    const { keep, whole, shortened } = keptOf(Array.from({ length: 8 }, () => long(2000)))
    expect(keep.map((kept) => kept.head === undefined)).toEqual([
      true,
      false,
      false,
      false,
      true,
      true,
      true,
      true,
    ])
    expect(whole).toBe(5)
    expect(shortened).toBe(3)
  })

  it('[O5] of one message above its cap are head and tail, and whole ones are not hurt by it', () => {
    const { keep, whole, shortened, pointed } = keptOf([long(6000), 'short'])
    expect(keep[0]).toMatchObject({
      head: defaults.view.userWordsEndChars,
      tail: defaults.view.userWordsEndChars,
    })
    expect([whole, shortened, pointed]).toEqual([1, 1, 0])
  })

  it('[O5] of thousands of messages stay within the caps: the rest is pointed to', () => {
    const { keep, whole, pointed } = keptOf(Array.from({ length: 4000 }, (_, index) => `do this ${index}`))
    expect(keep.length).toBe(4000)
    expect(whole).toBeGreaterThan(500)
    expect(pointed).toBeGreaterThan(3000)
    expect(keep[0]!.head).toBeUndefined()
    expect(keep.at(-1)!.head).toBeUndefined()
  })

  it('[O5] stay within the caps as they are shown, fences and notices and all', () => {
    const big = (index: number): string => `big ${index}\n${long(6000)}`
    const cases: readonly (readonly string[])[] = [
      Array.from({ length: 4000 }, (_, index) => `do this ${index}`),
      Array.from({ length: 300 }, (_, index) => [`ok ${index}`, big(index)]).flat(),
      Array.from({ length: 2000 }, (_, index) => [`ok ${index}`, `a\nb ${index}`]).flat(),
      ...[26, 40, 200].map((words) => Array.from({ length: 700 }, (_, index) => `${index} ${long(words)}`)),
    ]
    for (const texts of cases) {
      const { keep, whole } = keptOf(texts)
      const shown = shownOf(foldOf(texts), keep)
      expect(whole).toBeGreaterThan(40)
      const most = defaults.view.userWordsTotalTokens * (1 + defaults.compaction.endsShare)
      expect(estimateBlocks(shown)).toBeLessThanOrEqual(most)
    }
  })

  it('[O46] one that is only pointed at parts no neighbours', () => {
    const texts = ['begin', 'go on', `big\n${long(6000)}`, 'and on', 'stop']
    const fold = foldOf(texts)
    const words = userWords(fold, { from: seq(1), to: seq(fold.numbers.upTo) })
    const keep = words.map((one, index) => (index === 2 ? { ...one, head: 0, tail: 0 } : one))
    expect(shownOf(fold, keep)).toHaveLength(1)
  })

  it('[U2] of what awaits an answer are never only pointed at, however little room there is', () => {
    const fold = new Fold()
    for (const entry of entriesOf(said('begin'), answered('yes'), said(`LASTWORDS ${long(500)} END`)))
      fold.push(entry)
    const words = userWords(fold, { from: seq(0), to: seq(fold.numbers.upTo) })
    const none = { messageTokens: 0, totalTokens: 0, factor: 1 }
    const last = words.at(-1)!.at.seq
    const { keep, pointed } = keepWords(
      words,
      (place) => fold.units.find(place),
      none,
      (place) => place >= last,
    )
    expect(keep.at(-1)).toMatchObject({ head: 60, tail: 60 })
    expect(pointed).toBe(1)
  })

  it('[O5] never exceed their tokens, in any language', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.nat({ max: 30_000 }).map((count) => '修复登录'.repeat(count / 4)),
      fc.nat({ max: 6000 }).map(long),
    )
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 0, max: 12_000 }),
        (texts, totalTokens) => {
          const said = texts.filter((one) => one.trim() !== '')
          const { keep } = keptOf(said, { ...wordCaps(1), totalTokens })
          let tokens = 0
          for (const [index, kept] of keep.entries()) {
            const whole = said[index]!
            if (kept.head === 0) continue
            tokens += estimateText(
              kept.head === undefined ? whole : whole.slice(0, kept.head) + whole.slice(-kept.tail!),
            )
          }
          expect(tokens).toBeLessThanOrEqual(totalTokens * (1 + defaults.compaction.endsShare))
        },
      ),
      { numRuns: 60 },
    )
  })
})
