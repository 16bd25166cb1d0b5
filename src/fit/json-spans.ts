// Where the values of a JSON text stand, in bytes, without making them: a request of millions of bytes is read in one pass,
// and what is not changed is sent on as the slice it was. Nothing is trusted: what is not well-formed gives null, and whoever
// asked forwards the text untouched. Below the depth asked for brackets are counted, not followed, so that no body can
// exhaust the stack.
import { jsonIn } from '../transcript/json.ts'

/** From the first byte of a value to behind its last. */
export interface Span {
  readonly start: number
  readonly end: number
}
/** A value and, down to the depth asked for, what it holds. */
export interface Node extends Span {
  readonly kind: 'object' | 'list' | 'string' | 'plain'
  /** Of an object that was followed. */
  readonly members?: readonly Member[] | undefined
  /** Of a list that was followed. */
  readonly elements?: readonly Node[] | undefined
  /** Blanks stand between its parts, so that the same value could be written in other bytes. */
  readonly hasBlanks: boolean
}
export interface Member {
  readonly key: string
  readonly value: Node
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Behind the closing quote of the string that begins at `at`, or -1. */
function endOfString(bytes: Uint8Array, at: number): number {
  // From quote to quote, as the machine finds them: most of a body is text without any.
  for (let place = bytes.indexOf(quote, at + 1); place >= 0; place = bytes.indexOf(quote, place + 1)) {
    let before = place - 1
    while (bytes[before] === backslash) before--
    if ((place - before) % 2 === 1) return place + 1
  }
  return -1
}

class Scanner {
  readonly #bytes: Uint8Array
  #place: number
  #blanks = 0

  constructor(bytes: Uint8Array, place: number) {
    this.#bytes = bytes
    this.#place = place
  }

  /** The value that begins here; null where there is none. */
  value(depth: number): Node | null {
    const start = this.#place
    const before = this.#blanks
    const done = (kind: Node['kind'], inner?: Pick<Node, 'members' | 'elements'>): Node => ({
      kind,
      start,
      end: this.#place,
      ...inner,
      hasBlanks: this.#blanks > before,
    })
    const first = this.#bytes[start]
    if (first === quote) return this.#string() ? done('string') : null
    if (first === openObject) {
      if (depth <= 0) return this.#skip() ? done('object') : null
      const members = this.#inside(closeObject, () => this.#member(depth - 1))
      return members === null ? null : done('object', { members })
    }
    if (first === openList) {
      if (depth <= 0) return this.#skip() ? done('list') : null
      const elements = this.#inside(closeList, () => this.value(depth - 1))
      return elements === null ? null : done('list', { elements })
    }
    return this.#plain() ? done('plain') : null
  }

  /** Nothing but blanks up to the end. */
  isAtEnd(): boolean {
    return this.blank() === undefined
  }

  /** Goes over blanks; the byte behind them. */
  blank(): number | undefined {
    const bytes = this.#bytes
    while (isBlank(bytes[this.#place])) {
      this.#place++
      this.#blanks++
    }
    return bytes[this.#place]
  }

  /** What stands between brackets, up to the closing one. */
  #inside<T>(close: number, next: () => T | null): readonly T[] | null {
    const found: T[] = []
    this.#place++
    let byte = this.blank()
    while (byte !== close) {
      if (found.length > 0) {
        if (byte !== comma) return null
        this.#place++
        this.blank()
      }
      const one = next()
      if (one === null) return null
      found.push(one)
      byte = this.blank()
    }
    this.#place++
    return found
  }

  #member(depth: number): Member | null {
    const start = this.#place
    if (this.#bytes[start] !== quote || !this.#string()) return null
    const key = stringAt(this.#bytes, { start, end: this.#place })
    if (key === null || this.blank() !== colon) return null
    this.#place++
    this.blank()
    const value = this.value(depth)
    return value === null ? null : { key, value }
  }

  #string(): boolean {
    const end = endOfString(this.#bytes, this.#place)
    if (end >= 0) this.#place = end
    return end >= 0
  }

  /** A number, true, false or null. */
  #plain(): boolean {
    const bytes = this.#bytes
    const start = this.#place
    for (; this.#place < bytes.length; this.#place++) {
      const byte = bytes[this.#place]
      if (byte === comma || byte === colon || byte === quote || isBlank(byte)) break
      if (byte === closeObject || byte === closeList || byte === openObject || byte === openList) break
    }
    return this.#place > start
  }

  /** Over a list or an object. A closer that does not fit its opener is found by whoever parses. */
  #skip(): boolean {
    const bytes = this.#bytes
    const { length } = bytes
    let depth = 0
    let blanks = 0
    for (let place = this.#place; place < length; place++) {
      const byte = bytes[place]
      if (byte === quote) {
        place = endOfString(bytes, place) - 1
        if (place < 0) return false
      } else if (byte === openObject || byte === openList) depth++
      else if (byte === closeObject || byte === closeList) {
        if (--depth > 0) continue
        this.#place = place + 1
        this.#blanks += blanks
        return true
      } else if (isBlank(byte)) blanks++
    }
    return false
  }
}

/** The whole text as one value, followed down to a depth; null where it is not one well-formed value. */
export function outline(bytes: Uint8Array, depth: number): Node | null {
  const scanner = new Scanner(bytes, 0)
  scanner.blank()
  const root = scanner.value(depth)
  return root !== null && scanner.isAtEnd() ? root : null
}

/** What a value holds that an outline did not follow. */
export const followed = (bytes: Uint8Array, { start }: Span, depth: number): Node | null =>
  new Scanner(bytes, start).value(depth)

/** A member by its name: the last one, as a parser takes it. */
export const memberOf = (node: Node | null | undefined, key: string): Node | undefined =>
  node?.members?.findLast((member) => member.key === key)?.value

const encoder = new TextEncoder()
/** A text in UTF-8. */
export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** The pieces in one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    out.set(piece, at)
    at += piece.length
  }
  return out
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The bytes of a span as text, or null where they are no UTF-8. */
export function textAt(bytes: Uint8Array, { start, end }: Span): string | null {
  try {
    return decoder.decode(bytes.subarray(start, end))
  } catch {
    return null
  }
}

/** The value at a span, made; undefined where it is no JSON. */
export function valueAt(bytes: Uint8Array, span: Span): unknown {
  const text = textAt(bytes, span)
  return text === null ? undefined : jsonIn(text)
}

/** Names and the words that wires use are short: those are made byte by byte, faster than any parser does it. */
const shortBytes = 32

/** A short string of plain ASCII without escapes; null for any other. */
function shortString(bytes: Uint8Array, { start, end }: Span): string | null {
  if (end - start > shortBytes) return null
  let text = ''
  for (let place = start + 1; place < end - 1; place++) {
    const byte = bytes[place]!
    if (byte < 0x20 || byte > 0x7e || byte === backslash || byte === quote) return null
    text += String.fromCharCode(byte)
  }
  return text
}

/** The string at a span, or null for anything else. */
export function stringAt(bytes: Uint8Array, span: Span): string | null {
  if (bytes[span.start] !== quote) return null
  const short = bytes[span.end - 1] === quote && span.end - span.start > 1 ? shortString(bytes, span) : null
  if (short !== null) return short
  const value = valueAt(bytes, span)
  return typeof value === 'string' ? value : null
}

/** A replacement of what stands at a span. Spans do not overlap. */
export interface Splice extends Span {
  readonly text: string
}

/** The bytes with some spans replaced; everything else as it was. */
export function spliced(bytes: Uint8Array, splices: readonly Splice[]): Uint8Array {
  if (splices.length === 0) return bytes
  const pieces: Uint8Array[] = []
  let from = 0
  for (const { start, end, text } of splices.toSorted((a, b) => a.start - b.start)) {
    pieces.push(bytes.subarray(from, start), bytesOf(text))
    from = end
  }
  pieces.push(bytes.subarray(from))
  return joined(pieces)
}

/** The same JSON without blanks between its parts. */
export function withoutBlanks(bytes: Uint8Array, { start, end }: Span): Uint8Array {
  const out = new Uint8Array(end - start)
  let length = 0
  for (let place = start; place < end; place++) {
    const byte = bytes[place]!
    if (byte === quote) {
      const after = endOfString(bytes, place)
      out.set(bytes.subarray(place, after), length)
      length += after - place
      place = after - 1
    } else if (!isBlank(byte)) out[length++] = byte
  }
  return out.subarray(0, length)
}
