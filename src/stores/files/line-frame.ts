// One entry on disk: the line of the codec with a checksum as its last field, and a line feed.
//
//   {"v":1,"seq":7,…,"fact":{…},"crc":"89abcdef"}\n
//
// The checksum is the CRC-32 of the bytes before `,"crc"`. Frames end at byte 0x0A and nowhere else. A line without a
// checksum, as an editor leaves it, is read if it decodes; a line whose checksum does not fit is damaged.
import { crc32 } from 'node:zlib'
import { decode } from '../../transcript/codec.ts'
import type { StoredEntry } from '../../transcript/fact.ts'

export const lineFeed = 0x0a
const carriageReturn = 0x0d
export const trailerStart = Buffer.from(',"crc":"')
const hexDigits = 8
export const trailerBytes = trailerStart.byteLength + hexDigits + 2

/** The bytes of a line, its end included, or null when the text is no line of an object. */
export function frame(line: string): Buffer | null {
  if (!line.startsWith('{') || !line.endsWith('}') || line.includes('\n')) return null
  const body = Buffer.from(line.slice(0, -1))
  return Buffer.concat([body, trailerStart, Buffer.from(`${hex(crc32(body))}"}\n`)])
}

const hex = (sum: number): string => sum.toString(16).padStart(hexDigits, '0')

/** The sum that stands in the trailer beginning here, or null when there is no trailer. */
export function sumAt(bytes: Buffer, at: number): number | null {
  const digits = at + trailerStart.byteLength
  if (at < 0 || digits + hexDigits + 2 > bytes.byteLength) return null
  if (bytes[digits + hexDigits] !== 0x22 || bytes[digits + hexDigits + 1] !== 0x7d) return null
  if (bytes.compare(trailerStart, 0, trailerStart.byteLength, at, digits) !== 0) return null
  const text = bytes.toString('latin1', digits, digits + hexDigits)
  return /^[0-9a-f]{8}$/.test(text) ? Number.parseInt(text, 16) : null
}

/** The text of a framed line without its checksum, or null when that does not fit. For lines that are no entries. */
export function bodyOf(line: Buffer): string | null {
  const body = line.subarray(0, Math.max(0, line.byteLength - trailerBytes))
  return sumAt(line, body.byteLength) === crc32(body) ? `${body.toString('utf8')}}` : null
}

export type Unframed =
  | { readonly ok: true; readonly entry: StoredEntry; readonly checked: boolean }
  | { readonly ok: false; readonly why: string; readonly checked: boolean }

/** Reads the bytes of one line, without its end. `checked` says that a fitting checksum vouches for the bytes. */
export function unframe(line: Buffer): Unframed {
  const bytes = line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
  const bodyBytes = bytes.byteLength - trailerBytes
  const sum = sumAt(bytes, bodyBytes)
  if (sum === null) return withoutSum(bytes)
  const body = bytes.subarray(0, bodyBytes)
  if (crc32(body) !== sum) return { ok: false, why: 'the checksum does not fit', checked: false }
  const read = decode(closed(bytes, bodyBytes))
  return read.ok
    ? { ok: true, entry: read.entry, checked: true }
    : { ok: false, why: read.why, checked: true }
}

/** The body with its closing brace. The brace is lent by the trailer, which saves copying the line once more. */
function closed(bytes: Buffer, bodyBytes: number): string {
  bytes[bodyBytes] = 0x7d
  const text = bytes.toString('utf8', 0, bodyBytes + 1)
  bytes[bodyBytes] = trailerStart[0]!
  return text
}

function withoutSum(bytes: Buffer): Unframed {
  if (bytes.byteLength === 0) return { ok: false, why: 'an empty line', checked: false }
  if (bytes.every((byte) => byte === 0)) return { ok: false, why: 'nothing but zero bytes', checked: false }
  try {
    return { ...decode(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), checked: false }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { ok: false, why: 'not valid UTF-8', checked: false }
  }
}
