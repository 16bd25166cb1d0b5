// Reading a transcript: lines to entries and damage, in either direction, and finding a place without reading what
// lies before it. Readers never repair. Places rise through the file, so a place is found by halving; only lines with a
// fitting checksum guide the search, and it only ever moves on past a place that lies before the one looked for.
import type { OpenFile } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { isKnown, type Range, type StoredEntry } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { ReadItem } from '../../transcript/store.ts'
import { Order, type Place } from './line-order.ts'
import { linesBack, linesForward, type LineOptions, type RawLine } from './line-split.ts'
import { piecesOf } from './line-split.ts'

/** Two lines of full length that a lost line feed joined can still be told apart. */
export const lineOptions: LineOptions = {
  blockBytes: defaults.store.blockBytes,
  capBytes: 2 * defaults.transcript.maxLineBytes,
}
const probeOptions: LineOptions = { ...lineOptions, blockBytes: defaults.store.probeBytes }

/** The copy of the first line, for a transcript whose own cannot be read; null where there is none. */
export type FirstLine = () => Promise<StoredEntry | null>

export async function* readForward(
  file: OpenFile,
  name: string,
  bytes: number,
  range: Partial<Range>,
  firstLine: FirstLine,
): AsyncIterable<ReadItem> {
  let damages: ReadItem[] = []
  for await (const item of itemsForward(file, name, bytes, range.from, firstLine)) {
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
  yield* damages
}

async function* itemsForward(
  file: OpenFile,
  name: string,
  bytes: number,
  target: Seq | undefined,
  firstLine: FirstLine,
): AsyncIterable<ReadItem> {
  const from = target === undefined ? 0 : await placeBefore(file, bytes, target)
  const order = new Order(1)
  let isBegun = from > 0
  let number = from === 0 ? 1 : 0
  for await (const lines of linesForward(file, from, bytes, lineOptions)) {
    for (const line of lines) {
      const pieces = placed(line, name, number)
      if (number > 0) number++
      if (!isBegun && pieces.some((piece) => piece.entry !== null)) {
        isBegun = true
        if (!startsWithStart(pieces)) yield* copied(order, name, await firstLine(), pieces)
      }
      yield* fed(order, pieces)
    }
  }
  if (!isBegun) yield* copied(order, name, await firstLine(), [])
  yield* order.rest()
}

export async function* readBackward(
  file: OpenFile,
  name: string,
  bytes: number,
  before: Seq | undefined,
  firstLine: FirstLine,
): AsyncIterable<ReadItem> {
  const limit = before ?? Number.POSITIVE_INFINITY
  const isBefore = (item: ReadItem): boolean => item.kind !== 'entry' || item.entry.seq < limit
  const end = before === undefined ? bytes : await endOfPlace(file, bytes, before)
  const order = new Order(-1)
  let first: readonly PlacedPiece[] = []
  for await (const lines of linesBack(file, end, lineOptions)) {
    for (const line of lines) {
      const pieces = placed(line, name, 0)
      if (pieces.some((piece) => piece.entry !== null)) first = pieces
      for (const item of fed(order, pieces.toReversed())) if (isBefore(item)) yield item
    }
  }
  if (!startsWithStart(first))
    for (const item of copied(order, name, await firstLine(), first)) if (isBefore(item)) yield item
  for (const item of order.rest()) if (isBefore(item)) yield item
}

interface PlacedPiece {
  readonly place: Place
  readonly entry: { readonly entry: StoredEntry; readonly checked: boolean } | null
  readonly why: string
}

function placed(line: RawLine, file: string, number: number): readonly PlacedPiece[] {
  const whole: Place = { file, line: number, offset: line.at, bytes: line.length }
  if (line.bytes === null)
    return [{ place: whole, entry: null, why: 'a line longer than any that is written' }]
  return piecesOf(line.bytes).map((piece) => {
    const place = { ...whole, offset: line.at + piece.at, bytes: piece.bytes }
    if (piece.kind === 'entry') return { place, entry: piece, why: '' }
    return { place, entry: null, why: line.ended ? piece.why : `cut short (${piece.why})` }
  })
}

function* fed(order: Order, pieces: readonly PlacedPiece[]): Generator<ReadItem> {
  for (const { place, entry, why } of pieces) {
    if (entry === null) order.bad(place, why)
    else yield* order.entry(entry.entry, place, entry.checked)
  }
}

function startsWithStart(pieces: readonly PlacedPiece[]): boolean {
  const first = pieces.find((piece) => piece.entry !== null)?.entry?.entry
  return first !== undefined && isKnown(first) && first.fact.type === 'session-start'
}

/** The copy of the first line goes in where the line itself is missing. */
function copied(
  order: Order,
  file: string,
  copy: StoredEntry | null,
  before: readonly PlacedPiece[],
): readonly ReadItem[] {
  const first = before.find((piece) => piece.entry !== null)?.entry?.entry
  if (copy === null || (first !== undefined && copy.seq >= first.seq)) return []
  const place = { file, line: 1, offset: 0, bytes: 0 }
  order.say(place, 'the first line cannot be read', 'its copy was read instead')
  return order.entry(copy, place, true)
}

/** False for a loss that is known to lie outside the range. */
function touches(item: ReadItem, range: Partial<Range>): boolean {
  const lost = item.kind === 'damage' ? item.damage.lost : undefined
  if (lost === undefined) return true
  return lost.to >= (range.from ?? 0) && lost.from <= (range.to ?? lost.from)
}

/** The beginning of a line before which nothing at or after `target` stands, near to it. */
async function placeBefore(file: OpenFile, bytes: number, target: number): Promise<number> {
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

/**
 * The end of the first line that holds an entry at or after `target`, or the end of the file. A line that the next one
 * falls behind is out of order, and is passed over.
 */
export async function endOfPlace(file: OpenFile, bytes: number, target: number): Promise<number> {
  const from = await placeBefore(file, bytes, target)
  let found: { readonly end: number; readonly seq: number } | null = null
  for await (const lines of linesForward(file, from, bytes, lineOptions)) {
    for (const line of lines) {
      if (line.bytes === null || !line.ended) continue
      for (const piece of piecesOf(line.bytes)) {
        if (piece.kind !== 'entry') continue
        const place = piece.entry.seq
        if (found !== null && place > found.seq) return found.end
        const end: number = line.at + line.length + 1
        found = place >= target ? { end, seq: place } : null
      }
    }
  }
  return found?.end ?? bytes
}

/**
 * The first line after a place that may guide the search. One line may stand where it does not belong, so it counts only
 * when the line behind it holds the place behind its own.
 */
async function firstCheckedAfter(
  file: OpenFile,
  middle: number,
  high: number,
): Promise<{ at: number; seq: number } | null> {
  // Where no line begins for so long, the search gives up; it then only starts earlier than it might.
  const end = Math.min(high, middle + 2 * lineOptions.capBytes)
  let isPart = true
  let guide: { at: number; seq: number } | null = null
  for await (const lines of linesForward(file, middle, end, probeOptions)) {
    for (const line of lines) {
      // The search lands inside a line, the rest of which says nothing.
      if (isPart || line.bytes === null || !line.ended) {
        isPart = false
        continue
      }
      const [piece, ...more] = piecesOf(line.bytes)
      if (more.length > 0 || piece?.kind !== 'entry' || !piece.checked) continue
      const found = { at: line.at, seq: piece.entry.seq }
      if (guide !== null && found.seq === guide.seq + 1) return guide
      guide = found
    }
  }
  return null
}
