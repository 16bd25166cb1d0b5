// The parts of all entries in memory, in order of place, hidden ones included. Edits are looked up against them.
import type { Range } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { Part, Message, ViewBlock } from '../view.ts'

/** A part before any edit, and whether calls are still open after it. */
export interface Unit {
  readonly part: Part
  readonly open: boolean
  /** Of results made up for a lost line: the place of the calls. They are shown where those are. */
  readonly calledAt?: Seq | undefined
}

export class Units {
  #units: Unit[] = []
  readonly #asShown: (part: Part) => Part

  /** `asShown` says what an entry holds where it is not what was written at first. */
  constructor(asShown: (part: Part) => Part) {
    this.#asShown = asShown
  }

  get length(): number {
    return this.#units.length
  }

  push(unit: Unit): void {
    this.#units.push(unit)
  }

  /** As they were said, whatever edits hide of them. */
  parts(): readonly Part[] {
    return this.#units.map(({ part }) => part)
  }

  last(): Unit | undefined {
    return this.#units.at(-1)
  }

  lastAnswer(): Part | undefined {
    return this.#units.findLast(({ part }) => part.kind === 'answer')?.part
  }

  at(index: number): Unit | undefined {
    return this.#units[index]
  }

  /** The part of the entry at this place. Results made up for a lost line share its place and come before it. */
  find(place: Seq): Part | undefined {
    const index = this.indexAfter(place) - 1
    const part = this.#units[index]?.part
    return part !== undefined && part.from === place ? this.#asShown(part) : undefined
  }

  has(place: Seq): boolean {
    return this.find(place) !== undefined
  }

  /** Index of the first unit at or after this place. */
  indexAt(place: number): number {
    let low = 0
    let high = this.#units.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#units[middle]!.part.from < place) low = middle + 1
      else high = middle
    }
    return low
  }

  indexAfter(place: number): number {
    return this.indexAt(place + 1)
  }

  cutAfter(place: number): void {
    this.#units.length = this.indexAfter(place)
  }

  /** Puts back units that had been left out of memory. They know more than what was kept of them, and replace it. */
  merge(units: Iterable<Unit>): void {
    const back = [...units]
    const places = new Set(back.map((unit) => unit.part.from))
    this.#units = [...this.#units.filter((unit) => !places.has(unit.part.from)), ...back]
    this.#units.sort((a, b) => a.part.from - b.part.from)
  }

  keepOnly(isKept: (unit: Unit) => boolean): void {
    this.#units = this.#units.filter(isKept)
  }

  /** Places as ranges; neighbours share one. */
  ranges(): Range[] {
    const ranges: { from: Seq; to: Seq }[] = []
    for (const { part } of this.#units) {
      const last = ranges.at(-1)
      if (last !== undefined && part.from - last.to <= 1) last.to = part.to
      else ranges.push({ from: part.from, to: part.to })
    }
    return ranges
  }

  [Symbol.iterator](): Iterator<Unit> {
    return this.#units[Symbol.iterator]()
  }
}

export function callsIn(part: Part): { readonly id: string; readonly name: string }[] {
  const calls: { id: string; name: string }[] = []
  for (const block of part.blocks) {
    if (block.type === 'tool_use' && 'name' in block) calls.push({ id: block.id, name: block.name })
  }
  return calls
}

/** The calls without a result after the last unit, with the names of their tools. */
export function openAtEnd(units: Units): Map<string, string> {
  const open = new Map<string, string>()
  if (units.last()?.open !== true) return open
  const answered = new Set<string>()
  for (let index = units.length - 1; index >= 0; index--) {
    const { part } = units.at(index)!
    if (part.kind === 'answer') {
      for (const call of callsIn(part)) if (!answered.has(call.id)) open.set(call.id, call.name)
      break
    }
    for (const block of part.blocks)
      if (block.type === 'tool_result' && 'is_error' in block) answered.add(block.tool_use_id)
  }
  return open
}

// From parts to messages: neighbours of one role are one message, and in a user message tool results come first.

export function messageOf(parts: readonly Part[]): Message {
  const first = parts[0]!
  let estimate = 0
  for (const part of parts) estimate += part.estimate - part.clearedEstimate
  return {
    role: first.role,
    parts,
    content: contentOf(parts),
    from: first.from,
    to: parts.at(-1)!.to,
    estimate,
  }
}

export function messagesOf(parts: readonly Part[]): Message[] {
  const messages: Message[] = []
  let run: Part[] = []
  for (const part of parts) {
    if (run.length > 0 && run[0]!.role !== part.role) {
      messages.push(messageOf(run))
      run = []
    }
    run.push(part)
  }
  if (run.length > 0) messages.push(messageOf(run))
  return messages
}

function contentOf(parts: readonly Part[]): readonly ViewBlock[] {
  if (parts.length === 1) return parts[0]!.blocks
  const results: ViewBlock[] = []
  const others: ViewBlock[] = []
  for (const part of parts) (part.kind === 'result' ? results : others).push(...part.blocks)
  return [...results, ...others]
}
