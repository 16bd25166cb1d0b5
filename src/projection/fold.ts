// The fold: entries in, view out. Pure in the sense that counts: the same entries give the same view, whatever the
// clock, the disk and the settings say (P1). One more entry costs the entry; an edit or an undo costs its range.
//
// `units` are the parts of the entries before any edit, `edits` says which edits count, `messages` is what is shown.
// A long transcript need not be in memory: `evict` forgets what top-level edits hide, `missing` says what an undo or
// a rewind needs back, and `supply` takes it.
import type { Entry, Fact, FactOf, Range, StoredEntry, Usage } from '../transcript/fact.ts'
import { isKnown } from '../transcript/fact.ts'
import { seq, type Seq } from '../transcript/ids.ts'
import { factorOf, learn, sizeOf, uncalibrated, type Calibration } from './calibration.ts'
import { messageOf, messagesOf } from './folding/units.ts'
import { isControl, LiveEdits } from './folding/live-edits.ts'
import { affected, MessageList } from './folding/message-list.ts'
import { lostResults, partOf } from './folding/part.ts'
import { rangePart, withBlockEdits, withWhole } from './folding/render.ts'
import { estimateText, estimateTool } from './tokens.ts'
import { callsIn, openAtEnd, Units, type Unit } from './folding/units.ts'
import type { Anchor, Message, Part, View } from './view.ts'

interface OwnAnchor extends Anchor {
  readonly messageId: string
  /** No edit has changed the view since. */
  readonly isClean: boolean
}

export interface Evicted extends Range {
  /** The place of the edit. */
  readonly seq: Seq
}

/** A span that stays out of memory when what stood around it comes back, and the blocks its edit shows of it. */
export interface Hidden {
  readonly span: Evicted
  readonly kept: readonly Entry[]
}

/** The part of the fold that is not derived from units and controls. */
export interface FoldNumbers {
  upTo: number
  anchor: OwnAnchor | null
  calibration: Calibration
  lastUsage: Usage | null
  lastRequest: Seq | null
  /** Places cut off by rewinds. */
  cut: Range[]
  /** Places that were found unreadable and are written down as lost. */
  lost: Range[]
  /** Edits whose span is not in memory. */
  evicted: Evicted[]
}

/** Folds entries into a view, one by one. */
export class Fold {
  readonly edits = new LiveEdits()
  readonly units = new Units((part) => withWhole(part, this.edits.wholes))
  readonly numbers: FoldNumbers = {
    upTo: -1,
    anchor: null,
    calibration: uncalibrated,
    lastUsage: null,
    lastRequest: null,
    cut: [],
    lost: [],
    evicted: [],
  }
  #messages = new MessageList<Message>()
  #estimate = 0
  #instructions: FactOf<'instructions-set'> | null = null
  #fixedEstimate = 0
  /** Calls waiting for a result, with the name of their tool. */
  #open = new Map<string, string>()
  #view: View | null = null

  push(entry: StoredEntry): void {
    this.#view = null
    this.numbers.upTo = Math.max(this.numbers.upTo, entry.seq)
    if (!isKnown(entry)) return
    const fact = entry.fact
    if (isControl(fact)) this.#control(entry)
    else if (fact.type === 'rewind') this.#rewind(entry.seq, fact.to)
    else if (fact.type === 'request-sent') this.numbers.lastRequest = entry.seq
    else {
      const before = this.#estimate + this.#fixedEstimate
      for (const unit of this.take(entry)) this.#show(unit.part)
      if (fact.type === 'damage-found') this.numbers.lost = [...this.numbers.lost, ...fact.lost]
      if (fact.type === 'assistant-message') this.#anchor(entry.seq, fact, before)
    }
  }

  /** A fold that goes on by itself from here, for a fork. What is immutable is shared. */
  copy(): Fold {
    const twin = new Fold()
    twin.units.merge(this.units)
    twin.edits.supply(this.edits.controls)
    Object.assign(twin.numbers, this.numbers, {
      cut: [...this.numbers.cut],
      evicted: [...this.numbers.evicted],
    })
    twin.#messages = this.#messages
    twin.#estimate = this.#estimate
    twin.#instructions = this.#instructions
    twin.#fixedEstimate = this.#fixedEstimate
    twin.#open = new Map(this.#open)
    return twin
  }

  /** Whether a loss has been written down already. */
  knowsLoss(range: Range): boolean {
    return this.numbers.lost.some((known) => known.from <= range.from && known.to >= range.to)
  }

  view(): View {
    this.#view ??= this.#makeView()
    return this.#view
  }

  /** The visible parts in order. */
  *parts(): Generator<Part> {
    for (const message of this.#messages) yield* message.parts
  }

  /** Takes the units of an entry into memory without showing them; what it shows is decided by the edits. */
  take(entry: Entry): readonly Unit[] {
    const fact = entry.fact
    const units: Unit[] = []
    if (fact.type === 'tool-result') {
      const tool = this.#open.get(fact.call)
      if (tool === undefined) return []
      this.#open.delete(fact.call)
      units.push(this.#unit(partOf(entry, tool)!))
    } else {
      const part = partOf(entry)
      if (part === null) return []
      // Only a lost line leaves calls open here: they are answered, so that the rest can still be sent.
      if (this.#open.size > 0 && (part.kind === 'input' || part.kind === 'answer')) {
        const lost = lostResults(entry, [...this.#open.keys()])
        this.#open.clear()
        units.push(this.#unit(lost, this.units.lastAnswer()?.from))
      }
      if (part.kind === 'answer') for (const call of callsIn(part)) this.#open.set(call.id, call.name)
      units.push(this.#unit(part))
    }
    return units
  }

  /** The range of entries that must be supplied before this fact can be pushed, or null. */
  missing(fact: Fact): Range | null {
    const needed = this.numbers.evicted.filter((span) => this.#uncovers(fact, span))
    if (needed.length === 0) return null
    const from = Math.min(...needed.map((span) => span.from))
    return { from: seq(from), to: seq(Math.max(...needed.map((span) => span.seq)) - 1) }
  }

  /** Puts back the entries of the range that `missing` named, all but those that an edit among them hides again. */
  supply(range: Range, entries: Iterable<StoredEntry>, hidden: Hidden | null = null): void {
    const past = new Fold()
    for (const entry of entries) past.push(entry)
    this.units.merge(past.units)
    this.units.merge(keptUnits(hidden?.kept ?? []).filter((unit) => !this.units.has(unit.part.from)))
    this.edits.supply(past.edits.controls)
    const others = this.numbers.evicted.filter((span) => span.from < range.from || span.seq > range.to + 1)
    this.numbers.evicted = hidden === null ? others : [...others, hidden.span]
    this.#view = null
  }

  /** Forgets what top-level edits hide. The view stays the same. */
  evict(): void {
    const needed = new Set<number>(this.edits.pins.map((pin) => pin.at))
    for (const { edit } of this.edits.tops) {
      if (edit.kind === 'summary') for (const keep of edit.keep) needed.add(keep.at.seq)
    }
    this.units.keepOnly(({ part }) => needed.has(part.from) || this.edits.topAt(part.from) === undefined)
    this.edits.evict()
    this.numbers.evicted = this.edits.tops.map((top) => ({
      seq: top.seq,
      from: top.edit.from,
      to: top.edit.to,
    }))
  }

  /** Shows everything anew from units and edits. */
  render(): void {
    this.#view = null
    this.#instruct()
    this.#messages = new MessageList<Message>()
    this.#estimate = 0
    this.#splice(0, 0, this.#rendered(0, Infinity))
  }

  #unit(part: Part, calledAt?: Seq): Unit {
    const unit = { part, open: this.#open.size > 0, ...(calledAt === undefined ? {} : { calledAt }) }
    this.units.push(unit)
    return unit
  }

  #show(part: Part): void {
    const last = this.#messages.last()
    this.#estimate += part.estimate
    if (last === undefined || last.role !== part.role) this.#messages = this.#messages.push(messageOf([part]))
    else this.#messages = this.#messages.replaceLast(messageOf([...last.parts, part]))
  }

  #instruct(): void {
    const fact = this.edits.instructions()
    if (fact === this.#instructions) return
    this.#instructions = fact
    let estimate = fact?.reminder === undefined ? 0 : estimateText(fact.reminder)
    for (const section of fact?.sections ?? []) estimate += estimateText(section.text)
    for (const tool of fact?.tools ?? []) estimate += estimateTool(tool)
    this.#fixedEstimate = estimate
  }

  #control(entry: Entry): void {
    const touched = this.edits.push(entry)
    if (entry.fact.type === 'instructions-set') this.#instruct()
    for (const range of touched) this.#rerender(range)
    const { anchor } = this.numbers
    if (touched.length > 0 && anchor !== null) this.numbers.anchor = { ...anchor, isClean: false }
  }

  #rerender(range: Range): void {
    const { first, end, from, to } = affected(this.#messages, range, (place) => this.edits.topAt(place)?.edit)
    this.#splice(first, Math.max(0, end - first), this.#rendered(from, to))
  }

  #rendered(from: number, to: number): readonly Part[] {
    const parts: Part[] = []
    // A span may stand for places before `from`; its part is shown whole.
    let place = this.edits.topAt(from)?.edit.from ?? from
    while (place <= to) {
      const top = this.edits.topAt(place)
      if (top !== undefined) {
        const part = rangePart(top, this.edits.pins, (at) => this.units.find(at))
        if (part !== null) parts.push(part)
        place = top.edit.to + 1
        continue
      }
      const next = this.#nextTop(place)
      const end = Math.min(to, next - 1)
      for (let index = this.units.indexAt(place); index < this.units.length; index++) {
        const { part, calledAt } = this.units.at(index)!
        if (part.from > end) break
        if (calledAt !== undefined && this.edits.topAt(calledAt) !== undefined) continue
        parts.push(withBlockEdits(part, this.edits))
      }
      if (next === Infinity) break
      place = next
    }
    return parts
  }

  #nextTop(place: number): number {
    for (const top of this.edits.tops) if (top.edit.from > place) return top.edit.from
    return Infinity
  }

  #splice(start: number, remove: number, parts: readonly Part[]): void {
    for (const message of this.#messages.slice(start, start + remove)) this.#estimate -= message.estimate
    const messages = messagesOf(parts)
    for (const message of messages) this.#estimate += message.estimate
    this.#messages = this.#messages.splice(start, remove, messages)
  }

  #rewind(place: Seq, to: Seq): void {
    this.numbers.cut.push({ from: seq(to + 1), to: place })
    this.units.cutAfter(to)
    this.edits.rewind(to)
    this.numbers.evicted = this.numbers.evicted.filter((span) => span.seq <= to)
    this.#open = openAtEnd(this.units)
    this.render()
    const { anchor } = this.numbers
    if (anchor !== null) this.numbers.anchor = { ...anchor, isClean: false }
  }

  // One response may be kept as several entries of one message id, with results between them: the anchor stays at
  // the first, takes the last one's usage, and what came between counts as growth.
  #anchor(place: Seq, fact: FactOf<'assistant-message'>, before: number): void {
    const { usage, model, messageId } = fact
    // What nobody counted says nothing about the size: it would stand for a prompt of no tokens.
    if (usage === undefined || usage.estimated === true) return
    const prompt = usage.input + usage.cacheRead + usage.cacheWrite
    if (prompt === 0) return
    const { anchor } = this.numbers
    const now = this.#estimate + this.#fixedEstimate
    const tokens = prompt + usage.output
    this.numbers.lastUsage = usage
    if (fact.leftOut === true) return
    if (anchor !== null && anchor.messageId === messageId) {
      this.numbers.anchor = { ...anchor, tokens, estimate: anchor.estimate + (now - before) }
      return
    }
    if (anchor !== null && anchor.isClean && anchor.model === model) {
      const sample = { model, estimated: before - anchor.estimate, reported: prompt - anchor.tokens }
      this.numbers.calibration = learn(this.numbers.calibration, sample)
    }
    this.numbers.anchor = { seq: place, model, messageId, tokens, estimate: now, isClean: true }
  }

  /** Whether a fact takes an edit away whose span is not in memory, or one that only those entries know. */
  #uncovers(fact: Fact, span: Evicted): boolean {
    if (fact.type === 'rewind') return span.seq > fact.to
    // A result is shown whole only where it is in sight.
    if (fact.type !== 'undo' || fact.whole !== undefined) return false
    if (fact.target === span.seq) return true
    return fact.target >= span.from && fact.target < span.seq && !this.edits.knows(fact.target)
  }

  #makeView(): View {
    const { anchor, calibration, lastUsage, lastRequest, upTo } = this.numbers
    const estimate = this.#estimate + this.#fixedEstimate
    const factor = factorOf(calibration, anchor?.model ?? '')
    return {
      upTo: seq(upTo),
      sections: this.#instructions?.sections ?? [],
      tools: this.#instructions?.tools ?? [],
      reminder: this.#instructions?.reminder ?? null,
      messages: this.#messages,
      estimate,
      fixedEstimate: this.#fixedEstimate,
      anchor,
      tokens: sizeOf(anchor, estimate, factor),
      factor,
      staleReasoning: this.edits.stale(),
      holds: this.edits.visibleHolds(),
      pins: this.edits.pins.filter((pin) => pin.released === null),
      lastUsage,
      lastRequest,
      changedFrom: lastRequest === null ? null : this.edits.changedAfter(lastRequest),
    }
  }
}

/** Units of entries that are shown by an edit alone, so that the calls around them do not matter. */
export function keptUnits(entries: readonly Entry[]): readonly Unit[] {
  return entries.flatMap((entry) => {
    const part = partOf(entry)
    return part === null ? [] : [{ part, open: false }]
  })
}

/** The view of a whole list of entries. */
export function project(entries: Iterable<StoredEntry>): View {
  const fold = new Fold()
  for (const entry of entries) fold.push(entry)
  return fold.view()
}
