import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { headWithin, sharesOf } from './shares.ts'

const sizes = fc.array(fc.nat(20_000), { maxLength: 12 })

it('[RS4] shares never exceed the room nor what was wanted, and shrink in proportion', () => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: -5000, max: 100_000 }), (wanted, room) => {
      const shares = sharesOf(wanted, room)
      const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
      expect(sum(shares)).toBeLessThanOrEqual(Math.max(0, room, 0))
      if (sum(wanted) <= room) expect(shares).toEqual(wanted)
      for (const [index, share] of shares.entries()) {
        expect(share).toBeLessThanOrEqual(wanted[index]!)
        expect(share).toBeGreaterThanOrEqual(0)
        for (const [other, more] of shares.entries())
          if (wanted[other]! >= wanted[index]!) expect(more).toBeGreaterThanOrEqual(share)
      }
    }),
  )
})

it('[RS4] a head is whole lines of the text within its tokens, and says how many are left', () => {
  const line = fc.string({ maxLength: 30 }).map((text) => text.replaceAll('\n', ' '))
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), fc.nat(400), (lines, tokens) => {
      const text = lines.join('\n')
      const head = headWithin(text, tokens, (one) => one.length)
      expect(text.startsWith(head.text)).toBe(true)
      expect(head.text.length).toBeLessThanOrEqual(tokens)
      if (text.length <= tokens) expect(head).toEqual({ text, linesLeft: 0 })
      else expect(head.linesLeft).toBeGreaterThan(0)
    }),
  )
})
