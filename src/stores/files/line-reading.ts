// Reading a transcript: lines to entries and damage, in either direction, and finding a place without reading what
// lies before it. Readers never repair. Places rise through the file, so a place is found by halving; only lines with a
// fitting checksum guide the search, and it only ever moves on past a place that lies before the one looked for.
import type { OpenFile } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Range, StoredEntry } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { ReadItem, Damage } from '../../transcript/store.ts'
import { linesBack, linesForward, type LineOptions, type RawLine } from './line-split.ts'
import { piecesOf } from './line-split.ts'
import { seq } from '../../transcript/ids.ts'

/** Two lines of full length that a lost line feed joined can still be told apart. */
export const lineOptions: LineOptions = {
  blockBytes: defaults.store.blockBytes,
  capBytes: 2 * defaults.transcript.maxLineBytes,
}
const probeOptions: LineOptions = { ...lineOptions, blockBytes: defaults.store.probeBytes }

export async function* readForward(
  file: OpenFile,
  name: string,
  bytes: number,
  range: Partial<Range>,
): AsyncIterable<ReadItem> {
  const from = range.from === undefined ? 0 : await placeBefore(file, bytes, range.from)
  const sequence = order(1)
  let lineNumber = from === 0 ? 1 : 0
  let damages: ReadItem[] = []
  for await (const lines of linesForward(file, from, bytes, lineOptions)) {
    for (const line of lines) {
      for (const item of itemsOf(line, name, lineNumber, sequence, 1)) {
        if (item.kind !== 'entry') {
          if (touches(item, range)) damages.push(item)
          continue
        }
        const isPast = range.to !== undefined && item.entry.seq > range.to
        if (isPast || range.from === undefined || item.entry.seq >= range.from) yield* damages
        if (isPast) return
        // Damage before an entry that is itself too early lies before the range.
        damages = []
        if (range.from === undefined || item.entry.seq >= range.from) yield item
      }
      if (lineNumber > 0) lineNumber++
    }
  }
  yield* [...damages, ...sequence.rest()]
}

export async function* readBackward(
  file: OpenFile,
  name: string,
  bytes: number,
  before: Seq | undefined,
): AsyncIterable<ReadItem> {
  const limit = before ?? Number.POSITIVE_INFINITY
  const end = before === undefined ? bytes : await endOfPlace(file, bytes, before)
  const sequence = order(-1)
  for await (const lines of linesBack(file, end, lineOptions)) {
    for (const line of lines) {
      for (const item of itemsOf(line, name, 0, sequence, -1)) {
        if (item.kind !== 'entry' || item.entry.seq < limit) yield item
      }
    }
  }
  yield* sequence.rest()
}

/** False for a loss that is known to lie outside the range. */
function touches(item: ReadItem, range: Partial<Range>): boolean {
  const lost = item.kind === 'damage' ? item.damage.lost : undefined
  if (lost === undefined) return true
  return lost.to >= (range.from ?? 0) && lost.from <= (range.to ?? lost.from)
}

function itemsOf(
  line: RawLine,
  file: string,
  number: number,
  sequence: Order,
  step: 1 | -1,
): readonly ReadItem[] {
  const whole: Place = { file, line: number, offset: line.at, bytes: line.length }
  if (line.bytes === null) {
    sequence.bad(whole, 'a line longer than any that is written')
    return []
  }
  const pieces = piecesOf(line.bytes)
  const items: ReadItem[] = []
  for (const piece of step === 1 ? pieces : [...pieces].reverse()) {
    const place = { ...whole, offset: line.at + piece.at, bytes: piece.bytes }
    if (piece.kind === 'entry') items.push(...sequence.entry(piece.entry, place, piece.checked))
    else sequence.bad(place, line.ended ? piece.why : `cut short (${piece.why})`)
  }
  return items
}

/** The beginning of a line before which nothing at or after `target` stands, near to it. */
export async function placeBefore(file: OpenFile, bytes: number, target: number): Promise<number> {
  let low = 0
  let high = bytes
  while (high - low > defaults.store.seekBytes) {
    const middle = Math.floor((low + high) / 2)
    const found = await firstCheckedAfter(file, middle, high)
    if (found !== null && found.seq < target) low = found.at
    else high = middle
  }
  return low
}

/** The end of the first line that holds an entry at or after `target`, or the end of the file. */
export async function endOfPlace(file: OpenFile, bytes: number, target: number): Promise<number> {
  const from = await placeBefore(file, bytes, target)
  for await (const lines of linesForward(file, from, bytes, lineOptions)) {
    for (const line of lines) {
      if (line.bytes === null || !line.ended) continue
      const isThere = piecesOf(line.bytes).some(
        (piece) => piece.kind === 'entry' && piece.entry.seq >= target,
      )
      if (isThere) return line.at + line.length + 1
    }
  }
  return bytes
}

async function firstCheckedAfter(
  file: OpenFile,
  middle: number,
  high: number,
): Promise<{ at: number; seq: number } | null> {
  // Where no line begins for so long, the search gives up; it then only starts earlier than it might.
  const end = Math.min(high, middle + 2 * lineOptions.capBytes)
  let isPart = true
  for await (const lines of linesForward(file, middle, end, probeOptions)) {
    for (const line of lines) {
      // The search lands inside a line, the rest of which says nothing.
      if (isPart || line.bytes === null || !line.ended) {
        isPart = false
        continue
      }
      const [piece, ...more] = piecesOf(line.bytes)
      if (more.length === 0 && piece?.kind === 'entry' && piece.checked)
        return { at: line.at, seq: piece.entry.seq }
    }
  }
  return null
}

// ---- order ----
// What the sequence numbers of a transcript tell about what is missing or stands there twice.
// Damage is held back until the next entry, because only the neighbours say which places were lost in it.

interface Place {
  readonly file: string
  readonly line: number
  readonly offset: number
  readonly bytes: number
}

interface Order {
  entry(entry: StoredEntry, place: Place, checked: boolean): readonly ReadItem[]
  bad(place: Place, what: string): void
  /** What was held back, when nothing more comes. */
  rest(): readonly ReadItem[]
}

/** `step` is 1 when reading forwards and -1 when reading backwards. */
function order(step: 1 | -1): Order {
  let last: number | null = null
  let held: Damage[] = []
  let saidUnchecked = false
  const items = (damages: readonly Damage[]): ReadItem[] =>
    damages.map((damage) => ({ kind: 'damage', damage }))

  const release = (next: number, place: Place): readonly Damage[] => {
    const out = held
    held = []
    const missing = last === null ? 0 : (next - last) * step - 1
    if (missing <= 0 || last === null) return out
    const lost = { from: seq(Math.min(last, next) + 1), to: seq(Math.max(last, next) - 1) }
    const first = out[0]
    if (first !== undefined) return [{ ...first, lost }, ...out.slice(1)]
    const what =
      missing === 1 ? `entry ${lost.from} is missing` : `entries ${lost.from} to ${lost.to} are missing`
    return [{ ...place, bytes: 0, what, done: 'read on after the gap', lost }]
  }

  return {
    entry(entry, place, checked) {
      const out: ReadItem[] = []
      if (last !== null && (entry.seq - last) * step <= 0) {
        held.push({
          ...place,
          what: `place ${entry.seq} is taken a second time`,
          done: 'left out of the reading',
        })
        return out
      }
      out.push(...items(release(entry.seq, place)))
      if (!checked && !saidUnchecked) {
        saidUnchecked = true
        const what = 'a line without checksum, written by something else'
        out.push(...items([{ ...place, what, done: 'read as it is; further ones are not reported' }]))
      }
      last = entry.seq
      out.push({ kind: 'entry', entry })
      return out
    },
    bad(place, what) {
      held.push({ ...place, what, done: 'skipped, the bytes stay where they are' })
    },
    rest() {
      const out = items(held)
      held = []
      return out
    },
  }
}
