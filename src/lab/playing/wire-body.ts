// Reads one request body after the other. Most of a body is the body before it, so only what is new is parsed: the text
// up to the first difference is known, and from the last message that begins before it on, everything is read again.
// Inside the input of a call a place can look like the beginning of a message; then there are more such places than
// messages, and the whole is parsed.
import type { WireMessage, WireRequest } from '../../model/wire.ts'

export interface ReadBody {
  readonly request: WireRequest
  /** So many messages at the beginning are the objects of the request before. */
  readonly same: number
}

interface Last {
  readonly body: string
  readonly head: string
  readonly fields: Readonly<Record<string, unknown>>
  /** Where each message begins. */
  readonly starts: readonly number[]
  readonly messages: readonly WireMessage[]
}

const opens = ',"messages":['
const begins = '{"role":"'
const next = `,${begins}`
const closes = '],"max_tokens":'

export class WireBody {
  #last: Last = { body: '', head: '', fields: {}, starts: [], messages: [] }

  read(body: string): ReadBody {
    const from = body.indexOf(opens) + opens.length
    const to = body.lastIndexOf(closes)
    if (from < opens.length || to < from || !body.startsWith(begins, from)) return this.#whole(body)
    const head = body.slice(0, from - opens.length)
    const fields =
      head === this.#last.head ? this.#last.fields : (JSON.parse(`${head}}`) as Record<string, unknown>)
    const differs = head === this.#last.head ? differenceOf(this.#last.body, body) : 0
    const same = Math.max(
      0,
      this.#last.starts.findLastIndex((start) => start <= differs),
    )
    const start = same === 0 ? from : this.#last.starts[same]!
    const rest = JSON.parse(`[${body.slice(start, to)}]`) as readonly WireMessage[]
    const starts = [...this.#last.starts.slice(0, same), ...startsIn(body, start, to)]
    if (starts.length !== same + rest.length) return this.#whole(body)
    const messages = [...this.#last.messages.slice(0, same), ...rest]
    this.#last = { body, head, fields, starts, messages }
    const end = JSON.parse(`{${body.slice(to + 2)}`) as Record<string, unknown>
    return { request: { ...(fields as Omit<WireRequest, 'messages'>), ...end, messages }, same }
  }

  #whole(body: string): ReadBody {
    this.#last = { body: '', head: '', fields: {}, starts: [], messages: [] }
    return { request: JSON.parse(body) as WireRequest, same: 0 }
  }
}

function startsIn(body: string, from: number, to: number): readonly number[] {
  const starts = [from]
  for (let at = body.indexOf(next, from); at >= 0 && at < to; at = body.indexOf(next, at + 1))
    starts.push(at + 1)
  return starts
}

const pieceChars = 65_536

/** The first place in which two texts differ. */
export function differenceOf(left: string, right: string): number {
  const most = Math.min(left.length, right.length)
  let low = 0
  while (low < most && isSamePiece(left, right, low, Math.min(most, low + pieceChars))) low += pieceChars
  let high = Math.min(most, low + pieceChars)
  low = Math.min(low, most)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (isSamePiece(left, right, low, middle)) low = middle
    else high = middle - 1
  }
  return low
}

const isSamePiece = (left: string, right: string, from: number, to: number): boolean =>
  left.slice(from, to) === right.slice(from, to)
