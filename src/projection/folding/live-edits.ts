// Which edits count now. Edits, undos, pins, releases and instructions ("controls") are kept in order; everything
// derived from them is rebuilt from that list, so the view depends on the set of live edits and not on how we got there.
//
// Ranges nest or are disjoint; the outermost live range wins. An edit that overlaps another in part, or lies inside
// one, does not fit and is passed over: it is refused before it is written, and a transcript that holds one all the
// same must still open.
import {
  isEditing,
  type Asked,
  type DropEdit,
  type Edit,
  type Entry,
  type Fact,
  type FactOf,
  type Range,
  type RemoteEdit,
  type StubEdit,
  type SummaryEdit,
} from '../../transcript/fact.ts'
import { seq, type Seq, type Uuid } from '../../transcript/ids.ts'

/** A live edit of a range, with where it was written and by whom. */
export interface LiveRange {
  readonly seq: Seq
  readonly uuid: Uuid
  readonly at: number
  readonly layer: string
  readonly asked: Asked
  readonly edit: DropEdit | SummaryEdit
}
export interface LiveStub {
  readonly seq: Seq
  readonly layer: string
  readonly edit: StubEdit
}
export interface LiveClearing {
  readonly seq: Seq
  readonly via: RemoteEdit['via']
}
/** Live edits of single blocks, oldest first; the newest one counts. */
type Blocks<E> = Map<Seq, Map<number, readonly E[]>>
export interface Pin {
  readonly seq: Seq
  /** The place of its release. An edit made before that still shows the block: what was shown does not change. */
  readonly released: Seq | null
  readonly at: Seq
  readonly block: number | null
}

/** An edit, undo or rewind at `by` changed what stood from `from` on. */
interface Change {
  readonly from: number
  readonly by: number
}

/** Facts that say how others are shown, and are shown nowhere themselves. */
export const isControl = (fact: Fact): boolean =>
  isEditing(fact) ||
  fact.type === 'undo' ||
  fact.type === 'pin' ||
  fact.type === 'release' ||
  fact.type === 'instructions-set'

export class LiveEdits {
  /** In order of place. */
  readonly controls: Entry[] = []
  /** Outermost live ranges, disjoint, in order of place. */
  tops: readonly LiveRange[] = []
  readonly stubs: Blocks<LiveStub> = new Map()
  readonly remote: Blocks<LiveClearing> = new Map()
  /** Results that were too large when they came and are shown whole now, with their text. */
  readonly wholes = new Map<Seq, string>()
  /** Released ones included. */
  pins: readonly Pin[] = []
  /** What undos gave back, by the place of the undo. */
  holds: readonly {
    readonly seq: Seq
    readonly range: Range
    /** What came back is a whole span that a summary stood for, not a block or two. */
    readonly isSpan: boolean
  }[] = []
  #ranges: LiveRange[] = []
  #changes: Change[] = []

  /** The top-level edit that stands for this place, if any. */
  topAt(place: number): LiveRange | undefined {
    let low = 0
    let high = this.tops.length - 1
    while (low <= high) {
      const middle = (low + high) >>> 1
      const top = this.tops[middle]!
      if (place < top.edit.from) high = middle - 1
      else if (place > top.edit.to) low = middle + 1
      else return top
    }
    return undefined
  }

  /** The instructions in force. */
  instructions(): FactOf<'instructions-set'> | null {
    for (let index = this.controls.length - 1; index >= 0; index--) {
      const { fact } = this.controls[index]!
      if (fact.type === 'instructions-set') return fact
    }
    return null
  }

  knows(place: Seq): boolean {
    return this.controls.some((control) => control.seq === place)
  }

  /** The entry of a live edit, or undefined when it was undone or never was. */
  editing(target: Seq): Entry | undefined {
    const entry = this.controls.find((control) => control.seq === target)
    if (entry === undefined || !isEditing(entry.fact)) return undefined
    const isUndone = ({ fact }: Entry): boolean => fact.type === 'undo' && fact.target === target
    return this.controls.some(isUndone) ? undefined : entry
  }

  /** Takes in one control; gives the ranges whose rendering may have changed. */
  push(entry: Entry): readonly Range[] {
    this.controls.push(entry)
    return this.#apply(entry)
  }

  /** Puts back controls that had been left out of memory, and derives everything anew. */
  supply(entries: readonly Entry[]): void {
    const known = new Set(this.controls.map((control) => control.seq))
    this.controls.push(...entries.filter((entry) => !known.has(entry.seq)))
    this.controls.sort((a, b) => a.seq - b.seq)
    this.rebuild()
  }

  /** Forgets every control after this place. */
  rewind(to: Seq): void {
    while (this.controls.length > 0 && this.controls.at(-1)!.seq > to) this.controls.pop()
    this.rebuild()
  }

  rebuild(): void {
    this.tops = []
    this.#ranges = []
    this.#changes = []
    this.pins = []
    this.holds = []
    this.stubs.clear()
    this.remote.clear()
    this.wholes.clear()
    for (const entry of this.controls) this.#apply(entry)
  }

  /** Forgets controls that matter only inside a top-level range: an undo of that range brings them back by `supply`. */
  evict(): void {
    const kept = this.controls.filter((control) => !this.#isInside(control))
    if (kept.length === this.controls.length) return
    this.controls.splice(0, this.controls.length, ...kept)
    this.rebuild()
  }

  /** Ranges in which reasoning was made before the prefix under it changed, merged. */
  stale(): readonly Range[] {
    const merged: { from: Seq; to: Seq }[] = []
    // Instructions stand before everything; the newest outdate what all earlier ones do.
    const instructed = this.controls.findLast((control) => control.fact.type === 'instructions-set')
    const changes: Change[] = instructed === undefined ? [] : [{ from: 0, by: instructed.seq }]
    changes.push(...this.#changes)
    for (const change of changes.sort((a, b) => a.from - b.from || a.by - b.by)) {
      const last = merged.at(-1)
      if (last !== undefined && change.from <= last.to + 1) last.to = seq(Math.max(last.to, change.by - 1))
      else merged.push({ from: seq(change.from), to: seq(change.by - 1) })
    }
    return merged
  }

  /** The first place that an edit, an undo or new instructions have changed after this one. */
  changedAfter(place: Seq): Seq | null {
    let first = Infinity
    for (const change of this.#changes) if (change.by > place) first = Math.min(first, change.from)
    for (const control of this.controls)
      if (control.seq > place && control.fact.type === 'instructions-set') first = 0
    return first === Infinity ? null : seq(first)
  }

  /** Whether every live range is apart from this one or lies inside it without filling it. */
  fits(range: Range): boolean {
    return this.tops.every(
      ({ edit }) => isApart(edit, range) || (isWithin(edit, range) && !isWithin(range, edit)),
    )
  }

  /** Of the holds, the ranges that are in sight. */
  visibleHolds(): readonly Range[] {
    return this.holds.map((hold) => hold.range).filter((range) => !this.#isCovered(range))
  }

  #apply(entry: Entry): readonly Range[] {
    const fact = entry.fact
    if (isEditing(fact)) return this.#applyEdits(entry, fact.edits, fact.layer, fact.asked)
    switch (fact.type) {
      case 'undo':
        return fact.whole === undefined
          ? this.#applyUndo(entry, fact.target)
          : this.#applyWhole(entry, fact.target, fact.whole)
      case 'pin':
        this.pins = [
          ...this.pins,
          { seq: entry.seq, released: null, at: fact.at.seq, block: fact.at.block ?? null },
        ]
        return []
      case 'release':
        this.pins = this.pins.map((pin) => (pin.seq === fact.target ? { ...pin, released: entry.seq } : pin))
        this.holds = this.holds.filter((hold) => hold.seq !== fact.target)
        return []
      default:
        return []
    }
  }

  #applyEdits(entry: Entry, edits: readonly Edit[], layer: string, asked: Asked): readonly Range[] {
    const touched: Range[] = []
    for (const edit of edits) {
      const range = rangeOf(edit)
      if (range === null || range.to >= entry.seq) continue
      if (range.to < range.from || !this.fits(range)) continue
      if (edit.kind === 'drop' || edit.kind === 'summary') {
        this.#ranges.push({ seq: entry.seq, uuid: entry.uuid, at: entry.at, layer, asked, edit })
      }
      if (edit.kind === 'stub') add(this.stubs, edit.at, { seq: entry.seq, layer, edit })
      if (edit.kind === 'remote')
        for (const at of edit.at) add(this.remote, at, { seq: entry.seq, via: edit.via })
      touched.push(range)
      if (edit.kind !== 'remote') this.#changes.push({ from: range.from, by: entry.seq })
    }
    if (touched.length > 0) this.#findTops()
    return touched
  }

  #applyUndo(entry: Entry, target: Seq): readonly Range[] {
    const undone = this.controls.find((control) => control.seq === target)
    if (undone === undefined || !isEditing(undone.fact)) return []
    this.#ranges = this.#ranges.filter((live) => live.seq !== target)
    this.#findTops()
    const touched: { readonly range: Range; readonly isSpan: boolean }[] = []
    for (const edit of undone.fact.edits) {
      const range = rangeOf(edit)
      if (range === null) continue
      touched.push({ range, isSpan: edit.kind === 'summary' })
      if (edit.kind === 'stub') take(this.stubs, edit.at, target)
      else if (edit.kind === 'remote') for (const at of edit.at) take(this.remote, at, target)
      // Under another edit nothing comes into sight, so no reasoning loses its footing.
      if (edit.kind !== 'remote' && !this.#isCovered(range))
        this.#changes.push({ from: range.from, by: entry.seq })
    }
    this.holds = [...this.holds, ...touched.map((one) => ({ seq: entry.seq, ...one }))]
    return touched.map(({ range }) => range)
  }

  #applyWhole(entry: Entry, target: Seq, text: string): readonly Range[] {
    const hold = { seq: entry.seq, range: { from: target, to: target }, isSpan: false }
    this.wholes.set(target, text)
    this.#changes.push({ from: target, by: entry.seq })
    this.holds = [...this.holds, hold]
    return [hold.range]
  }

  #findTops(): void {
    // Wider first at the same start, later first at the same range: so the first one to cover a place is outermost.
    const sorted = [...this.#ranges].sort(
      (a, b) => a.edit.from - b.edit.from || b.edit.to - a.edit.to || b.seq - a.seq,
    )
    const tops: LiveRange[] = []
    for (const live of sorted) {
      const last = tops.at(-1)
      if (last === undefined || live.edit.from > last.edit.to) tops.push(live)
    }
    this.tops = tops
  }

  #isCovered(range: Range): boolean {
    const top = this.topAt(range.from)
    return top !== undefined && isWithin(range, top.edit)
  }

  #isInside(control: Entry): boolean {
    if (control.fact.type === 'instructions-set') {
      // Replaced before the edit was made: no rewind that leaves the edit can bring them back.
      const replaced = this.controls.find(
        (other) => other.seq > control.seq && other.fact.type === 'instructions-set',
      )
      return this.tops.some((top) => control.seq >= top.edit.from && (replaced?.seq ?? Infinity) < top.seq)
    }
    if (control.fact.type === 'undo' && control.fact.whole !== undefined)
      return this.#isWholeInside(control, control.fact.target)
    const target = control.fact.type === 'undo' ? control.fact.target : control.seq
    const fact = this.controls.find((other) => other.seq === target)?.fact
    if (fact === undefined || !isEditing(fact)) return false
    return fact.edits.every((edit) => {
      const range = rangeOf(edit)
      const top = range === null ? undefined : this.topAt(range.from)
      return range !== null && top !== undefined && control.seq < top.seq && isWithin(range, top.edit)
    })
  }

  /** What a summary keeps of it, or a pin, is taken from the whole text. */
  #isWholeInside(control: Entry, target: Seq): boolean {
    const top = this.topAt(target)
    if (top === undefined || control.seq > top.seq || this.pins.some((pin) => pin.at === target)) return false
    return top.edit.kind === 'drop' || !top.edit.keep.some(({ at }) => at.seq === target)
  }
}

export const isInForce = (pin: Pin, place: number): boolean =>
  pin.seq < place && (pin.released === null || pin.released > place)

/** The entries an edit touches, from the first to the last; null when it touches none. */
export function rangeOf(edit: Edit): Range | null {
  switch (edit.kind) {
    case 'drop':
    case 'summary':
      return { from: edit.from, to: edit.to }
    case 'stub':
      return { from: edit.at.seq, to: edit.at.seq }
    case 'remote': {
      if (edit.at.length === 0) return null
      const places = edit.at.map((at) => at.seq)
      return { from: seq(Math.min(...places)), to: seq(Math.max(...places)) }
    }
  }
}

export const isApart = (a: Range, b: Range): boolean => a.to < b.from || b.to < a.from
export const isWithin = (inner: Range, outer: Range): boolean =>
  inner.from >= outer.from && inner.to <= outer.to

type At = { readonly seq: Seq; readonly block?: number | undefined }

function add<E>(map: Blocks<E>, at: At, live: E): void {
  const blocks = map.get(at.seq) ?? new Map<number, readonly E[]>()
  blocks.set(at.block ?? 0, [...(blocks.get(at.block ?? 0) ?? []), live])
  map.set(at.seq, blocks)
}

function take<E extends { readonly seq: Seq }>(map: Blocks<E>, at: At, target: Seq): void {
  const blocks = map.get(at.seq)
  const left = blocks?.get(at.block ?? 0)?.filter((live) => live.seq !== target) ?? []
  if (left.length > 0) blocks?.set(at.block ?? 0, left)
  else blocks?.delete(at.block ?? 0)
  if (blocks?.size === 0) map.delete(at.seq)
}
