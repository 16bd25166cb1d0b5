// The parts of the inspector's page that need no browser.
import * as fc from 'fast-check'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import * as tables from '../../src/cli/terminal/tables.ts'
import { encodeChunk, decodeChunk } from '../../src/inspector/columns.ts'
import { addressIn, fragmentOf, type Address } from '../../src/inspector/page/data/address.ts'
import { Entries } from '../../src/inspector/page/data/entries.ts'
import { Scroll } from '../../src/inspector/page/parts/scroll.ts'
import { pictureBytes, pictureKind } from '../../src/inspector/page/data/preview.ts'
import { joined, rowsOf, sumsOf } from '../../src/inspector/page/data/requests.ts'
import { stacked } from '../../src/inspector/page/parts/chart-data.ts'
import * as format from '../../src/inspector/page/text/format.ts'
import { piecesOf } from '../../src/inspector/page/text/marks.ts'
import type { IndexChunk, RequestChunk } from '../../src/inspector/protocol.ts'

const root = resolve(import.meta.dirname, '..', '..')
const anyText = fc.string({ unit: 'binary', maxLength: 40 })

describe('addresses', () => {
  const place = fc.nat(1e12)
  // Lone surrogates cannot stand in an address: the name is then another, and finds nothing.
  const name = fc.string({ minLength: 1, unit: 'binary' }).map((text) => text.toWellFormed())
  const session = fc.record({ session: name })
  const within = fc.oneof(
    fc.record({ screen: fc.constant('window' as const), from: fc.constant(null), to: fc.constant(null) }),
    fc.record({ screen: fc.constant('window' as const), from: place, to: place }),
    fc.record({
      screen: fc.constant('request' as const),
      seq: place,
      look: fc.constantFrom('parts', 'diff', 'raw'),
    }),
    fc.record({ screen: fc.constant('block' as const), seq: place, block: fc.nat() }),
    fc.record({ screen: fc.constant('edit' as const), seq: place }),
    fc.record({ screen: fc.constant('breaks' as const), seq: fc.option(place) }),
    fc.record({ screen: fc.constant('agents' as const) }),
    fc.record({ screen: fc.constant('policies' as const), a: name, b: name, at: fc.option(place) }),
  )
  const address: fc.Arbitrary<Address> = fc.oneof(
    fc.constant({ screen: 'sessions' as const }),
    fc.constant({ screen: 'memory' as const, store: null, file: null }),
    fc.record({ screen: fc.constant('memory' as const), store: name, file: name }),
    fc.tuple(session, within).map(([a, b]) => ({ ...a, ...b }) as Address),
  )

  it('[PG1] come back from their fragment as they were', () => {
    fc.assert(
      fc.property(address, (one) => {
        expect(addressIn(fragmentOf(one))).toEqual(one)
      }),
    )
  })

  it('[PG1] any other fragment shows the sessions, and none throws', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const read = addressIn(`#${text}`)
        expect(addressIn(fragmentOf(read))).toEqual(read)
      }),
    )
    for (const text of ['', '#', '#/', '#/s', '#/s/', '#/x/y', '#%', '#/s/%E0%A4%A'])
      expect(() => addressIn(text)).not.toThrow()
    expect(addressIn('#/nothing/of/ours')).toEqual({ screen: 'sessions' })
    expect(addressIn('#/s/a/r/-1')).toEqual({ session: 'a', screen: 'window', from: null, to: null })
  })
})

describe('text', () => {
  it('[PG2] pieces put together are the text, and no unseen character is left in plain ones', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const pieces = piecesOf(text)
        expect(pieces.map((piece) => piece.text).join('')).toBe(text)
        for (const { text: piece, mark } of pieces)
          if (mark === null) expect(piece).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B]/)
      }),
    )
  })

  it('[PG2] names the marks, and leaves line ends and joined pictures whole', () => {
    const marks = (text: string) => piecesOf(text).flatMap(({ mark }) => mark ?? [])
    expect(marks('a\u202Eb\u2066c\u200Bd\u0000e\u001B[31m\uFEFF\u{E0041}\uD800')).toEqual([
      'RLO',
      'LRI',
      'ZWSP',
      'NUL',
      'ESC',
      'BOM',
      'U+E0041',
      'U+D800',
    ])
    expect(marks('one\r\ntwo\tthree 👩‍💻')).toEqual([])
    expect(marks('over\rwritten, a\u200Db')).toEqual(['CR', 'ZWJ'])
  })

  it('[PG3] only bytes of a picture are a picture', () => {
    const kindOf = (bytes: readonly number[]) => pictureKind(Uint8Array.from(bytes))
    expect(kindOf([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])).toBe('image/png')
    expect(kindOf([0xff, 0xd8, 0xff, 0xe0])).toBe('image/jpeg')
    expect(kindOf([0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50])).toBe('image/webp')
    for (const text of ['<svg onload=alert(1)>', '<!doctype html>', 'RIFFxxxxWAVE', ''])
      expect(pictureKind(new TextEncoder().encode(text)), text).toBeNull()
    expect(pictureBytes('no base64 at all!')).toBeNull()
    expect(pictureBytes('A'.repeat(20_000_000))).toBeNull()
  })
})

describe('a long list', () => {
  it('[PG4] draws the rows that fill what is seen, each in its place, and shows a row whole', () => {
    const counts = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 3_000_000 }))
    fc.assert(
      fc.property(
        counts,
        fc.integer({ min: 60, max: 2000 }),
        fc.nat(),
        fc.nat(),
        (count, view, pixel, wanted) => {
          const scroll = new Scroll(count, 26)
          scroll.view = view
          const element = { scrollTop: 0 }
          const row = wanted % count
          const seenAt = (at: number): number => scroll.placeOf(at) - element.scrollTop
          const moves: readonly (() => unknown)[] = [
            () => scroll.to(pixel % (count * 26)),
            () => scroll.show(row),
          ]
          for (const move of moves) {
            move()
            scroll.sync(element)
            expect(element.scrollTop).toBeLessThanOrEqual(Math.max(0, scroll.space - view))
            const [from, to] = scroll.inSight()
            expect(seenAt(from)).toBeLessThan(1)
            if (to < count) expect(seenAt(to)).toBeGreaterThanOrEqual(view - 1)
            else expect(to).toBe(count)
            expect(to - from).toBeLessThanOrEqual(view / 26 + 12)
          }
          expect(seenAt(row)).toBeGreaterThan(-1)
          expect(seenAt(row + 1)).toBeLessThan(view + 1)
        },
      ),
    )
  })
})

const chunkOf = (from: number, to: number, words: readonly string[], tokens: number): IndexChunk => {
  const count = to - from + 1
  return {
    from,
    to,
    at: 1_000_000 + from * 10,
    head: 500,
    before: from === 0 ? null : from,
    kinds: words,
    labels: words.map((word) => `label of ${word}`),
    bytes: Uint32Array.from({ length: count }, (_, row) => from + row),
    delta: Int32Array.from({ length: count }, () => 10),
    tokens: new Uint32Array(count).fill(tokens),
    label: Uint16Array.from({ length: count }, (_, row) => (row % 3 === 0 ? 65_535 : row % words.length)),
    kind: Uint8Array.from({ length: count }, (_, row) => (row % 7 === 6 ? 255 : row % words.length)),
    flags: new Uint8Array(count).fill(1),
  }
}

describe('the index', () => {
  it('[PG5] is the same whatever order its chunks come in, and a later chunk replaces an earlier', () => {
    const chunks = [
      chunkOf(5, 40, ['user-message', 'tool-result'], 1),
      chunkOf(41, 41, ['boundary'], 2),
      chunkOf(42, 99, ['tool-result', 'user-message', 'undo'], 3),
    ].map((chunk) => decodeChunk(encodeChunk(chunk))!)
    const rowsIn = (order: readonly IndexChunk[]) => {
      const entries = new Entries()
      entries.span(5, 99)
      for (const chunk of order) entries.put(chunk)
      return Array.from({ length: 95 }, (_, at) => entries.row(5 + at))
    }
    const inOrder = rowsIn(chunks)
    fc.assert(
      fc.property(fc.shuffledSubarray(chunks, { minLength: 3 }), (order) => {
        expect(rowsIn(order)).toEqual(inOrder)
      }),
    )
    expect(inOrder[0]).toEqual({
      seq: 5,
      kind: 'user-message',
      label: null,
      tokens: 1,
      bytes: 5,
      at: 1_000_050,
      flags: 1,
    })
    expect(inOrder[6]!.kind).toBe('')
    const changed = rowsIn([...chunks, chunkOf(42, 50, ['rewind'], 9)])
    expect(changed[40]).toMatchObject({ seq: 45, kind: 'rewind', tokens: 9 })
    expect(changed.slice(46)).toEqual(inOrder.slice(46))
  })

  it('[PG5] grows at its end and shows what has not come as unknown', () => {
    const entries = new Entries()
    entries.put(chunkOf(0, 9, ['user-message'], 1))
    entries.span(0, 999)
    expect(entries.row(5).kind).toBe('user-message')
    expect(entries.row(700).kind).toBeNull()
    expect([entries.count, entries.loaded]).toEqual([1000, 10])
    entries.put(chunkOf(10, 999, ['undo'], 1))
    expect(entries.loaded).toBe(1000)
    expect([...entries.placesOf((kind) => kind === 'user-message')]).toEqual([0, 1, 2, 3, 4, 5, 7, 8, 9])
  })
})

describe('numbers', () => {
  it('[PG6] are written as the command line writes them', () => {
    fc.assert(
      fc.property(fc.nat(5e9), (value) => {
        expect(format.whole(value)).toBe(tables.whole(value))
        expect(format.duration(value + 1000)).toBe(
          value + 1000 < 86_400_000 ? tables.duration(value + 1000) : format.duration(value + 1000),
        )
      }),
    )
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), (value) => {
        expect(format.dollars(value)).toBe(tables.dollars(value))
        if (value >= 0 && value <= 1) expect(format.percent(value)).toBe(tables.percent(value))
      }),
    )
    for (const tokens of [0, 7, 999, 1000, 5485, 9949, 12_300, 203_000, 1_000_000, 1_250_000])
      expect(format.short(tokens)).toBe(tables.short(tokens))
    expect(format.dollars(null)).toBe('?')
  })

  const requests = (dollars: readonly (number | null)[]): RequestChunk => {
    const all = <T>(value: T): T[] => dollars.map(() => value)
    return {
      before: null,
      head: 100,
      seq: dollars.map((_, at) => at * 2),
      number: dollars.map((_, at) => at + 1),
      at: all(5),
      source: all(0),
      sources: ['main'],
      model: all(0),
      models: ['m'],
      input: dollars.map((_, at) => (at === 2 ? null : 10)),
      read: all(100),
      written: all(20),
      output: all(3),
      dollars,
      tokens: all(130),
      byHolder: all([1, 2, 3, 4, 5, 115]),
      limit: all(1000),
      answer: all(null),
      break: dollars.map((_, at) => (at === 1 ? 3 : null)),
      firstMs: all(null),
      ms: all(null),
      tries: all(null),
    }
  }

  it('[PG7] of a selection count every answer once and keep what has no price apart', () => {
    const rows = rowsOf(requests([0.5, null, null, 0.25]))
    const twice = joined(joined([], rows), rows.slice(1))
    expect(twice).toEqual(rows)
    expect(sumsOf(twice)).toEqual({
      requests: 4,
      carried: 520,
      input: 30,
      read: 400,
      written: 80,
      output: 12,
      dollars: 0.75,
      unpriced: 1,
      unanswered: 1,
      breaks: 1,
    })
  })
})

describe('the chart', () => {
  it('[PG21] draws no more columns than it has room for, and none of the largest is missing', () => {
    const rowsOf = (count: number, seed: number) =>
      Array.from({ length: count }, (_, at) => {
        const tokens = ((at + 1) * (seed + 7919)) % 100_003
        const byHolder = [0, 0, tokens, 0, 0, 0]
        return { number: at + 1, byHolder, tokens, input: 1, read: 0, written: 0, dollars: 1 }
      })
    const all = stacked({ rows: rowsOf(9000, 1), limit: null, marks: [] }, [1, 9001])
    expect(all[0]!.length).toBeLessThanOrEqual(2502)
    let shared = 0
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9000 }),
        fc.nat(1e6),
        fc.nat(8999),
        fc.nat(8999),
        (count, seed, one, other) => {
          const rows = rowsOf(count, seed)
          const [from, to] = [Math.min(one, other, count - 1) + 1, Math.min(Math.max(one, other), count) + 1]
          const [x = [], top = []] = stacked({ rows, limit: null, marks: [] }, [from, to])
          expect(x.length).toBeLessThanOrEqual(2502)
          expect(x[0]).toBeLessThanOrEqual(from)
          expect(x.at(-1)).toBeGreaterThanOrEqual(Math.min(to, count))
          const seen = rows.filter(({ number }) => number >= from && number < to)
          if (seen.length > 2600) shared++
          const largest = Math.max(0, ...seen.map(({ tokens }) => tokens))
          expect(Math.max(...top)).toBeGreaterThanOrEqual(largest)
        },
      ),
      { numRuns: 60, seed: 4 },
    )
    expect(shared).toBeGreaterThan(5)
  })
})

describe('the sources', () => {
  it('[PG9] make no markup of strings and set no styles as text', () => {
    const folder = join(root, 'src', 'inspector', 'page')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    )
    expect(files.length).toBeGreaterThan(30)
    for (const name of files)
      expect(readFileSync(join(folder, name), 'utf8'), name).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|srcdoc|document\.write|\beval\b|new Function|\bstyle="|javascript:/,
      )
  })
})

describe('the bundle', () => {
  it('[PG8] is small, asks for nothing of Node and names no other place', async () => {
    const { bundlePage } = (await import(pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href)) as {
      bundlePage: (folder: string) => Promise<unknown>
    }
    const folder = mkdtempSync(join(tmpdir(), 'pal-page-'))
    try {
      await bundlePage(folder)
      const files = readdirSync(folder)
      const packed = (names: readonly string[]): number =>
        names.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0)
      const first = ['index.html', 'page.js', 'page.css']
      expect(files).toEqual(expect.arrayContaining([...first, 'export.js']))
      const chunks = files.filter((name) => name !== 'export.js')
      expect(packed(chunks.filter((name) => !name.startsWith('prism')))).toBeLessThanOrEqual(110 * 1024)
      expect(packed(chunks)).toBeLessThanOrEqual(150 * 1024)
      const page = readFileSync(join(folder, 'index.html'), 'utf8')
      expect(page).not.toMatch(/<script(?![^>]*src=)|<style| style=| on\w+=/)
      for (const name of files) {
        const text = readFileSync(join(folder, name), 'utf8')
        expect(text, name).not.toMatch(/from"node:|require\("node:/)
        const places = (text.match(/https?:\/\/[^\s'"`)]+/g) ?? []).filter(
          (url) => !url.startsWith('http://www.w3.org/'),
        )
        expect(places, name).toEqual([])
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
