// One message as the bytes that are sent, kept as long as the message lives: composing a request costs what is new.
// Every block is its own string, so that a mark can be set on one without writing the others again.
import { createHash } from 'node:crypto'
import { isReasoning } from '../transcript/content.ts'
import type { Message, Part, ToolResultBlock, ViewBlock } from '../projection/view.ts'

/** A block's JSON, and where it came from. */
export interface SentBlock {
  readonly json: string
  readonly part: Part
  /** A cache mark may stand on it. */
  readonly markable: boolean
}

/** A message as sent, without marks. Null content never occurs: a message that shows nothing is not sent. */
export interface SentMessage {
  readonly role: 'user' | 'assistant'
  readonly blocks: readonly SentBlock[]
  readonly json: string
  readonly digest: string
  readonly startsWithReasoning: boolean
}

export interface SerializerOptions {
  /** A tag that ends every real input in the request copy (snip); decided once for a session. */
  readonly tag?: ((part: Part) => string | null) | undefined
  /** Results carry their id as `cache_reference`, so that the server can be told to leave them out. */
  readonly references?: boolean | undefined
}

export interface Serializer {
  /** The message as sent when reasoning of the parts named is left out; null when nothing is left. */
  message(message: Message, leavesOut: (part: Part) => boolean): SentMessage | null
}

export function createSerializer(options: SerializerOptions = {}): Serializer {
  const plain = new WeakMap<Message, SentMessage | null>()
  const reduced = new WeakMap<Message, Map<string, SentMessage | null>>()
  return {
    message(message, leavesOut) {
      const out =
        message.role === 'assistant'
          ? message.parts.filter((part) => hasReasoning(part) && leavesOut(part))
          : []
      if (out.length === 0) return kept(plain, message, () => sent(message, out, options))
      const variants = kept(reduced, message, () => new Map<string, SentMessage | null>())
      const key = out.map((part) => part.from).join()
      const found = variants.get(key)
      if (found !== undefined) return found
      const made = sent(message, out, options)
      variants.set(key, made)
      return made
    },
  }
}

function kept<V>(cache: WeakMap<Message, V>, message: Message, make: () => V): V {
  const found = cache.get(message)
  if (found !== undefined) return found
  const made = make()
  cache.set(message, made)
  return made
}

function sent(message: Message, out: readonly Part[], options: SerializerOptions): SentMessage | null {
  const results: SentBlock[] = []
  const others: SentBlock[] = []
  for (const part of message.parts) {
    const blocks = out.includes(part) ? part.blocks.filter((block) => !isReasoning(block)) : part.blocks
    const target = part.kind === 'result' ? results : others
    for (const block of blocks) target.push(sentBlock(block, part, options))
    const tag = part.kind === 'input' ? (options.tag?.(part) ?? null) : null
    if (tag !== null) target.push({ json: JSON.stringify({ type: 'text', text: tag }), part, markable: true })
  }
  const blocks = [...results, ...others]
  if (blocks.length === 0) return null
  const json = messageJson(
    message.role,
    blocks.map((block) => block.json),
  )
  const digest = createHash('sha256').update(json).digest('base64url')
  return { role: message.role, blocks, json, digest, startsWithReasoning: !blocks[0]!.markable }
}

export const messageJson = (role: string, blocks: readonly string[]): string =>
  `{"role":"${role}","content":[${blocks.join(',')}]}`

/** Adds a field to the JSON of an object that is not empty. */
export const withField = (json: string, field: string): string => `${json.slice(0, -1)},${field}}`

function sentBlock(block: ViewBlock, part: Part, options: SerializerOptions): SentBlock {
  const json = JSON.stringify(
    block.type === 'tool_result' && 'is_error' in block ? resultOf(block, options) : block,
  )
  return { json, part, markable: !isReasoning(block) }
}

// One text is sent as a string: fewer bytes and fewer tokens. Never with a mark inside, so the form cannot change.
function resultOf(block: ToolResultBlock, options: SerializerOptions): unknown {
  const { type, tool_use_id, content, is_error } = block
  const only = content.length === 1 ? content[0]! : null
  return {
    type,
    tool_use_id,
    content: only?.type === 'text' ? only.text : content,
    ...(is_error ? { is_error } : {}),
    ...(options.references === true ? { cache_reference: tool_use_id } : {}),
  }
}

const hasReasoning = (part: Part): boolean => part.kind === 'answer' && part.blocks.some(isReasoning)
