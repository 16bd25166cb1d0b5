// Requests for responses: how the body, its tools, its system prompt and its items are written. The whole list goes along each time and
// nothing is stored: a list that the provider kept would hide what was sent from the layers that make it smaller.
import { createComposerOf, type BodyParts, type Composer } from '../../request/compose.ts'
import { type Segment, digest, type SentBlock, type SentMessage } from '../../request/segments.ts'
import type { ToolSpec } from '../../transcript/fact.ts'
import { openAiBody, openAiComposing, reasonsSealed, systemParts } from '../openai-caching.ts'
import { continueText } from '../anthropic/block-rules.ts'
import type { Quirks, WireComposerOptions } from '../wire.ts'
import { spelledName, spelledId } from '../repairing.ts'
import { objectIn } from '../../transcript/json.ts'
import type { Message, Part, ViewBlock } from '../../projection/view.ts'
import { isItem, textIn } from '../../transcript/content.ts'
import { isMedia, type MediaBlock } from '../../transcript/media.ts'
import { textOf } from '../reading.ts'
import {
  answersIn,
  argumentsOf,
  createWriter,
  dataUrl,
  isCall,
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
import { callIdChars, responsesWire } from './request.ts'

/** A composer of responses, one for a session and a model. */
export function createResponsesComposer(options: WireComposerOptions = {}): Composer {
  const quirks = options.quirks ?? {}
  return createComposerOf({
    writer: createWriter((message, leaves) =>
      message.role === 'user'
        ? userMessages(message, { ...options, quirks })
        : answersIn(message, goOn, (parts) => answerOf(parts, leaves)),
    ),
    own: ownMessage,
    goOn,
    tool: toolOf,
    system: textPart,
    ...openAiComposing(quirks),
    body: (parts) => bodyOf(parts, quirks),
  })
}

const toolOf = ({ name, description, input_schema }: ToolSpec): object => ({
  type: 'function',
  name: spelledName(name),
  description,
  parameters: input_schema,
  // Left out it would mean yes, and schemas of tools are not made for that.
  strict: false,
})

function bodyOf(parts: BodyParts, quirks: Quirks): string {
  const { segments, parameters } = parts
  const sealed = reasonsSealed(segments.model) ? ',"include":["reasoning.encrypted_content"]' : ''
  const rest = restOf(parameters, segments.tools.length > 0, quirks)
  return openAiBody(
    parts,
    `,"store":false${sealed}`,
    'input',
    (system) => systemJson(system, parts, quirks),
    rest,
  )
}

function systemJson(system: readonly Segment[], parts: BodyParts, quirks: Quirks): string {
  const content = systemParts(system, parts, quirks).join(',')
  return `{"type":"message","role":"${quirks.systemRole ?? 'developer'}","content":[${content}]}`
}

function restOf(parameters: BodyParts['parameters'], hasTools: boolean, quirks: Quirks): string {
  const { effort } = parameters
  const asked = quirks.effort === false ? undefined : effort
  return restJson([
    ['max_output_tokens', parameters.maxTokens],
    ['stream', true],
    // A summary is all that can be shown of sealed reasoning.
    ['reasoning', asked === undefined ? undefined : { effort: asked, summary: 'auto' }],
    ['parallel_tool_calls', hasTools && quirks.parallelCalls === false ? false : undefined],
    ['prompt_cache_key', quirks.cacheKey === false ? undefined : parameters.cacheKey],
  ])
}

// ---- messages ----
// Nothing is stored with the provider, so items carry no ids but those sealed in reasoning, and reasoning goes along only with its
// encrypted content and the item it led to.

const textPart = (text: string): object => ({ type: 'input_text', text })

/** A user message that no entry stands behind. */
function ownMessage(text: string): SentMessage {
  const part = JSON.stringify(textPart(text))
  return sentMessage('user', userJson([part]), [sentBlock(part, null, null)])
}
const goOn = ownMessage(continueText)

function userJson(parts: readonly string[]): string {
  return `{"type":"message","role":"user","content":[${parts.join(',')}]}`
}

function userMessages(message: Message, options: WriterOptions): readonly SentMessage[] {
  const media = (block: MediaBlock): object => mediaPart(block, options)
  const blocks = userBlocks(message, options, {
    result: (block) => {
      const call_id = spelledId(block.tool_use_id, callIdChars, digest)
      const output = block.content.some(isMedia)
        ? block.content.map((inner) => (isMedia(inner) ? media(inner) : textPart(textIn([inner]))))
        : resultText(block)
      return JSON.stringify({ type: 'function_call_output', call_id, output })
    },
    media,
    text: textPart,
  })
  return userItems(blocks, userJson)
}

function mediaPart(block: MediaBlock, options: WriterOptions): object {
  const media = mediaOf(block, options, options.quirks.images !== false)
  if (media.kind === 'text') return textPart(media.text)
  const url = media.kind === 'url' ? media.url : dataUrl(media.mime, media.data)
  if (media.type === 'image') return { type: 'input_image', image_url: url }
  if (media.kind === 'url') return { type: 'input_file', file_url: url }
  return { type: 'input_file', filename: 'document.pdf', file_data: url }
}

/** One item of an answer that is still being put together: texts join until something else begins. */
interface Item {
  readonly kind: 'message' | 'call' | 'own'
  json: string
  readonly texts: string[]
  readonly blocks: SentBlock[]
}

function answerOf(parts: readonly Part[], leaves: (part: Part) => boolean): SentMessage | null {
  const items: Item[] = []
  for (const part of parts) for (const block of part.blocks) addBlock(items, block, part, leaves(part))
  const kept = items.filter((item, at) => isSendable(item, items, at))
  if (!kept.some(({ kind }) => kind !== 'own')) return null
  const json = kept.map(itemJson).join(',')
  return sentMessage(
    'assistant',
    json,
    kept.flatMap(({ blocks }) => blocks),
  )
}

function addBlock(items: Item[], block: ViewBlock, part: Part, leaves: boolean): void {
  const text = block.type === 'text' && 'text' in block ? block.text : serverText(block)
  if (text !== null) {
    const raw = sidecarOf(block, responsesWire, leaves)?.raw
    const last = items.at(-1)
    const sent = sentBlock(JSON.stringify({ type: 'output_text', text }), block, part)
    if (raw === undefined && last?.kind === 'message') {
      last.texts.push(sent.json)
      last.blocks.push(sent)
    } else items.push({ kind: 'message', json: raw ?? '{}', texts: [sent.json], blocks: [sent] })
  } else if (isCall(block)) {
    const sidecar = sidecarOf(block, responsesWire, leaves)
    const json = JSON.stringify({
      type: 'function_call',
      call_id: spelledId(block.id, callIdChars, digest),
      name: spelledName(block.name),
      arguments: argumentsOf(block, sidecar),
    })
    items.push({ kind: 'call', json, texts: [], blocks: [sentBlock(json, block, part)] })
  } else if (isItem(block) && block.wire === responsesWire && !leaves)
    items.push({ kind: 'own', json: block.raw, texts: [], blocks: [sentBlock(block.raw, block, part)] })
}

/** Reasoning needs its encrypted content, and behind it the item it led to. */
function isSendable({ kind, json }: Item, items: readonly Item[], at: number): boolean {
  if (kind !== 'own') return true
  const raw = objectIn(json)
  if (raw?.['type'] !== 'reasoning') return raw !== null
  if (!textOf(raw['encrypted_content'])) return false
  return items.slice(at + 1).some((later) => later.kind !== 'own')
}

function itemJson({ kind, json, texts }: Item): string {
  if (kind !== 'message') return json
  const plain = `{"type":"message","role":"assistant","content":[${texts.join(',')}]}`
  return withFields(plain, json)
}
