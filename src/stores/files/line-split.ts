// Bytes to lines, forwards and backwards, block by block. A line ends at byte 0x0A. A line that is longer than the
// cap is passed over in bounded memory: its place and length are given, its bytes are not.
import { blocksOf } from '../../disk/replace.ts'
import { readAt, type OpenFile } from '../../disk/fs.ts'
import { lineFeed, sumAt, trailerBytes, trailerStart, unframe } from './line-frame.ts'
import { crc32 } from 'node:zlib'
import { defaults } from '../../settings/defaults.ts'
import type { StoredEntry } from '../../transcript/fact.ts'

export interface RawLine {
  /** Without its end; null when it is longer than the cap. */
  readonly bytes: Buffer | null
  readonly at: number
  /** Without its end. */
  readonly length: number
  /** False only for the last line of a file that does not end in a line feed. */
  readonly ended: boolean
}

export interface LineOptions {
  readonly blockBytes: number
  readonly capBytes: number
}

/** The lines from one place to another, as many at a time as a block completes. `from` is the beginning of a line. */
export async function* linesForward(
  file: OpenFile,
  from: number,
  to: number,
  options: LineOptions,
): AsyncIterable<readonly RawLine[]> {
  let lineAt = from
  let at = from
  let carried: Buffer[] = []
  let carriedBytes = 0
  const finish = (last: Buffer, ended: boolean): RawLine => {
    const length = carriedBytes + last.byteLength
    const bytes =
      length > options.capBytes ? null : carried.length === 0 ? last : Buffer.concat([...carried, last])
    const line = { bytes, at: lineAt, length, ended }
    lineAt += length + 1
    carried = []
    carriedBytes = 0
    return line
  }
  for await (const block of blocksOf(file, options.blockBytes, from, to)) {
    const lines: RawLine[] = []
    let start = 0
    for (let end = block.indexOf(lineFeed); end !== -1; end = block.indexOf(lineFeed, start)) {
      lines.push(finish(block.subarray(start, end), true))
      start = end + 1
    }
    carriedBytes += block.byteLength - start
    if (carriedBytes > options.capBytes) carried = []
    else if (start < block.byteLength) carried.push(block.subarray(start))
    at += block.byteLength
    if (lines.length > 0) yield lines
  }
  if (at > lineAt) yield [finish(Buffer.alloc(0), false)]
}

/** The lines before a place, newest first. `before` is the beginning of a line or the end of the file. */
export async function* linesBack(
  file: OpenFile,
  before: number,
  options: LineOptions,
): AsyncIterable<readonly RawLine[]> {
  let carried: Buffer[] = []
  let carriedBytes = 0
  let ended = false
  const finish = (first: Buffer, at: number): RawLine => {
    const length = first.byteLength + carriedBytes
    const bytes =
      length > options.capBytes ? null : carried.length === 0 ? first : Buffer.concat([first, ...carried])
    carried = []
    carriedBytes = 0
    return { bytes, at, length, ended }
  }
  let top = before
  while (top > 0) {
    const base = Math.max(0, top - options.blockBytes)
    const block = await readAt(file, base, top - base)
    if (block.byteLength < top - base)
      throw Object.assign(new Error('the file became shorter while it was read'), { code: 'EIO' })
    const lines: RawLine[] = []
    let end = block.byteLength
    for (let feed = block.lastIndexOf(lineFeed); feed !== -1; feed = lastFeedBefore(block, feed)) {
      const isFileEnd = base + feed + 1 === before
      if (!isFileEnd) lines.push(finish(block.subarray(feed + 1, end), base + feed + 1))
      ended = true
      end = feed
    }
    carriedBytes += end
    if (carriedBytes > options.capBytes) carried = []
    else if (end > 0) carried.unshift(block.subarray(0, end))
    top = base
    if (lines.length > 0) yield lines
  }
  if (carriedBytes > 0 || ended) yield [finish(Buffer.alloc(0), 0)]
}

const lastFeedBefore = (block: Buffer, at: number): number =>
  at === 0 ? -1 : block.lastIndexOf(lineFeed, at - 1)

// ---- salvage ----
// What can still be read of a damaged line: two entries on one line, a cut one followed by a whole one, a run of zero
// bytes before one, a line feed that became another byte. An entry counts as whole when its checksum fits, or, without
// one, when it decodes. The rest is reported with its place. Work on one line is bounded.

export type Piece =
  | {
      readonly kind: 'entry'
      readonly entry: StoredEntry
      readonly checked: boolean
      readonly at: number
      readonly bytes: number
    }
  | { readonly kind: 'bad'; readonly why: string; readonly at: number; readonly bytes: number }

const entryStart = Buffer.from('{"v":')

/** The pieces of a line in their order, without gaps between them. */
export function piecesOf(line: Buffer): readonly Piece[] {
  const whole = unframe(line)
  if (whole.ok)
    return [{ kind: 'entry', entry: whole.entry, checked: whole.checked, at: 0, bytes: line.byteLength }]
  // With a fitting checksum the bytes are what was written; there is nothing to look for.
  if (whole.checked) return [{ kind: 'bad', why: whole.why, at: 0, bytes: line.byteLength }]
  return salvage(line, whole.why)
}

function salvage(line: Buffer, why: string): readonly Piece[] {
  const pieces: Piece[] = []
  const work = { left: defaults.store.salvageBytes }
  let badFrom = 0
  let start = line.indexOf(entryStart)
  while (start !== -1 && work.left > 0) {
    const found = checkedEntry(line, start, work) ?? bareEntry(line, start, work)
    if (found === null) {
      start = line.indexOf(entryStart, start + 1)
      continue
    }
    if (start > badFrom) pieces.push({ kind: 'bad', why, at: badFrom, bytes: start - badFrom })
    pieces.push(found)
    badFrom = start + found.bytes
    start = line.indexOf(entryStart, badFrom)
  }
  if (badFrom < line.byteLength)
    pieces.push({ kind: 'bad', why, at: badFrom, bytes: line.byteLength - badFrom })
  return pieces
}

/** The entry that begins here and ends at the first trailer whose sum fits. */
function checkedEntry(line: Buffer, start: number, work: { left: number }): Piece | null {
  let sum = 0
  let summed = start
  for (let end = line.indexOf(trailerStart, start); end !== -1; end = line.indexOf(trailerStart, end + 1)) {
    work.left -= end - summed
    if (work.left <= 0) return null
    sum = crc32(line.subarray(summed, end), sum)
    summed = end
    if (sumAt(line, end) !== sum) continue
    const bytes = end + trailerBytes - start
    const read = unframe(line.subarray(start, start + bytes))
    return read.ok ? { kind: 'entry', entry: read.entry, checked: true, at: start, bytes } : null
  }
  return null
}

/** The entry without a checksum that reaches to the next beginning, or to the end of the line. */
function bareEntry(line: Buffer, start: number, work: { left: number }): Piece | null {
  const next = line.indexOf(entryStart, start + 1)
  for (const end of next === -1 ? [line.byteLength] : [next, line.byteLength]) {
    const bytes = end - start - padding(line, start, end)
    if (line[start + bytes - 1] !== 0x7d) continue
    work.left -= bytes
    if (work.left <= 0) return null
    const read = unframe(line.subarray(start, start + bytes))
    if (read.ok) return { kind: 'entry', entry: read.entry, checked: read.checked, at: start, bytes }
  }
  return null
}

/** Zero bytes, blanks and carriage returns at the end. */
function padding(line: Buffer, start: number, end: number): number {
  let count = 0
  while (end - count > start && [0, 0x20, 0x0d].includes(line[end - count - 1]!)) count++
  return count
}
