// Messages of a view as contents. All results of a turn stand in one content, in the order of their calls; the first call of
// an answer carries the signature it came with, and one that has none says so in the maker's own words.
import type { Message, Part, ViewBlock } from '../../projection/view.ts'
import type { MessageWriter } from '../../request/compose.ts'
import type { SentBlock, SentMessage } from '../../request/segments.ts'
import { isDeeplyWellFormed, wellFormedRecord } from '../../request/well-formed.ts'
import { isItem, textIn, type ToolUseBlock } from '../../transcript/content.ts'
import { isMedia, type MediaBlock } from '../../transcript/media.ts'
import type { ToolResultBlock } from '../../projection/view.ts'
import { continueText, noOutput } from '../anthropic/block-rules.ts'
import {
  answersIn,
  createWriter,
  isCall,
  isResult,
  mediaIn,
  mediaOf,
  sentBlock,
  sentMessage,
  serverText,
  sidecarOf,
  userBlocks,
  withFields,
  type WriterOptions,
} from '../writing.ts'
import { spelledName } from '../repairing.ts'
import { dummySignature, geminiName, ownIdPrefix } from './words.ts'

export function createGeminiWriter(options: WriterOptions): MessageWriter {
  const order: CallOrder = new Map()
  return createWriter((message, leaves) => {
    if (message.role === 'user') return userContent(message, options, order)
    message.content.filter(isCall).forEach(({ id }, at) => order.set(id, at))
    return answersIn(message, goOn, (parts) => answerOf(parts, leaves, options))
  })
}

function contentJson(role: 'user' | 'model', parts: readonly SentBlock[]): string {
  return `{"role":"${role}","parts":[${parts.map(({ json }) => json).join(',')}]}`
}

/** A user content that no entry stands behind. */
export function ownGeminiMessage(text: string): SentMessage {
  const blocks = [sentBlock(JSON.stringify({ text }), null, null)]
  return sentMessage('user', contentJson('user', blocks), blocks)
}
const goOn = ownGeminiMessage(continueText)

function userContent(message: Message, options: WriterOptions, order: CallOrder): readonly SentMessage[] {
  const { results, others } = userBlocks(message, options, {
    result: (block, part) => JSON.stringify({ functionResponse: responseOf(block, part) }),
    along: mediaIn,
    media: (block) => mediaShape(block, options),
    text: (text) => ({ text }),
  })
  const blocks = [...inCallOrder(results, order), ...others]
  return blocks.length === 0 ? [] : [sentMessage('user', contentJson('user', blocks), blocks)]
}

/** The place of each call in its answer. Answers are written before their results, by the same writer. */
type CallOrder = Map<string, number>

/** The server pairs by order, whatever order results came in. */
const inCallOrder = (results: readonly SentBlock[], order: CallOrder): readonly SentBlock[] =>
  results.toSorted((a, b) => placeOf(a, order) - placeOf(b, order))
const placeOf = ({ of }: SentBlock, order: CallOrder): number =>
  of !== null && isResult(of) ? (order.get(of.tool_use_id) ?? 0) : 0

/** An id that we gave ourselves is not sent: the server pairs by order then. */
const idField = (id: string): { readonly id?: string } => (id.startsWith(ownIdPrefix) ? {} : { id })

function responseOf(block: ToolResultBlock, part: Part): object {
  const text = textIn(block.content)
  const said = text.trim() === '' ? (block.content.some(isMedia) ? '(see below)' : noOutput) : text
  return {
    ...idField(block.tool_use_id),
    name: spelledName(part.tool ?? 'unknown_tool'),
    response: block.is_error ? { error: said } : { output: said },
  }
}

function mediaShape(block: MediaBlock, options: WriterOptions): object {
  const media = mediaOf(block, options, options.quirks.images !== false)
  if (media.kind === 'text') return { text: media.text }
  if (media.kind === 'url') return { fileData: { fileUri: media.url } }
  return { inlineData: { mimeType: media.mime, data: media.data } }
}

function answerOf(
  parts: readonly Part[],
  leaves: (part: Part) => boolean,
  { quirks }: WriterOptions,
): SentMessage | null {
  const blocks: SentBlock[] = []
  let calls = 0
  for (const part of parts) {
    for (const block of part.blocks) {
      const json = partOf(block, leaves(part), calls === 0 && quirks.signatures !== false)
      if (json === null) continue
      if (isCall(block)) calls++
      blocks.push(sentBlock(json, block, part))
    }
  }
  const says = blocks.some(({ of }) => of?.type !== 'item')
  return says ? sentMessage('assistant', contentJson('model', blocks), blocks) : null
}

/** A block as a part; null where it says nothing to this maker. */
function partOf(block: ViewBlock, leaves: boolean, mustSign: boolean): string | null {
  if (isItem(block)) return block.wire === geminiName && !leaves ? block.raw : null
  const sealed = sidecarOf(block, geminiName, leaves)?.raw
  if (isCall(block)) {
    const signature = sealed ?? (mustSign ? JSON.stringify({ thoughtSignature: dummySignature }) : '{}')
    return withFields(JSON.stringify({ functionCall: callOf(block) }), signature)
  }
  const text = block.type === 'text' && 'text' in block ? block.text : serverText(block)
  return text === null ? null : withFields(JSON.stringify({ text }), sealed ?? '{}')
}

const callOf = ({ id, name, input }: ToolUseBlock): object => ({
  ...idField(id),
  name: spelledName(name),
  args: isDeeplyWellFormed(input) ? input : wellFormedRecord(input),
})
