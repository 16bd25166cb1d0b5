import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, recording, result, text } from '../../../test/lab/recordings.ts'
import { scriptOf } from '../playing/script.ts'
import type { PlainBlock } from '../playing/wire-blocks.ts'
import { needsOf } from './needs.ts'
import { Sight } from './sight.ts'

const shown = (words: string, role: PlainBlock['role'] = 'user'): PlainBlock => ({
  role,
  block: { type: 'text', text: words },
})

const needs = needsOf(
  scriptOf(
    recording([
      ['user', [text('Why does it fail?')]],
      ['assistant', [call('1', 'Bash', { command: 'make' })]],
      [
        'user',
        [result('1', 'src/rows.ts fails because the ledger is empty\nsrc/alone.ts\nport 8123 refused')],
      ],
      ['assistant', [call('2', 'Read', { paths: 'src/rows.ts src/alone.ts', port: 8123 })]],
    ]),
  ),
)
const last = 1

function remembered(words: string): readonly string[] {
  const sight = new Sight(needs)
  sight.look([shown(words)])
  return needs.steps[last]!.atoms.filter((atom) => sight.remembers(atom, last))
}

describe('sight', () => {
  it('[J4] remembers an atom in its own line, or beside a content word of that line', () => {
    expect(remembered('src/rows.ts fails because the ledger is empty')).toContain('src/rows.ts')
    expect(remembered('the ledger of src/rows.ts was bad')).toContain('src/rows.ts')
    expect(remembered('src/rows.ts was mentioned')).not.toContain('src/rows.ts')
    expect(remembered('port 8123')).toContain('8123')
  })

  it('[J4] remembers an atom that stood alone only where it stands alone', () => {
    expect(remembered('src/alone.ts')).toContain('src/alone.ts')
    expect(remembered('earlier files: src/alone.ts')).not.toContain('src/alone.ts')
  })

  it('[J4] does not take a bag of words for memory', () => {
    const bag = 'src/rows.ts\nrows.ts\nledger\nempty\n8123\nport\nrefused'
    const sight = new Sight(needs)
    sight.look([shown(bag)])
    expect(sight.shows('src/rows.ts')).toBe(true)
    expect(remembered(bag)).toEqual([])
  })

  it('[J4] takes a page without line ends for several lines', () => {
    const apart = `src/rows.ts ${'filling '.repeat(80)} ledger`
    expect(remembered(apart)).not.toContain('src/rows.ts')
  })

  it('[J5] never remembers what cannot be seen, and sees nothing in nothing', () => {
    const pieces = [
      'src/rows.ts',
      'ledger',
      '8123',
      'port',
      'src/alone.ts',
      'fails',
      'other words',
      '\n',
      ' ',
    ]
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), { maxLength: 5 }),
        (blocks) => {
          const sight = new Sight(needs)
          sight.look(blocks.map((words) => shown(words.join(' '))))
          for (const atom of needs.wanted)
            expect(sight.shows(atom) || !sight.remembers(atom, last)).toBe(true)
          sight.look([])
          for (const atom of needs.wanted) expect(sight.shows(atom)).toBe(false)
        },
      ),
    )
  })

  it('[J6] counts the words of a person line by line, in what the user side says', () => {
    const sight = new Sight(needs)
    sight.look([shown('<kept>\nfirst line\n</kept>'), shown('second line', 'assistant')])
    expect(sight.shareOf('first line\nsecond line')).toBeCloseTo(10 / 21, 5)
    expect(sight.shareOf('first line')).toBe(1)
  })

  it('[J7] finds a text word for word, whatever numbers stand before its lines', () => {
    const sight = new Sight(needs)
    sight.look([shown('  7→let a = 1\n  8→let b = 2')])
    expect(sight.showsText('let a = 1\nlet b = 2')).toBe(true)
    expect(sight.showsText('let a = 1\nlet b = 3')).toBe(false)
  })
})
