// The blocks of one request after the other, each kept as one object for as long as it is sent: what was counted,
// hashed or read once is known again by its identity.
import type { CacheControl, WireBlock, WireMessage, WireRequest } from '../../model/wire.ts'
import { WireBody } from './wire-body.ts'

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

export class WireBlocks {
  readonly #body = new WireBody()
  readonly #marked = new WeakMap<WireBlock, WireBlock>()
  readonly #known = new Map<string, PlainBlock[]>()
  #last: readonly ShownMessage[] = []

  show(body: string): Shown {
    const { request, same } = this.#body.read(body)
    const shown = this.#last.slice(0, same)
    for (const message of request.messages.slice(same)) shown.push(this.#shown(message))
    this.#last = shown
    const messages = shown.map(({ message }) => message)
    return { request: { ...request, messages }, blocks: shown.flatMap(({ blocks }) => blocks) }
  }

  #shown({ role, content }: WireMessage): ShownMessage {
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
