import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dollars, duration, prose, table, whole } from './tables.ts'

const widths = [40, 80, 120, 200]
const widest = (text: string): number => Math.max(...text.split('\n').map((line) => Array.from(line).length))
const word = fc.stringMatching(/^[a-z]{1,12}$/)
const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '))

describe('a table', () => {
  it('[G77] fits every width and loses nothing of the columns that stay', () => {
    const columns = [
      { title: 'id' },
      { title: 'tokens', right: true, drop: 2 },
      { title: 'when', drop: 1 },
      { title: 'what', wraps: true },
      { title: 'why', wraps: true },
    ]
    let wrapped = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(word, word, word, text, text), { minLength: 1, maxLength: 5 }),
        (rows) => {
          for (const width of widths) {
            const shown = table(columns, rows, width)
            expect(widest(shown)).toBeLessThanOrEqual(width)
            if (shown.trimEnd().split('\n').length > rows.length + 1) wrapped += 1
            for (const [id, , , what, why] of rows)
              for (const part of [id, ...what.split(' '), ...why.split(' ')]) expect(shown).toContain(part)
          }
          expect(table(columns, rows, Infinity).trimEnd().split('\n')).toHaveLength(rows.length + 1)
        },
      ),
    )
    expect(wrapped).toBeGreaterThan(50)
  })

  it('[G77] drops the columns of less weight first, and becomes lines where even that is too wide', () => {
    const columns = [{ title: 'session' }, { title: 'bytes', right: true, drop: 1 }, { title: 'state' }]
    const rows = [['a'.repeat(14), '1234567890', 'open']]
    expect(table(columns, rows, 40)).toContain('1234567890')
    expect(table(columns, rows, 24)).toBe(`session         state\n${'a'.repeat(14)}  open\n`)
    expect(table(columns, rows, 15)).toBe(`${'a'.repeat(14)}\n  state: open\n`)
  })

  it('[G77] prose breaks at blanks and keeps what a line begins with', () => {
    expect(prose('  one two three four\nfive', 12)).toBe('  one two\n  three four\nfive')
  })

  it('[G77] numbers are written as people write them', () => {
    expect([whole(5485), whole(1_234_567), dollars(-0.0172), dollars(5)]).toEqual([
      '5,485',
      '1,234,567',
      '−$0.0172',
      '$5.00',
    ])
    expect([duration(8400), duration(65_000), duration(7_380_000)]).toEqual(['8s', '1m 05s', '2h 03m'])
  })
})
