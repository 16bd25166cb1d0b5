// The blocks of one request after the other, each kept as one object for as long as it is sent: what was counted,
// hashed or read once is known again by its identity.
import type { CacheControl, WireBlock, WireMessage, WireRequest } from '../../model/wire.ts'
import type { Composed, ComposeParameters } from '../../request/compose.ts'
import { frameOf, messageTexts } from '../../wires/anthropic/compose.ts'

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
  readonly #parsed = new Map<string, WireMessage>()
  readonly #shown = new WeakMap<WireMessage, ShownMessage>()
  readonly #marked = new WeakMap<WireBlock, WireBlock>()
  readonly #known = new Map<string, PlainBlock[]>()

  /** A message as it stands in a body. */
  read(text: string): ShownMessage {
    let message = this.#parsed.get(text)
    if (message === undefined) {
      message = JSON.parse(text) as WireMessage
      this.#parsed.set(text, message)
    }
    return this.shown(message)
  }

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

/** What was composed and may be sent. */
interface Heard {
  readonly composed: Composed
  readonly parameters: ComposeParameters
}
/** A fork may compose between a request and its sending. */
const keptHeard = 4

interface Frame {
  readonly text: string
  readonly fields: WireRequest
}

/**
 * Reads the requests of one session. A body is a text in pieces that would have to be put together to be read, and most of it is
 * the body before it; what it was composed of is known, so each message is read once.
 */
export class WireBlocks {
  readonly #store: BlockStore
  #heard: readonly Heard[] = []
  #frame: Frame | null = null
  #texts: readonly string[] = []
  #shown: readonly ShownMessage[] = []

  constructor(store = new BlockStore()) {
    this.#store = store
  }

  heard(composed: Composed, parameters: ComposeParameters): void {
    this.#heard = [{ composed, parameters }, ...this.#heard.slice(0, keptHeard - 1)]
  }

  show(body: string): Shown {
    const heard = this.#heard.find(({ composed }) => composed.body === body)
    const request = heard === undefined ? (JSON.parse(body) as WireRequest) : this.#fields(heard)
    const shown =
      heard === undefined
        ? request.messages.map((message) => this.#store.shown(message))
        : this.#messages(heard.composed)
    const messages = shown.map(({ message }) => message)
    return { request: { ...request, messages }, blocks: shown.flatMap(({ blocks }) => blocks) }
  }

  /** Everything but the messages. */
  #fields({ composed, parameters }: Heard): WireRequest {
    const text = frameOf(composed, parameters)
    if (this.#frame?.text !== text) this.#frame = { text, fields: JSON.parse(text) as WireRequest }
    return this.#frame.fields
  }

  #messages(composed: Composed): readonly ShownMessage[] {
    const texts = messageTexts(composed)
    const shown = texts.map((text, at) =>
      text === this.#texts[at] ? this.#shown[at]! : this.#store.read(text),
    )
    this.#texts = texts
    this.#shown = shown
    return shown
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
