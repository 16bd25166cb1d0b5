// Reading back what eviction has left out: for an undo or a rewind, and for a checkpoint. What cannot be read whole is a
// failure, for a view that lacks something must never pass for the view.
import { getHeapStatistics } from 'node:v8'
import type { Fold, Hidden } from '../../projection/fold.ts'
import {
  isEditing,
  isKnown,
  type Entry,
  type Fact,
  type Range,
  type StoredEntry,
} from '../../transcript/fact.ts'
import { defaults } from '../../settings/defaults.ts'
import { MB } from '../../settings/units.ts'
import { after, type Seq, type SessionId } from '../../transcript/ids.ts'
import { readLine, readLineBack, type Link } from '../../transcript/lineage.ts'
import type { Failure, ReadItem, Result, Store } from '../../transcript/store.ts'

export async function supplyAll(
  store: Store,
  links: readonly Link[],
  fold: Fold,
  facts: readonly Fact[],
): Promise<Failure | null> {
  for (const fact of facts) {
    const failure = await supplyMissing(store, links, fold, fact)
    if (failure !== null) return failure
  }
  return null
}

/** Gives the fold what it must have before this fact can be pushed; `knowsLosses` where the caller says itself what is lost. */
export async function supplyMissing(
  store: Store,
  links: readonly Link[],
  fold: Fold,
  fact: Fact,
  knowsLosses = false,
): Promise<Failure | null> {
  const range = fold.missing(fact)
  if (range === null) return null
  const lost = knowsLosses ? [range] : fold.numbers.lost
  const found = await uncovered(store, links, fold, { range, lost, lastSurvivor: lastSurvivor(fact) })
  if (!found.ok) return found.failure
  fold.supply(range, found.entries, found.hidden)
  return null
}

/** Edits up to this place are still in force once the fact is pushed. */
const lastSurvivor = (fact: Fact): number =>
  fact.type === 'undo' ? fact.target - 1 : fact.type === 'rewind' ? fact.to : -1

interface Wanted {
  readonly range: Range
  /** Places that need not be found. */
  readonly lost: readonly Range[]
  readonly lastSurvivor: number
}

interface Uncovered {
  readonly entries: readonly StoredEntry[]
  readonly hidden: Hidden | null
}

/**
 * What comes into sight, read backwards. A compaction covers the one before it, so taking the last one back uncovers the
 * one before, and what that one hides need not be read: an undo costs its span, however long the session.
 */
async function uncovered(
  store: Store,
  links: readonly Link[],
  fold: Fold,
  { range, lost, lastSurvivor }: Wanted,
): Promise<Result<Uncovered>> {
  const entries: StoredEntry[] = []
  const room = new MemoryRoom(links.at(-1)!.session)
  // An edit may have been undone while another already covered it.
  const undone = new Set(
    fold.edits.controls.flatMap(({ fact }) => (fact.type === 'undo' ? [fact.target] : [])),
  )
  let cover: { readonly seq: Seq; readonly range: Range; readonly kept: readonly Seq[] } | null = null
  let first: Seq = range.from
  for await (const item of readLineBack(store, links, after(range.to))) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind === 'damage') continue
    const { entry } = item
    if (entry.seq < first) break
    const full = room.take(item)
    if (full !== null) return { ok: false, failure: full }
    entries.push(entry)
    if (!isKnown(entry) || isWithin(entry.seq, fold.numbers.cut)) continue
    if (entry.fact.type === 'undo') undone.add(entry.fact.target)
    if (cover !== null || entry.seq > lastSurvivor || undone.has(entry.seq)) continue
    cover = coverOf(entry, range.from)
    if (cover !== null) first = after(cover.range.to)
  }
  if (entries.length + overlap({ from: first, to: range.to }, lost) < range.to - first + 1)
    return damaged({ from: first, to: range.to })
  entries.reverse()
  if (cover === null) return { ok: true, entries, hidden: null }
  const places = cover.kept.map((place): Range => ({ from: place, to: place }))
  const kept = await collect(store, links, places, lost)
  if (!kept.ok) return kept
  const span = { seq: cover.seq, from: cover.range.from, to: cover.range.to }
  return { ok: true, entries, hidden: { span, kept: kept.entries.filter(isKnown) } }
}

/** The span of this entry's edits that begins at or before a place, with the places it shows of it. */
function coverOf(
  { seq: place, fact }: Entry,
  from: Seq,
): { readonly seq: Seq; readonly range: Range; readonly kept: readonly Seq[] } | null {
  if (!isEditing(fact)) return null
  for (const edit of fact.edits) {
    if (edit.kind !== 'summary' && edit.kind !== 'drop') continue
    if (edit.from > from || edit.to < from) continue
    const kept = edit.kind === 'summary' ? edit.keep.map((keep) => keep.at.seq) : []
    return {
      seq: place,
      range: { from: edit.from, to: edit.to },
      kept: [...new Set(kept)].sort((a, b) => a - b),
    }
  }
  return null
}

/** Reading this many entries too many is cheaper than another seek; they are not kept. */
const bridge = 32

/** The entries of these ranges, which rise, all of them but those already known as lost. */
export async function collect(
  store: Store,
  links: readonly Link[],
  ranges: readonly Range[],
  lost: readonly Range[],
  room?: MemoryRoom,
): Promise<Result<{ readonly entries: readonly StoredEntry[] }>> {
  const entries: StoredEntry[] = []
  for (const near of neighbours(ranges)) {
    const stretch = { from: near[0]!.from, to: near.at(-1)!.to }
    let [at, found] = [0, 0]
    for await (const item of readLine(store, links, stretch)) {
      if (item.kind === 'failed') return { ok: false, failure: item.failure }
      if (item.kind !== 'entry') continue
      found++
      while (at < near.length - 1 && item.entry.seq > near[at]!.to) at++
      if (!isWithin(item.entry.seq, [near[at]!])) continue
      const full = room?.take(item) ?? null
      if (full !== null) return { ok: false, failure: full }
      entries.push(item.entry)
    }
    // What lies between is not kept, but that it is missing would go unsaid.
    if (found + overlap(stretch, lost) < stretch.to - stretch.from + 1) return damaged(stretch)
  }
  return { ok: true, entries }
}

/** Ranges that are read in one go. */
function neighbours(ranges: readonly Range[]): readonly (readonly Range[])[] {
  const groups: Range[][] = []
  for (const range of ranges) {
    const last = groups.at(-1)
    if (last !== undefined && range.from - last.at(-1)!.to <= bridge) last.push(range)
    else groups.push([range])
  }
  return groups
}

const overlap = (range: Range, lost: readonly Range[]): number =>
  lost.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.to, range.to) - Math.max(one.from, range.from) + 1),
    0,
  )

const isWithin = (place: number, ranges: readonly Range[]): boolean =>
  ranges.some((range) => place >= range.from && place <= range.to)

function damaged({ from, to }: Range): { readonly ok: false; readonly failure: Failure } {
  const message = `entries ${from} to ${to} cannot be read whole; a part of the transcript is damaged`
  return { ok: false, failure: { code: 'damaged', message } }
}

/**
 * What opening a session takes in memory. Everything that no edit has removed from context is held, and a process that runs out
 * of memory is ended by the system without a word: so it is counted while it is read, and ends with a failure before that.
 */
export class MemoryRoom {
  readonly #session: SessionId
  readonly #heap = getHeapStatistics()
  #bytes = 0

  constructor(session: SessionId) {
    this.#session = session
  }

  /** What was held before is out of context now and forgotten. */
  clear(): void {
    this.#bytes = 0
  }

  /** Counts what is read; a failure when holding it would take more than there is. */
  take(item: ReadItem): Failure | null {
    if (item.kind !== 'entry' || item.bytes === undefined) return null
    this.#bytes += item.bytes
    // Texts take up to two bytes for each one on the disk, beside what the program holds already and works with.
    const needed = 2 * this.#bytes + this.#heap.used_heap_size + defaults.engine.workingMemoryBytes
    return needed <= this.#heap.heap_size_limit ? null : this.#failure()
  }

  #failure(): Failure {
    const [taken, limit] = [this.#bytes, this.#heap.heap_size_limit].map((bytes) => Math.floor(bytes / MB))
    return {
      code: 'no-memory',
      message:
        `session ${this.#session} holds more than ${taken} MB that nothing has removed from context, too much for the ${limit} MB of memory ` +
        `this process may use. Open it once with more, NODE_OPTIONS=--max-old-space-size=MEGABYTES with about three times the size of its ` +
        'transcript, and compact it there (/compact, or pal compact); nothing was changed',
    }
  }
}
