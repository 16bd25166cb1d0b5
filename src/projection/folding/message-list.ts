// The messages of a view: an immutable list in chunks. A new list shares all chunks but the one that changed, so
// adding a message or replacing a span costs the span and not the length, and an old view stays what it was.
import type { Range } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'

const chunkSize = 256

/** The messages of a view; grows without copying. */
export class MessageList<Message extends { readonly to: Seq }> implements Iterable<Message> {
  readonly #chunks: readonly (readonly Message[])[]
  /** Index of the first message of each chunk. */
  readonly #starts: readonly number[]
  readonly length: number

  constructor(chunks: readonly (readonly Message[])[] = [], starts: readonly number[] = [], length = 0) {
    this.#chunks = chunks
    this.#starts = starts
    this.length = length
  }

  at(index: number): Message | undefined {
    const place = index < 0 ? this.length + index : index
    if (place < 0 || place >= this.length) return undefined
    const chunk = this.#chunkAt(place)
    return this.#chunks[chunk]![place - this.#starts[chunk]!]
  }

  last(): Message | undefined {
    return this.at(-1)
  }

  push(message: Message): MessageList<Message> {
    const tail = this.#chunks.at(-1)
    if (tail === undefined || tail.length >= chunkSize) {
      return new MessageList([...this.#chunks, [message]], [...this.#starts, this.length], this.length + 1)
    }
    return new MessageList([...this.#chunks.slice(0, -1), [...tail, message]], this.#starts, this.length + 1)
  }

  replaceLast(message: Message): MessageList<Message> {
    const tail = this.#chunks.at(-1)!
    return new MessageList(
      [...this.#chunks.slice(0, -1), [...tail.slice(0, -1), message]],
      this.#starts,
      this.length,
    )
  }

  /** The list with `remove` messages from `start` on replaced by others. */
  splice(start: number, remove: number, messages: readonly Message[]): MessageList<Message> {
    const first = start >= this.length ? this.#chunks.length : this.#chunkAt(start)
    const end = start + remove
    const last = remove === 0 ? first : end >= this.length ? this.#chunks.length - 1 : this.#chunkAt(end - 1)
    const before =
      first < this.#chunks.length ? this.#chunks[first]!.slice(0, start - this.#starts[first]!) : []
    const after = last < this.#chunks.length ? this.#chunks[last]!.slice(end - this.#starts[last]!) : []
    const middle = [...before, ...messages, ...after]
    const chunks = [...this.#chunks.slice(0, first), ...inChunks(middle), ...this.#chunks.slice(last + 1)]
    return this.#of(chunks)
  }

  *slice(start: number, end: number = this.length): Generator<Message> {
    for (let index = Math.max(0, start); index < Math.min(end, this.length); index++) yield this.at(index)!
  }

  *[Symbol.iterator](): Generator<Message> {
    for (const chunk of this.#chunks) yield* chunk
  }

  /** Index of the first message that ends at or after this place; the length if there is none. */
  indexAt(place: Seq): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.at(middle)!.to < place) low = middle + 1
      else high = middle
    }
    return low
  }

  #of(chunks: readonly (readonly Message[])[]): MessageList<Message> {
    const filled = chunks.filter((chunk) => chunk.length > 0)
    const starts: number[] = []
    let length = 0
    for (const chunk of filled) {
      starts.push(length)
      length += chunk.length
    }
    return new MessageList(filled, starts, length)
  }

  #chunkAt(index: number): number {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#starts[middle]! <= index) low = middle
      else high = middle - 1
    }
    return low
  }
}

function inChunks<M>(messages: readonly M[]): (readonly M[])[] {
  const chunks: (readonly M[])[] = []
  for (let start = 0; start < messages.length; start += chunkSize)
    chunks.push(messages.slice(start, start + chunkSize))
  return chunks
}

interface Affected {
  /** The messages to be made anew, from the first to before `end`, and the places they stand for. */
  readonly first: number
  readonly end: number
  readonly from: number
  readonly to: number
}

/** What an edit of a range changes: a neighbour on either side may have to be joined or parted. */
export function affected<Message extends { readonly from: Seq; readonly to: Seq }>(
  messages: MessageList<Message>,
  range: Range,
  spanAt: (place: number) => Range | undefined,
): Affected {
  let first = Math.max(0, messages.indexAt(range.from) - 1)
  let last = messages.indexAt(range.to)
  if ((messages.at(last)?.from ?? Infinity) <= range.to) last++
  let end = Math.min(messages.length, last + 1)
  let from: number = Math.min(range.from, messages.at(first)?.from ?? range.from)
  let to: number = Math.max(range.to, messages.at(end - 1)?.to ?? range.to)
  // Another span of the same entry may begin in a neighbour and reach beyond it. What it stands for is made anew as well,
  // or it would be shown twice.
  for (let span = spanAt(to); span !== undefined && span.to > to; span = spanAt(to)) {
    to = span.to
    while (end < messages.length && messages.at(end)!.from <= to) end++
    if (end < messages.length) end++
    to = Math.max(to, messages.at(end - 1)?.to ?? to)
  }
  for (let span = spanAt(from); span !== undefined && span.from < from; span = spanAt(from)) {
    from = span.from
    while (first > 0 && messages.at(first - 1)!.to >= from) first--
    first = Math.max(0, first - 1)
    from = Math.min(from, messages.at(first)?.from ?? from)
  }
  return { first, end, from, to }
}
