// What messages are made of: the content blocks that facts carry, as schemas and as types.
// The shapes follow the Messages API, so that a view needs no translation; fields we do not know are kept.
import * as z from 'zod/mini'
import { isRecord } from './json.ts'

const imageSource = z.looseObject({ type: z.string() })
const sidecar = z.looseObject({
  wire: z.string(),
  model: z.string(),
  arguments: z.optional(z.string()),
  raw: z.optional(z.string()),
})
const textBlock = z.looseObject({
  type: z.literal('text'),
  text: z.string(),
  sidecar: z.optional(sidecar),
})
const imageBlock = z.looseObject({ type: z.literal('image'), source: imageSource })
const documentBlock = z.looseObject({ type: z.literal('document'), source: imageSource })
const thinkingBlock = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.optional(z.string()),
})
const redactedThinkingBlock = z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() })
const toolUseBlock = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** The arguments as they came, when they could not be read. Such a call is never run. */
  broken: z.optional(z.string()),
  sidecar: z.optional(sidecar),
})

const itemBlock = z.looseObject({
  type: z.literal('item'),
  wire: z.string(),
  model: z.string(),
  raw: z.string(),
  tokens: z.number(),
})

export const userBlock = z.union([textBlock, imageBlock, documentBlock])
export const assistantBlock = z.union([
  textBlock,
  thinkingBlock,
  redactedThinkingBlock,
  toolUseBlock,
  itemBlock,
  z.looseObject({
    type: z.string().check(z.regex(/^(?!text$|thinking$|redacted_thinking$|tool_use$|tool_result$|item$)/)),
  }),
])

/**
 * What a wire wants back beside a block it sent, and nobody else reads: the exact text of a call's arguments, a signature.
 * It goes to the same wire and model byte for byte and is left out everywhere else.
 */
export interface Sidecar {
  readonly wire: string
  readonly model: string
  /** Arguments of a call as the model wrote them. */
  readonly arguments?: string | undefined
  /** Whatever else that wire keeps, as JSON. */
  readonly raw?: string | undefined
}
export interface TextBlock {
  readonly type: 'text'
  readonly text: string
  readonly sidecar?: Sidecar | undefined
}
export interface ImageBlock {
  readonly type: 'image'
  readonly source: Readonly<Record<string, unknown>> & { readonly type: string }
}
export interface DocumentBlock {
  readonly type: 'document'
  readonly source: Readonly<Record<string, unknown>> & { readonly type: string }
}
export interface ThinkingBlock {
  readonly type: 'thinking'
  readonly thinking: string
  readonly signature?: string | undefined
}
export interface RedactedThinkingBlock {
  readonly type: 'redacted_thinking'
  readonly data: string
}
export interface ToolUseBlock {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly broken?: string | undefined
  readonly sidecar?: Sidecar | undefined
}
/**
 * A piece of an answer that only its maker can read (encrypted reasoning, a compaction of the server), where it came. `raw`
 * is its JSON as it goes back, byte for byte, to the same wire and model; `tokens` is what it takes there.
 */
export interface ItemBlock {
  readonly type: 'item'
  readonly wire: string
  readonly model: string
  readonly raw: string
  readonly tokens: number
}
export interface OpaqueBlock {
  readonly type:
    | `${string}_tool_use`
    | `${string}_tool_result`
    | 'compaction'
    | 'container_upload'
    | 'fallback'
}
export type UserBlock = TextBlock | ImageBlock | DocumentBlock
export type AssistantBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ItemBlock
  | OpaqueBlock

export const isReasoning = (block: {
  readonly type: string
}): block is ThinkingBlock | RedactedThinkingBlock =>
  block.type === 'thinking' || block.type === 'redacted_thinking'

export const isItem = (block: { readonly type: string }): block is ItemBlock =>
  block.type === 'item' && 'raw' in block

/** What only the model that made it can read: it goes along as it is, or not at all. */
export const isMakersOwn = (block: {
  readonly type: string
}): block is ThinkingBlock | RedactedThinkingBlock | ItemBlock => isReasoning(block) || isItem(block)

export { isRecord }

/** The texts among blocks, in their order. */
export const textsIn = (blocks: readonly { readonly type: string }[]): readonly string[] =>
  blocks.flatMap((block) =>
    block.type === 'text' && 'text' in block && typeof block.text === 'string' ? [block.text] : [],
  )

/** What blocks say in text, as one. */
export const textIn = (blocks: readonly { readonly type: string }[], between = '\n'): string =>
  textsIn(blocks).join(between)

/** Why a value of a program without types is no block that a user or a tool can say, or null. */
export function userBlockProblem(block: unknown): string | null {
  const type: unknown = isRecord(block) ? block['type'] : undefined
  if (!isRecord(block) || typeof type !== 'string') return 'it has no `type`'
  if (type === 'text') return typeof block['text'] === 'string' ? null : 'its `text` is no text'
  if (type !== 'image' && type !== 'document')
    return `blocks of type ${JSON.stringify(type)} are none of these`
  const { source } = block
  if (!isRecord(source) || typeof source['type'] !== 'string') return 'its `source` has no `type`'
  const kind = source['type']
  const missing = (Object.hasOwn(sourceFields, kind) ? sourceFields[kind]! : []).find(
    (name) => typeof source[name] !== 'string',
  )
  return missing === undefined ? null : `its source of type ${JSON.stringify(kind)} has no \`${missing}\``
}

/** What a source must say of itself: without it every request with the block in it would be refused. */
const sourceFields: Readonly<Record<string, readonly string[]>> = {
  base64: ['media_type', 'data'],
  text: ['media_type', 'data'],
  url: ['url'],
  file: ['file_id'],
}
