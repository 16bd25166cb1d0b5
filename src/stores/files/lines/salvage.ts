// What can still be read of a damaged line: two entries on one line, a cut one followed by a whole one, a run of zero
// bytes before one, a line feed that became another byte. An entry counts as whole when its checksum fits, or, without
// one, when it decodes. The rest is reported with its place. Work on one line is bounded.
import { crc32 } from 'node:zlib'
import { defaults } from '../../../settings/defaults.ts'
import type { StoredEntry } from '../../../transcript/fact.ts'
import { sumAt, trailerBytes, trailerStart, unframe } from './frame.ts'

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
