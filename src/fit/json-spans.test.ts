import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  followed,
  memberOf,
  outline,
  spliced,
  stringAt,
  textAt,
  valueAt,
  withoutBlanks,
  type Node,
} from './json-spans.ts'

const bytesOf = (text: string): Uint8Array => Buffer.from(text)

/** A value made again from its outline alone. */
function remade(bytes: Uint8Array, node: Node): unknown {
  if (node.members !== undefined)
    return Object.fromEntries(node.members.map(({ key, value }) => [key, remade(bytes, value)]))
  if (node.elements !== undefined) return node.elements.map((element) => remade(bytes, element))
  return valueAt(bytes, node)
}

describe('where the values of a JSON text stand', () => {
  it('[GW1] gives every value its place, at any depth and however it is written', () => {
    let real = 0
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.integer({ min: 0, max: 6 }),
        fc.constantFrom(undefined, 1, '\t'),
        (value, depth, blanks) => {
          const text = JSON.stringify(value, null, blanks)
          const bytes = bytesOf(` ${text}\n`)
          const root = outline(bytes, depth)
          expect(root).not.toBeNull()
          expect(remade(bytes, root!)).toEqual(JSON.parse(text))
          expect(Buffer.from(withoutBlanks(bytes, root!)).toString()).toBe(JSON.stringify(value))
          expect(root!.hasBlanks).toBe(text !== JSON.stringify(value))
          if (typeof value === 'object' && value !== null) real++
        },
      ),
      { numRuns: 400 },
    )
    expect(real).toBeGreaterThan(100)
  })

  it('[GW1] gives nothing for what is not one well-formed value, and never more than the text has', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.nat(),
        fc.constantFrom('', '}', ']', '"', ',', '\\', ' x'),
        (value, cut, more) => {
          const text = JSON.stringify({ value })
          const broken = text.slice(0, cut % text.length) + more
          let isValid = true
          try {
            JSON.parse(broken)
          } catch {
            isValid = false
          }
          const root = outline(bytesOf(broken), 2)
          // What brackets count as whole may still be no JSON below; what is JSON is always found.
          if (isValid) expect(root).not.toBeNull()
          if (root !== null) expect(root.end).toBeLessThanOrEqual(broken.length)
        },
      ),
      { numRuns: 400 },
    )
    for (const text of ['', ' ', '{', '{"a"}', '{"a":}', '[1,]', '[1 2]', '{"a":1}{', '{"a":1,}', 'nul l'])
      expect(outline(bytesOf(text), 3), text).toBeNull()
  })

  it('[GW1] is not exhausted by depth', () => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect(outline(bytesOf(deep), 4)).not.toBeNull()
    expect(outline(bytesOf('['.repeat(200_000)), 4)).toBeNull()
  })

  it('[GW1] takes the last of two members with one name, as a parser does, and reads escaped names', () => {
    const bytes = bytesOf('{"a":1,"\\u0061":"two"}')
    const member = memberOf(outline(bytes, 1), 'a')
    expect(stringAt(bytes, member!)).toBe('two')
  })

  it('[GW2] replaces what is named and leaves every other byte as it was', () => {
    const bytes = bytesOf('{ "text" : "é\\u00e9😀",  "n": 1.50 }')
    const text = memberOf(outline(bytes, 1), 'text')!
    const out = spliced(bytes, [{ ...text, text: '"short"' }])
    expect(Buffer.from(out).toString()).toBe('{ "text" : "short",  "n": 1.50 }')
    expect(spliced(bytes, [])).toBe(bytes)
  })

  it('[GW1] says where a text is no UTF-8', () => {
    const bytes = Uint8Array.of(0x22, 0xff, 0x22)
    const root = outline(bytes, 1)!
    expect(textAt(bytes, root)).toBeNull()
    expect(valueAt(bytes, root)).toBeUndefined()
    expect(followed(bytes, root, 1)).toMatchObject({ kind: 'string' })
  })
})
