// Requests for generated content: how the body, its tools, its system prompt and its contents are written. The model
// stands in the address, not in the body. All results of a turn stand in one content, in the order of their calls; the first call of
// an answer carries the signature it came with, and one that has none says so in the maker's own words.
import { createComposerOf, type BodyParts, type Composer, type MessageWriter } from '../../request/compose.ts'
import type { ToolSpec } from '../../transcript/fact.ts'
import { continueText } from '../anthropic/block-rules.ts'
import type { Quirks, WireComposerOptions } from '../wire.ts'
import { spelledName } from '../repairing.ts'
import { asksSignatures, thinkingOf } from './models.ts'
import type { Message, Part, ViewBlock, ToolResultBlock } from '../../projection/view.ts'
import type { SentBlock, SentMessage } from '../../request/segments.ts'
import { isDeeplyWellFormed, wellFormedRecord } from '../../request/well-formed.ts'
import { isItem, type ToolUseBlock } from '../../transcript/content.ts'
import type { MediaBlock } from '../../transcript/media.ts'
import {
  answersIn,
  createWriter,
  isCall,
  isResult,
  mediaIn,
  mediaOf,
  saidBy,
  sentBlock,
  sentMessage,
  serverText,
  sidecarOf,
  userBlocks,
  withFields,
  type WriterOptions,
} from '../writing.ts'
import { dummySignature, geminiName, ownIdPrefix } from './request.ts'

/** A composer of generated content, one for a session. Generations differ in whether calls are signed. */
export function createGeminiComposer(options: WireComposerOptions = {}): Composer {
  const made = new Map<boolean, Composer>()
  return {
    compose(view, parameters) {
      const signatures = options.quirks?.signatures ?? asksSignatures(parameters.model)
      const composer = made.get(signatures) ?? composerOf(options, { ...options.quirks, signatures })
      made.set(signatures, composer)
      return composer.compose(view, parameters)
    },
  }
}

function composerOf(options: WireComposerOptions, quirks: Quirks): Composer {
  return createComposerOf({
    writer: createGeminiWriter({ ...options, quirks }),
    own: ownMessage,
    goOn,
    tool: toolOf,
    system: (text) => ({ text }),
    breakpoints: () => [],
    field: () => '',
    withBreakpoint: (message) => message.json,
    allowsThinking: () => true,
    body: (parts) => bodyOf(parts, quirks),
  })
}

const toolOf = ({ name, description, input_schema }: ToolSpec): object => ({
  name: spelledName(name),
  description,
  parametersJsonSchema: input_schema,
})

function bodyOf({ segments, messages, parameters }: BodyParts, quirks: Quirks): string {
  const { model, tools, system } = segments
  const json = (list: readonly { readonly json: string }[]): string => list.map((each) => each.json).join(',')
  let head = '{'
  if (system.length > 0) head += `"systemInstruction":{"parts":[${json(system)}]},`
  if (tools.length > 0) head += `"tools":[{"functionDeclarations":[${json(tools)}]}],`
  const thinking = quirks.effort === false ? undefined : thinkingOf(model, parameters.effort)
  const config = JSON.stringify({
    maxOutputTokens: parameters.maxTokens,
    ...(thinking === undefined ? {} : { thinkingConfig: thinking }),
  })
  return head + '"contents":[' + messages + '],"generationConfig":' + config + '}'
}

// ---- messages ----

function createGeminiWriter(options: WriterOptions): MessageWriter {
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
function ownMessage(text: string): SentMessage {
  const blocks = [sentBlock(JSON.stringify({ text }), null, null)]
  return sentMessage('user', contentJson('user', blocks), blocks)
}
const goOn = ownMessage(continueText)

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
  const said = saidBy(block)
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
