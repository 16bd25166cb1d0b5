// The blocks of one request after the other, each kept as one object for as long as it is sent: what was counted,
// hashed or read once is known again by its identity.
import type { CacheControl, WireBlock, WireMessage, WireRequest } from '../../model/wire.ts'

/** A request whose blocks, marks apart, are the objects of the request before wherever they say the same. */
export interface Shown {
  readonly request: WireRequest
  /** All blocks of the messages in order, without marks. */
  readonly blocks: readonly PlainBlock[]
}

export interface PlainBlock {
  readonly role: 'user' | 'assistant' | 'system'
  readonly block: WireBlock
}

interface ShownMessage {
  readonly message: WireMessage
  readonly blocks: readonly PlainBlock[]
}

/** Everything that was read of the requests of one recording. Policies that are played one after the other share it. */
export class BlockStore {
  readonly parsed = new Map<string, WireMessage>()
  readonly #shown = new WeakMap<WireMessage, ShownMessage>()
  readonly #marked = new WeakMap<WireBlock, WireBlock>()
  readonly #known = new Map<string, PlainBlock[]>()

  shown(message: WireMessage): ShownMessage {
    let shown = this.#shown.get(message)
    if (shown === undefined) this.#shown.set(message, (shown = this.#read(message)))
    return shown
  }

  #read({ role, content }: WireMessage): ShownMessage {
    const list: readonly WireBlock[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content
    const blocks: PlainBlock[] = []
    const own = list.map((block) => {
      const { cache_control: mark, ...rest } = block
      const plain = this.#same(role, mark === undefined ? block : { ...rest, type: block.type })
      blocks.push(plain)
      return mark === undefined ? plain.block : this.#withMark(plain.block, mark)
    })
    return { message: { role, content: own }, blocks }
  }

  /** What was sent before, wherever it stood, is found by its beginning. */
  #same(role: PlainBlock['role'], block: WireBlock): PlainBlock {
    const key = keyOf(role, block)
    const list = this.#known.get(key)
    const known = list?.find((plain) => plain.role === role && isSame(plain.block, block))
    if (known !== undefined) return known
    const plain = { role, block }
    if (list === undefined) this.#known.set(key, [plain])
    else list.push(plain)
    return plain
  }

  #withMark(block: WireBlock, mark: CacheControl): WireBlock {
    const before = this.#marked.get(block)
    if (before !== undefined && isSame(before.cache_control, mark)) return before
    const marked: WireBlock = { ...block, cache_control: mark }
    this.#marked.set(block, marked)
    return marked
  }
}

export class WireBlocks {
  readonly #store: BlockStore
  readonly #body: WireBody
  #last: readonly ShownMessage[] = []

  constructor(store = new BlockStore()) {
    this.#store = store
    this.#body = new WireBody(store.parsed)
  }

  show(body: string): Shown {
    const { request, same } = this.#body.read(body)
    const shown = this.#last.slice(0, same)
    for (const message of request.messages.slice(same)) shown.push(this.#store.shown(message))
    this.#last = shown
    const messages = shown.map(({ message }) => message)
    return { request: { ...request, messages }, blocks: shown.flatMap(({ blocks }) => blocks) }
  }
}

const labels = new WeakMap<object, object>()

/** The same request with marks of this lifetime; what carries no mark stays the object it is. */
export function relabelled(request: WireRequest, lifetime: '5m' | '1h'): WireRequest {
  const label = <T extends { readonly cache_control?: CacheControl }>(item: T): T => {
    const mark = item.cache_control
    if (mark === undefined || (mark.ttl ?? '5m') === lifetime) return item
    const before = labels.get(item)
    if (before !== undefined) return before as T
    const other = { ...item, cache_control: { ...mark, ttl: lifetime } }
    labels.set(item, other)
    return other
  }
  const isMarked = ({ content }: WireMessage): boolean =>
    typeof content !== 'string' && content.some((block) => block.cache_control !== undefined)
  return {
    ...request,
    ...(request.tools === undefined ? {} : { tools: request.tools.map(label) }),
    ...(typeof request.system === 'object' ? { system: request.system.map(label) } : {}),
    messages: request.messages.map((message) =>
      isMarked(message) && typeof message.content !== 'string'
        ? { ...message, content: message.content.map(label) }
        : message,
    ),
  }
}

const keyChars = 48
function keyOf(role: string, block: WireBlock): string {
  const id = block['id'] ?? block['tool_use_id']
  const text = typeof block['text'] === 'string' ? block['text'] : ''
  return typeof id === 'string' ? `${block.type} ${id}` : `${role} ${text.length} ${text.slice(0, keyChars)}`
}

/** The same JSON; the order of fields does not count. */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => isSame(item, right[index]))
  }
  const fields = Object.entries(left)
  if (fields.length !== Object.keys(right).length) return false
  return fields.every(([key, value]) => isSame(value, (right as Readonly<Record<string, unknown>>)[key]))
}

// Reads one request body after the other. Most of a body is the body before it, so only what is new is parsed: the text
// up to the first difference is known, and from the last message that begins before it on, each message is looked up by
// its text or parsed. Inside the input of a call a place can look like the beginning of a message; what is cut there is no
// JSON, and the whole is parsed.

interface ReadBody {
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
  readonly #parsed: Map<string, WireMessage>
  #last: Last = { body: '', head: '', fields: {}, starts: [], messages: [] }

  constructor(parsed = new Map<string, WireMessage>()) {
    this.#parsed = parsed
  }

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
    const fresh = startsIn(body, start, to)
    const rest = fresh.map((from, at) =>
      this.#message(body.slice(from, at + 1 < fresh.length ? fresh[at + 1]! - 1 : to)),
    )
    if (!rest.every((message) => message !== null)) return this.#whole(body)
    const starts = [...this.#last.starts.slice(0, same), ...fresh]
    const messages = [...this.#last.messages.slice(0, same), ...rest]
    this.#last = { body, head, fields, starts, messages }
    const end = JSON.parse(`{${body.slice(to + 2)}`) as Record<string, unknown>
    return { request: { ...(fields as Omit<WireRequest, 'messages'>), ...end, messages }, same }
  }

  #message(text: string): WireMessage | null {
    const known = this.#parsed.get(text)
    if (known !== undefined) return known
    try {
      const message = JSON.parse(text) as WireMessage
      // A piece of a text keeps all of that text in memory; a copy does not.
      this.#parsed.set(Buffer.from(text).toString(), message)
      return message
    } catch {
      return null
    }
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
