import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaults } from '../../settings/defaults.ts'
import type { MemoryHead } from '../memory.ts'
import { readMemoryText, withFields } from './frontmatter.ts'
import { hiddenIn, withoutHidden } from './hidden.ts'
import { indexOf, type IndexEntry } from './index-file.ts'

describe('frontmatter', () => {
  it('[ME16] a number in the frontmatter is what was written: a version, a name with its zeros', () => {
    const text = '---\nname: 007\ndescription: 1.10\ntriggers: [3.10, python, 0x1F, true]\n---\nx'
    expect(readMemoryText(text).head).toMatchObject({
      name: '007',
      description: '1.10',
      triggers: ['3.10', 'python', '0x1F', 'true'],
    })
  })

  it('[ME16] reads what models write: colons, hashes, dashes, quotes, unknown types, none at all', () => {
    const head = (front: string) => readMemoryText(`---\n${front}\n---\nbody\n---\nmore`).head
    expect(head('name: fix #12\ndescription: see issue #3 # a comment').name).toBe('fix #12')
    expect(head('name: fix #12\ndescription: see issue #3 # a comment').description).toBe('see issue #3')
    expect(head('name: a\ndescription: use when: the build fails').description).toBe(
      'use when: the build fails',
    )
    expect(head('name: "a: b"\ntype: Feedback')).toMatchObject({ name: 'a: b', type: 'feedback' })
    expect(head('name: a\ntype: nonsense').type).toBe(null)
    expect(head('triggers:\n  - one\n  - two\nsupersedes: old.md\nexpires: 2026-03-01')).toMatchObject({
      triggers: ['one', 'two'],
      supersedes: ['old.md'],
      expires: '2026-03-01',
    })
    expect(readMemoryText('---\nname: x\n---\nbody\n---\nmore').body).toBe('body\n---\nmore')
    expect(readMemoryText('no front').problems).toHaveLength(1)
    expect(head('__proto__: {a: 1}\nname: x').name).toBe('x')
  })

  it('[ME16] a change touches its own keys: comments, unknown keys and the text stay byte for byte', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((text) => !/[\n\r]/.test(text))
    fc.assert(
      fc.property(line, line, fc.boolean(), (description, body, returns) => {
        const end = returns ? '\r\n' : '\n'
        const text = [
          '---',
          '# ours',
          'name: a # why',
          'odd: {x:  [1,   2]}',
          'description: old',
          '---',
          body,
        ].join(end)
        const next = withFields(text, { description })
        expect(readMemoryText(next).head.description).toBe(description.replace(/\s+/g, ' ').trim())
        expect(next.startsWith(['---', '# ours', 'name: a # why', 'odd: {x:  [1,   2]}', ''].join(end))).toBe(
          true,
        )
        expect(next.endsWith(['', '---', body].join(end))).toBe(true)
        expect(withFields(next, { description })).toBe(next)
      }),
      {
        examples: [
          ['\u2028 ', '', false],
          ['a\u2029description: b', '', true],
        ],
      },
    )
  })
})

describe('hidden characters', () => {
  it('[ME17] are taken out and counted; joined pictures and plain text stay', () => {
    const payload = Array.from('evil', (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('')
    expect(withoutHidden(`use tabs${payload}\u200B\u202E`)).toEqual({ text: 'use tabs', hidden: 6 })
    expect(withoutHidden('\uFEFFa\uFEFFb')).toEqual({ text: 'ab', hidden: 1 })
    for (const text of ['👩‍💻 ok', 'naïve\tx\r\n', 'می‌خواهم', '日本語'])
      expect(withoutHidden(text)).toEqual({ text, hidden: 0 })
    expect(hiddenIn('a\u200Bb\u200Bc')).toEqual(['U+200B'])
  })
})

describe('the index', () => {
  const head = (over: Partial<MemoryHead> = {}): MemoryHead => ({
    name: 'Title',
    description: 'hook',
    type: 'project',
    triggers: [],
    supersedes: [],
    expires: null,
    ...over,
  })
  const entry = (n: number, over: Partial<MemoryHead> = {}): IndexEntry => ({
    file: `m${n}.md`,
    at: n,
    head: head(over),
  })

  it('[ME18] never passes its caps, and what has no room is the oldest, named at once', () => {
    const many = Array.from({ length: 400 }, (_, n) => entry(n, { name: `Title ${n}` }))
    const { text, dropped } = indexOf(many, '2026-01-01')
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(defaults.memory.indexLines)
    expect(text).toContain('(m399.md)')
    expect(dropped.at(-1)).toBe('m0.md')
    expect(text).toContain(`(${dropped.length} older memories are not listed`)
    const wide = Array.from({ length: 190 }, (_, n) => entry(n, { description: '語'.repeat(400) }))
    const fat = indexOf(wide, '2026-01-01')
    expect(Buffer.byteLength(fat.text)).toBeLessThanOrEqual(defaults.memory.indexBytes)
    expect(fat.text).toContain('(m189.md)')
    expect(fat.dropped.length).toBeGreaterThan(0)
  })

  it('[ME18] a correction stays before what it corrects, whichever is newer; what expired goes', () => {
    const caps = { lines: 4, bytes: 10_000 }
    const old = entry(9, { name: 'wrong' })
    const right = entry(1, { name: 'right', supersedes: ['m9.md'] })
    expect(indexOf([old, right], '2026-01-01', caps).dropped).toEqual(['m9.md'])
    expect(indexOf([entry(1, { expires: '2025-12-31' })], '2026-01-01').text).toBe('')
  })

  it('[ME18] every line is one line of bounded length, whatever the words', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            name: fc.string({ unit: 'binary' }),
            description: fc.string({ unit: 'binary', maxLength: 300 }),
          }),
        ),
        (heads) => {
          const { text } = indexOf(
            heads.map((one, n) => entry(n, one)),
            '2026-01-01',
          )
          for (const line of text.split('\n').filter((one) => one.startsWith('- ')))
            expect(line.length).toBeLessThanOrEqual(defaults.memory.indexLineChars)
          expect(text.split('\n').filter((line) => line.startsWith('- [')).length).toBe(
            Math.min(heads.length, 199),
          )
        },
      ),
    )
  })
})
