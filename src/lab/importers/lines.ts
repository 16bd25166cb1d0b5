// Reading foreign files without trusting them: bytes to lines to objects, with a reason for every line left behind.
// Frames end at byte 0x0A only; gzip is unpacked; nothing here throws, but for a file that cannot be read. A long file is read by
// its offsets, piece by piece: what is in memory is one piece and one line, whatever the file weighs. Kinds of lines in which nobody
// speaks are passed over by their beginning, and never gathered.
import { open } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { defaults } from '../../settings/defaults.ts'
import { isRecord } from '../../transcript/json.ts'
import type { Result } from '../../transcript/store.ts'
import type { Skipped } from '../recording.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface JsonLine {
  /** Counted from one, as editors do. */
  readonly line: number
  readonly value: Fields
}
export interface Lines {
  readonly total: number
  readonly records: readonly JsonLine[]
  readonly skipped: readonly Skipped[]
}

const NEWLINE = 0x0a

/**
 * Lines in which Claude Code keeps what it sent once more: requests, prompts, tools, sums. Nobody speaks in them, and they
 * are the larger part of a file, so they are known by their beginning and never parsed. Inside a text the quotes would
 * be escaped.
 */
const unspoken = /"type":"(?:api-request(?:-shape|-blob)?|prompt_snapshot|tools-used|atis-latch|cost-state)"/
const beginningBytes = 240

/** Whether a line, or the beginning of one, is of a kind in which nobody speaks. */
const isUnspoken = (line: Uint8Array): boolean =>
  unspoken.test(
    Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, beginningBytes)).toString('latin1'),
  )

/** The bytes, unpacked where they are packed. */
export function unpack(name: string, bytes: Uint8Array): Result<{ readonly bytes: Uint8Array }> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return { ok: true, bytes }
  try {
    return { ok: true, bytes: gunzipSync(bytes, { maxOutputLength: defaults.lab.maxImportBytes }) }
  } catch (error) {
    return {
      ok: false,
      failure: { code: 'bad-gzip', message: `${name}: cannot be unpacked (${(error as Error).message})` },
    }
  }
}

/**
 * Every line that holds an object. `isWhole` tells a record from a piece of one: two records on one line, the first
 * cut short, still give the second.
 */
export function readLines(bytes: Uint8Array, isWhole: (value: Fields) => boolean): Lines {
  const records: JsonLine[] = []
  const skipped: Skipped[] = []
  let line = 0
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, start)
    const end = found < 0 ? bytes.length : found
    line++
    const read = readLine(bytes.subarray(start, end), line, isWhole)
    start = end + 1
    if (read.record !== null) records.push(read.record)
    if (read.skipped !== null) skipped.push(read.skipped)
  }
  return { total: line, records, skipped }
}

export interface ReadLine {
  readonly record: JsonLine | null
  readonly skipped: Skipped | null
}
const nothing: ReadLine = { record: null, skipped: null }

/** What one line holds. */
function readLine(bytes: Uint8Array, line: number, isWhole: (value: Fields) => boolean): ReadLine {
  if (isUnspoken(bytes)) return nothing
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  if (text.trim() === '') return nothing
  const value = parseObject(text)
  if (value.ok) return { record: { line, value: value.fields }, skipped: null }
  const rest = salvage(text, isWhole)
  const why = rest === null ? value.why : `${value.why}; the record at the end of the line is kept`
  return { record: rest === null ? null : { line, value: rest }, skipped: { line, why } }
}

function parseObject(
  text: string,
): { readonly ok: true; readonly fields: Fields } | { readonly ok: false; readonly why: string } {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? { ok: true, fields: value } : { ok: false, why: 'not an object' }
  } catch (error) {
    return { ok: false, why: text.includes('\0') ? 'NUL bytes' : `not JSON (${(error as Error).message})` }
  }
}

function salvage(text: string, isWhole: (value: Fields) => boolean): Fields | null {
  let at = 0
  for (let tries = 0; tries < defaults.lab.salvageTries; tries++) {
    at = text.indexOf('{"', at + 1)
    if (at < 0) return null
    const value = parseObject(text.slice(at))
    if (value.ok && isWhole(value.fields)) return value.fields
  }
  return null
}

// ---- reading fields of unknown shape ----

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})
export const stringOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Milliseconds of an ISO time or of a number, or null. */
export function timeOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

/** Enough of a line to know its kind by. */
const kindBytes = 256

interface StreamOptions {
  readonly isWhole: (value: Fields) => boolean
  /** Where to begin, at the beginning of a line. */
  readonly from?: number | undefined
  readonly mostLineBytes?: number | undefined
}

/** Every line with an object in it, or why there is none; rejects where the file cannot be read. */
export async function* streamLines(path: string, options: StreamOptions): AsyncGenerator<ReadLine> {
  const most = options.mostLineBytes ?? defaults.lab.mostLineBytes
  const file = await open(path, 'r')
  try {
    const piece = Buffer.allocUnsafe(defaults.lab.pieceBytes)
    const open = new OpenLine(most)
    let line = 0
    for (let at = options.from ?? 0; ;) {
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0) break
      at += bytesRead
      for (let start = 0; start < bytesRead;) {
        const found = piece.subarray(0, bytesRead).indexOf(NEWLINE, start)
        const end = found < 0 ? bytesRead : found
        open.add(piece.subarray(start, end))
        start = end + 1
        if (found < 0) break
        line++
        yield open.read(line, options.isWhole)
      }
    }
    if (!open.isEmpty) yield open.read(line + 1, options.isWhole)
  } finally {
    await file.close()
  }
}

/** A line that is still being read. */
class OpenLine {
  readonly #most: number
  #pieces: Buffer[] = []
  #bytes = 0
  #isPassedOver = false

  constructor(most: number) {
    this.#most = most
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /** The piece is used again: what is kept of it is a copy. */
  add(piece: Uint8Array): void {
    const before = this.#bytes
    this.#bytes += piece.length
    if (this.#isPassedOver || piece.length === 0) return
    if (before < kindBytes) this.#isPassedOver = isUnspoken(this.#beginning(piece))
    if (this.#isPassedOver || this.#bytes > this.#most) this.#pieces = []
    else this.#pieces.push(Buffer.from(piece))
  }

  read(line: number, isWhole: (value: Fields) => boolean): ReadLine {
    const [pieces, bytes, isPassedOver] = [this.#pieces, this.#bytes, this.#isPassedOver]
    this.#pieces = []
    this.#bytes = 0
    this.#isPassedOver = false
    if (isPassedOver) return { record: null, skipped: null }
    if (bytes > this.#most)
      return { record: null, skipped: { line, why: `longer than ${this.#most} bytes (${bytes})` } }
    return readLine(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), line, isWhole)
  }

  #beginning(piece: Uint8Array): Uint8Array {
    return this.#pieces.length === 0 ? piece : Buffer.concat([...this.#pieces, piece.subarray(0, kindBytes)])
  }
}
