import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headWithin, outlineOf, sharesOf } from './restoring.ts'

const numbered = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line, index) => `${index + 1}\t${line}`)
    .join('\n')

describe('outlines', () => {
  it.each([
    [
      'TypeScript',
      `import { x } from './y.ts'\nexport class Box {\n  open(name: string): void {\n    const inner = 1\n  }\n}\nexport const limit = 4`,
      ['2: export class Box', '3: open(name: string): void', '7: export const limit = 4'],
    ],
    [
      'Python',
      `import os\nclass Box:\n    def open(self, name):\n        return 1\nasync def main():\n    pass`,
      ['2: class Box:', '3: def open(self, name):', '5: async def main():'],
    ],
    [
      'Rust',
      `use std::io;\npub struct Box {\n    size: u32,\n}\nimpl Box {\n    pub fn open(&self) -> u32 {\n        if self.size > 1 {\n        }\n    }\n}`,
      ['2: pub struct Box', '5: impl Box', '6: pub fn open(&self) -> u32'],
    ],
    [
      'Go',
      `package main\nfunc Open(name string) error {\n\treturn nil\n}`,
      ['1: package main', '2: func Open(name string) error'],
    ],
    [
      'C',
      `#include <x.h>\nstatic int open_box(const char *name) {\n  return 1;\n}`,
      ['2: static int open_box(const char *name)'],
    ],
    ['Markdown', `# Title\nWords.\n## Part\nMore words.`, ['1: # Title', '3: ## Part']],
    ['SQL', `CREATE TABLE boxes (\n  id int\n);`, ['1: CREATE TABLE boxes (']],
  ])('[RS11] names the declarations of %s with their lines', (_, text, lines) => {
    expect(outlineOf(numbered(text), 1000)?.split('\n')).toEqual(lines)
  })

  it('[RS11] says nothing of a text without declarations, and how much is left out of a long one', () => {
    expect(outlineOf(numbered('just words\nand more of them'), 1000)).toBeNull()
    const many = numbered(Array.from({ length: 90 }, (_, n) => `export function name${n}() {`).join('\n'))
    expect(outlineOf(many, 100)).toMatch(/^1: export function name0\(\)[^]*\[\d\d more\]$/)
  })
})

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
