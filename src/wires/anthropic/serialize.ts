// One message as the bytes that are sent, kept as long as the message lives: composing a request costs what is new.
// Every block is its own string, so that a breakpoint can be set on one without writing the others again.
import { defaults } from '../../settings/defaults.ts'
import { isItem, isReasoning, type UserBlock } from '../../transcript/content.ts'
import { describeMedia, isKeptSource, isMedia, mediaInfo, type MediaBlock } from '../../transcript/media.ts'
import type { Message, Part, ToolResultBlock, ViewBlock } from '../../projection/view.ts'
import type { ComposerOptions, MessageWriter } from '../../request/compose.ts'
import { digest, type SentBlock, type SentMessage } from '../../request/segments.ts'
import { answersIn, createWriter } from '../writing.ts'
import { failedWithMedia, isDeeplyWellFormed, noAnswer, wellFormedRecord } from './block-rules.ts'

/**
 * Asks for the next answer where one ended without being followed by anything. It was there when the second of two
 * neighbouring answers was made, so it stays between them: on models that bind reasoning the prefix must not lose it.
 */
export const continueMessage = ownMessage('Continue.')

/** A message that no entry stands behind. Never carries a breakpoint, so that a breakpoint always has a place in the transcript. */
export function ownMessage(text: string): SentMessage {
  const json = JSON.stringify({ type: 'text', text })
  return sentMessage('user', [{ json, type: 'text', part: null, takesBreakpoint: false, of: null }])
}

export const createSerializer = (options: ComposerOptions = {}): MessageWriter =>
  createWriter(
    (message, leaves) =>
      message.role === 'user'
        ? userMessage(message, options)
        : answersIn(message, continueMessage, (response) => answerOf(response, leaves, options)),
    hasReasoning,
  )

// Results first, as the wire demands; while calls are open nothing is sent, so this moves nothing that was sent.
function userMessage(message: Message, options: ComposerOptions): readonly SentMessage[] {
  const results: SentBlock[] = []
  const others: SentBlock[] = []
  for (const part of message.parts) {
    const target = part.kind === 'result' ? results : others
    for (const block of part.blocks) {
      target.push(piece(block, part, options))
      for (const media of mediaBehind(block)) others.push(piece(media, part, options))
    }
    const tag = part.kind === 'input' ? (options.tag?.(part) ?? null) : null
    if (tag === null) continue
    const json = JSON.stringify({ type: 'text', text: tag })
    target.push({ json, type: 'text', part, takesBreakpoint: true, of: null })
  }
  return results.length + others.length === 0 ? [] : [sentMessage('user', [...results, ...others])]
}

function answerOf(
  response: readonly Part[],
  leavesOut: (part: Part) => boolean,
  options: ComposerOptions,
): SentMessage | null {
  const pieces: SentBlock[] = []
  for (const part of response) {
    const leaves = leavesOut(part)
    for (const block of part.blocks)
      if (!isItem(block) && (!leaves || !isReasoning(block))) pieces.push(piece(block, part, options))
  }
  if (pieces.length === 0) return null
  if (!pieces.at(-1)!.takesBreakpoint) pieces.push(closing)
  return sentMessage('assistant', pieces)
}

// The wire refuses a message that ends in reasoning, which an interrupt between thinking and speaking leaves behind.
const closing: SentBlock = {
  json: JSON.stringify({ type: 'text', text: noAnswer }),
  type: 'text',
  part: null,
  takesBreakpoint: false,
  of: null,
}

function sentMessage(role: 'user' | 'assistant', blocks: readonly SentBlock[]): SentMessage {
  const json = messageJson(
    role,
    blocks.map((block) => block.json),
  )
  const calls: string[] = []
  const answered: string[] = []
  let hasImage = false
  for (const { of } of blocks) {
    if (of?.type === 'tool_use' && 'name' in of) calls.push(of.id)
    if (of?.type === 'tool_result' && 'is_error' in of) {
      answered.push(of.tool_use_id)
      hasImage ||= of.content.some((inner) => inner.type === 'image')
    }
    hasImage ||= of?.type === 'image'
  }
  const entry = blocks[0]!.part?.from ?? null
  return { role, blocks, json, digest: digest(json), entry, calls, answers: answered, hasImage }
}

export function messageJson(role: string, blocks: readonly string[]): string {
  return `{"role":"${role}","content":[${blocks.join(',')}]}`
}

function piece(block: ViewBlock, part: Part, options: ComposerOptions): SentBlock {
  const { type } = block
  const json = JSON.stringify(wireShape(block, options))
  return { json, type, part, takesBreakpoint: !isReasoning(block), of: block }
}

function wireShape(given: ViewBlock, options: ComposerOptions): unknown {
  const block = withoutSidecar(given)
  if (block.type === 'tool_result' && 'is_error' in block) return resultOf(block, options)
  if (block.type === 'tool_use' && 'name' in block) {
    return {
      ...block,
      id: wireId(block.id),
      name: wireName(block.name),
      input: isDeeplyWellFormed(block.input) ? block.input : wellFormedRecord(block.input),
    }
  }
  return isMedia(block) ? mediaOf(block, options) : block
}

/** What another wire wanted back beside a block is nothing this one knows. */
function withoutSidecar(block: ViewBlock): ViewBlock {
  if (!('sidecar' in block)) return block
  const { sidecar: _, ...rest } = block
  return rest
}

/** With its bytes, wherever they are kept. */
function mediaOf(block: MediaBlock, { media }: ComposerOptions): UserBlock {
  const { source } = block
  if (!isKeptSource(source)) return block
  const data = media?.(source.blob) ?? null
  if (data !== null) return { ...block, source: { type: 'base64', media_type: source.media_type, data } }
  return { type: 'text', text: `[${describeMedia(mediaInfo(block))}: its file could not be read]` }
}

// Sessions of other clients carry ids and names that this wire refuses. The spelling depends on the id alone, so a
// call and its result agree in every request.
function wireId(id: string): string {
  return /^[a-zA-Z0-9_-]+$/.test(id) ? id : `${spelled(id)}_${digest(id).slice(0, 8)}`
}
function wireName(name: string): string {
  return spelled(name).slice(0, defaults.request.toolNameChars) || 'unknown_tool'
}
const spelled = (text: string): string => text.replaceAll(/[^a-zA-Z0-9_-]/g, '_')

// One text is sent as a string: fewer bytes and fewer tokens. Never with a breakpoint inside, so the form cannot change.
function resultOf(block: ToolResultBlock, options: ComposerOptions): unknown {
  const { type, is_error } = block
  const content = (is_error ? textsOf(block) : block.content).map((inner) =>
    isMedia(inner) ? mediaOf(inner, options) : inner,
  )
  const tool_use_id = wireId(block.tool_use_id)
  const only = content.length === 1 ? content[0]! : null
  return {
    type,
    tool_use_id,
    content: only?.type === 'text' ? only.text : content,
    ...(is_error ? { is_error } : {}),
    ...(options.references === true ? { cache_reference: tool_use_id } : {}),
  }
}

function textsOf({ content }: ToolResultBlock): readonly UserBlock[] {
  const texts = content.filter((inner) => inner.type === 'text')
  return texts.length > 0 ? texts : [{ type: 'text', text: failedWithMedia }]
}

/** A failed result may hold text alone: its images and documents stand behind the results. */
const mediaBehind = (block: ViewBlock): readonly UserBlock[] =>
  block.type === 'tool_result' && 'is_error' in block && block.is_error
    ? block.content.filter((inner) => inner.type !== 'text')
    : []

const hasReasoning = (part: Part): boolean => part.kind === 'answer' && part.blocks.some(isReasoning)
