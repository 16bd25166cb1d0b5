// The blocks of one request after the other, each kept as one object for as long as it is sent: what was counted,
// hashed or read once is known again by its identity.
import type { CacheControl, WireBlock, WireRequest } from '../../model/wire.ts'

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

export class WireBlocks {
  #last: readonly PlainBlock[] = []
  #known = new Map<string, PlainBlock[]>()
  readonly #marked = new WeakMap<WireBlock, WireBlock>()
  #fixed: Pick<WireRequest, 'system' | 'tools'> = {}

  show(request: WireRequest): Shown {
    const blocks: PlainBlock[] = []
    const messages = request.messages.map(({ role, content }) => {
      const list: readonly WireBlock[] =
        typeof content === 'string' ? [{ type: 'text', text: content }] : content
      const own = list.map((block) => {
        const { cache_control: mark, ...rest } = block
        const plain = this.#same(role, mark === undefined ? block : (rest as WireBlock), blocks.length)
        blocks.push(plain)
        return mark === undefined ? plain.block : this.#withMark(plain.block, mark)
      })
      return { role, content: own }
    })
    this.#remember(blocks)
    const { system, tools } = request
    if (!isSame({ system, tools }, { system: this.#fixed.system, tools: this.#fixed.tools }))
      this.#fixed = { ...(system === undefined ? {} : { system }), ...(tools === undefined ? {} : { tools }) }
    return { request: { ...request, ...this.#fixed, messages }, blocks }
  }

  // Most of a request stands where it stood; what was moved is found by its beginning.
  #same(role: PlainBlock['role'], block: WireBlock, at: number): PlainBlock {
    const there = this.#last[at]
    if (there !== undefined && there.role === role && isSame(there.block, block)) return there
    const moved = this.#known
      .get(keyOf(role, block))
      ?.find((known) => known.role === role && isSame(known.block, block))
    return moved ?? { role, block }
  }

  #remember(blocks: readonly PlainBlock[]): void {
    this.#last = blocks
    if (blocks.length === 0) return
    this.#known = new Map()
    for (const plain of blocks) {
      const key = keyOf(plain.role, plain.block)
      const list = this.#known.get(key)
      if (list === undefined) this.#known.set(key, [plain])
      else list.push(plain)
    }
  }

  #withMark(block: WireBlock, mark: CacheControl): WireBlock {
    const before = this.#marked.get(block)
    if (before !== undefined && isSame(before.cache_control, mark)) return before
    const marked: WireBlock = { ...block, cache_control: mark }
    this.#marked.set(block, marked)
    return marked
  }
}

const keyChars = 48
const keys = new WeakMap<WireBlock, string>()

function keyOf(role: string, block: WireBlock): string {
  const before = keys.get(block)
  if (before !== undefined) return before
  const id = block['id'] ?? block['tool_use_id']
  const text = typeof block['text'] === 'string' ? block['text'] : ''
  const key =
    typeof id === 'string' ? `${block.type} ${id}` : `${role} ${text.length} ${text.slice(0, keyChars)}`
  keys.set(block, key)
  return key
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
