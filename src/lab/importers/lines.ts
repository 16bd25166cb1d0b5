// Reading foreign files without trusting them: bytes to lines to objects, with a reason for every line left behind.
// Frames end at byte 0x0A only; gzip is unpacked; nothing here throws.
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
export const isUnspoken = (line: Uint8Array): boolean =>
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
export function readLine(bytes: Uint8Array, line: number, isWhole: (value: Fields) => boolean): ReadLine {
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
