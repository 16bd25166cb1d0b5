// Requests for chat completions: how the body, its tools, its system prompt and its messages are written. A result is a message of
// its own that follows its call; what cannot stand in one (an image) follows all of them in a user message.
import { objectIn } from '../../transcript/json.ts'
import { createComposerOf, type BodyParts, type Composer } from '../../request/compose.ts'
import { type Segment, digest, type SentBlock, type SentMessage } from '../../request/segments.ts'
import type { ToolSpec } from '../../transcript/fact.ts'
import { continueText } from '../anthropic/block-rules.ts'
import { openAiBody, openAiComposing, systemParts } from '../openai-caching.ts'
import { textOf } from '../reading.ts'
import type { Quirks, WireComposerOptions } from '../wire.ts'
import { spelledName, spelledId } from '../repairing.ts'
import type { Message, Part } from '../../projection/view.ts'
import { isItem, type ToolUseBlock } from '../../transcript/content.ts'
import type { MediaBlock } from '../../transcript/media.ts'
import {
  answersIn,
  argumentsOf,
  createWriter,
  dataUrl,
  isCall,
  mediaIn,
  mediaOf,
  resultText,
  sentBlock,
  sentMessage,
  serverText,
  sidecarOf,
  restJson,
  userBlocks,
  userItems,
  withFields,
  type WriterOptions,
} from '../writing.ts'
import { chatIdChars, chatWire } from './request.ts'

/** A composer of chat completions, one for a session and a model. */
export function createChatComposer(options: WireComposerOptions = {}): Composer {
  const quirks = options.quirks ?? {}
  const goOn = ownMessage(continueText, quirks)
  return createComposerOf({
    writer: createWriter((message, leaves) =>
      message.role === 'user'
        ? userMessages(message, { ...options, quirks })
        : answersIn(message, goOn, (parts) => answerOf(parts, leaves, quirks)),
    ),
    own: (text) => ownMessage(text, quirks),
    goOn,
    tool: toolOf,
    system: textPart,
    ...openAiComposing(quirks),
    body: (parts) => bodyOf(parts, quirks),
  })
}

const toolOf = ({ name, description, input_schema }: ToolSpec): object => ({
  type: 'function',
  function: { name: spelledName(name), description, parameters: input_schema },
})

function bodyOf(parts: BodyParts, quirks: Quirks): string {
  const { segments, parameters } = parts
  const rest = restOf(parameters, segments.tools.length > 0, quirks)
  return openAiBody(parts, '', 'messages', (system) => systemJson(system, parts, quirks), rest)
}

function systemJson(system: readonly Segment[], parts: BodyParts, quirks: Quirks): string {
  const role = quirks.systemRole ?? 'developer'
  if (quirks.textContent === true) {
    const text = system.map(({ json }) => textOf(objectIn(json)?.['text']) ?? '').join('\n\n')
    return JSON.stringify({ role, content: text })
  }
  return `{"role":"${role}","content":[${systemParts(system, parts, quirks).join(',')}]}`
}

/** Everything behind the messages may differ from one request to the next. */
function restOf(parameters: BodyParts['parameters'], hasTools: boolean, quirks: Quirks): string {
  return restJson([
    [quirks.maxTokensField ?? 'max_completion_tokens', parameters.maxTokens],
    ['stream', true],
    ['stream_options', quirks.streamUsage === false ? undefined : { include_usage: true }],
    ['reasoning_effort', quirks.effort === false ? undefined : parameters.effort],
    ['parallel_tool_calls', hasTools && quirks.parallelCalls === false ? false : undefined],
    ['prompt_cache_key', quirks.cacheKey === false ? undefined : parameters.cacheKey],
    ['cache_control', quirks.rootCacheControl === true ? { type: 'ephemeral' } : undefined],
  ])
}

// ---- messages ----

/** A user message that no entry stands behind. */
function ownMessage(text: string, quirks: Quirks): SentMessage {
  const part = JSON.stringify(textPart(text))
  return sentMessage('user', userJson([part], quirks), [sentBlock(part, null, null)])
}

function userMessages(message: Message, options: WriterOptions): readonly SentMessage[] {
  const blocks = userBlocks(message, options, {
    result: (block) => {
      const tool_call_id = spelledId(block.tool_use_id, chatIdChars, digest)
      return JSON.stringify({ role: 'tool', tool_call_id, content: resultText(block) })
    },
    along: mediaIn,
    media: (block) => mediaShape(block, options),
    text: textPart,
  })
  return userItems(blocks, (parts) => userJson(parts, options.quirks))
}

const textPart = (text: string): object => ({ type: 'text', text })

/** Parts, so that a message that grows keeps its beginning; one text where a server takes nothing else. */
function userJson(parts: readonly string[], quirks: Quirks): string {
  const text = quirks.textContent === true ? onlyText(parts) : null
  return `{"role":"user","content":${text === null ? `[${parts.join(',')}]` : JSON.stringify(text)}}`
}

function onlyText(parts: readonly string[]): string | null {
  const texts = parts.map((json) => objectIn(json)?.['text'])
  return texts.every((text) => typeof text === 'string') ? texts.join('\n\n') : null
}

function mediaShape(block: MediaBlock, options: WriterOptions): object {
  const media = mediaOf(block, options, options.quirks.images !== false)
  if (media.kind === 'text') return textPart(media.text)
  const url = media.kind === 'url' ? media.url : dataUrl(media.mime, media.data)
  if (media.type === 'image') return { type: 'image_url', image_url: { url } }
  if (media.kind === 'url') return textPart(`[document at ${media.url}]`)
  return { type: 'file', file: { filename: 'document.pdf', file_data: url } }
}

function answerOf(
  parts: readonly Part[],
  leaves: (part: Part) => boolean,
  quirks: Quirks,
): SentMessage | null {
  const texts: SentBlock[] = []
  const calls: SentBlock[] = []
  const own: SentBlock[] = []
  for (const part of parts) {
    for (const block of part.blocks) {
      const text = block.type === 'text' && 'text' in block ? block.text : serverText(block)
      if (text !== null) texts.push(sentBlock(JSON.stringify(textPart(text)), block, part))
      else if (isCall(block)) calls.push(sentBlock(callJson(block, leaves(part)), block, part))
      else if (isItem(block) && block.wire === chatWire && !leaves(part))
        own.push(sentBlock(block.raw, block, part))
    }
  }
  if (texts.length + calls.length === 0) return null
  const said = texts.map(({ json }) => json)
  const called = calls.length === 0 ? '' : `,"tool_calls":[${calls.map(({ json }) => json).join(',')}]`
  const plain = `{"role":"assistant","content":${saidJson(said, quirks)}${called}}`
  // Open reasoning goes back with the calls it led to, where the server asks for it. Calls that another model made have
  // none: then it is empty, since it may not be missing.
  if (quirks.reasoningBack !== true || calls.length === 0)
    return sentMessage('assistant', plain, [...texts, ...calls])
  const fields = own.length === 0 ? ['{"reasoning_content":""}'] : own.map(({ json }) => json)
  return sentMessage('assistant', fields.reduce(withFields, plain), [...own, ...texts, ...calls])
}

function callJson(block: ToolUseBlock, leaves: boolean): string {
  const sidecar = sidecarOf(block, chatWire, leaves)
  const plain = JSON.stringify({
    id: spelledId(block.id, chatIdChars, digest),
    type: 'function',
    function: { name: spelledName(block.name), arguments: argumentsOf(block, sidecar) },
  })
  return withFields(plain, sidecar?.raw ?? '{}')
}

function saidJson(parts: readonly string[], quirks: Quirks): string {
  if (parts.length === 0) return 'null'
  return quirks.textContent === true ? JSON.stringify(onlyText(parts) ?? '') : `[${parts.join(',')}]`
}
