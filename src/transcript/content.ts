// What messages are made of: the content blocks that facts carry, as schemas and as types.
// The shapes follow the Messages API, so that a view needs no translation; fields we do not know are kept.
import * as z from 'zod/mini'

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

export { isRecord } from './json.ts'

/** The texts among blocks, in their order. */
export const textsIn = (blocks: readonly { readonly type: string }[]): readonly string[] =>
  blocks.flatMap((block) =>
    block.type === 'text' && 'text' in block && typeof block.text === 'string' ? [block.text] : [],
  )

/** What blocks say in text, as one. */
export const textIn = (blocks: readonly { readonly type: string }[], between = '\n'): string =>
  textsIn(blocks).join(between)
