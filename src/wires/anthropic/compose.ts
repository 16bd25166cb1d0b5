// Requests to the Messages API: how the body, its tools, its system prompt and its messages are written. A message is kept as long
// as it lives: composing a request costs what is new. Every block is its own string, so that a breakpoint can be set on one without
// writing the others again.
import type { WireThinking, CacheControl } from '../../model/wire.ts'
import {
  createComposerOf,
  type BodyParts,
  type Composed,
  type ComposeParameters,
  type Composer,
  type ComposerOptions,
  type MessageWriter,
} from '../../request/compose.ts'
import { type Segment, type SentMessage, withField, digest, type SentBlock } from '../../request/segments.ts'
import { isReasoning, isItem, type UserBlock } from '../../transcript/content.ts'
import type { BreakpointName } from '../../request/breakpoints.ts'
import type { Lifetime } from '../../transcript/lifetime.ts'
import { describeMedia, isKeptSource, isMedia, mediaInfo, type MediaBlock } from '../../transcript/media.ts'
import type { Message, Part, ToolResultBlock, ViewBlock } from '../../projection/view.ts'
import { spelledId, spelledName } from '../repairing.ts'
import { answersIn, createWriter, isCall, isResult, restJson, sentBlock, sentMessage } from '../writing.ts'
import {
  continueText,
  failedWithMedia,
  isDeeplyWellFormed,
  noAnswer,
  wellFormedRecord,
} from './block-rules.ts'

/** A composer of requests to the Messages API, one for a session: it keeps what it has serialized. */
export function createComposer(options: ComposerOptions = {}): Composer {
  return createComposerOf({
    writer: createSerializer(options),
    bare:
      options.references === true ? createSerializer({ tag: options.tag, media: options.media }) : undefined,
    own: ownMessage,
    goOn: continueMessage,
    tool: (spec) => spec,
    system: (text) => ({ type: 'text', text }),
    breakpoints: chooseBreakpoints,
    field: breakpointField,
    withBreakpoint: messageWithBreakpoint,
    allowsThinking: (thinking, list) => thinking.type !== 'enabled' || allowsManual(list),
    body: bodyOf,
  })
}

// Put together with `+`: the engine keeps such a string in pieces, so the messages are not copied once more.
function bodyOf({ segments, messages, field, parameters, thinking }: BodyParts): string {
  const { model, tools, system, breakpoints } = segments
  const rest = restOf(parameters, thinking)
  let head = `{"model":${JSON.stringify(model)}`
  if (tools.length > 0) {
    const hasBreakpoint = (_: Segment, index: number) =>
      breakpoints.includes('tools') && index === tools.length - 1
    head += `,"tools":${listJson(tools, hasBreakpoint, field)}`
  }
  if (system.length > 0)
    head += `,"system":${listJson(system, (side) => breakpoints.includes(side.name), field)}`
  return head + ',"messages":[' + messages + ']' + rest + '}'
}

/** The body as it was composed, its list of messages left empty: for whoever knows them already. */
export function frameOf({ segments, withoutThinking }: Composed, parameters: ComposeParameters): string {
  const { lifetime } = segments
  return bodyOf({
    segments,
    messages: '',
    field: lifetime === null ? '' : breakpointField(lifetime),
    boundaryAfterSystem: false,
    parameters,
    thinking: withoutThinking ? undefined : parameters.thinking,
  })
}

/** The messages of what was composed, each as it stands in the body. */
export function messageTexts({ segments }: Composed): readonly string[] {
  const { messages, breakpoint, breakpoints, lifetime } = segments
  const marked = breakpoint !== null && breakpoints.includes('messages') ? breakpoint : null
  return messages.map((message, index) =>
    index === marked?.message && lifetime !== null
      ? messageWithBreakpoint(message, marked.block, breakpointField(lifetime))
      : message.json,
  )
}

/** Everything behind the messages: none of it may stand before a breakpoint. */
function restOf(parameters: ComposeParameters, thinking: WireThinking | undefined): string {
  const { effort, contextEdits, cacheEdits, diagnosis } = parameters
  return restJson([
    ['max_tokens', parameters.maxTokens],
    ['stream', true],
    ['thinking', thinking],
    ['output_config', effort === undefined ? undefined : { effort }],
    ['context_management', contextEdits === undefined ? undefined : { edits: contextEdits }],
    ['cache_edits', cacheEdits?.length === 0 ? undefined : cacheEdits],
    ['diagnostics', diagnosis === undefined ? undefined : { previous_message_id: diagnosis.after }],
  ])
}

/** With thinking switched on by hand, the tool loop in progress must begin with reasoning. */
function allowsManual(list: readonly SentMessage[]): boolean {
  let first: SentMessage | null = null
  let inLoop = false
  for (const message of list.toReversed()) {
    if (message.role === 'assistant') {
      if (!inLoop) break
      first = message
      inLoop = false
    } else inLoop ||= message.answers.length > 0
  }
  return first === null || isReasoning(first.blocks[0]!)
}

// Cache breakpoints of the Messages API. At most four: last tool, static block, dynamic block, and exactly one in the
// messages.

/** One for each part of the prompt that is there. */
function chooseBreakpoints(fixed: {
  readonly tools: readonly Segment[]
  readonly system: readonly Segment[]
}): readonly BreakpointName[] {
  const has = (side: 'static' | 'dynamic') => fixed.system.some((segment) => segment.name === side)
  const names: BreakpointName[] = ['messages']
  if (has('dynamic')) names.push('dynamic')
  if (has('static')) names.push('static')
  if (fixed.tools.length > 0) names.push('tools')
  return names
}

/** The cache breakpoint is written onto a block as this field. */
function breakpointField(lifetime: Lifetime): string {
  const control: CacheControl = lifetime === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  return `"cache_control":${JSON.stringify(control)}`
}

/** Segments as one JSON list, with the breakpoint on those named. */
function listJson(
  segments: readonly Segment[],
  hasBreakpoint: (segment: Segment, index: number) => boolean,
  field: string,
): string {
  const items = segments.map((segment, index) =>
    hasBreakpoint(segment, index) ? withField(segment.json, field) : segment.json,
  )
  return `[${items.join(',')}]`
}

/** A message with the breakpoint on one of its blocks. */
const messageWithBreakpoint = ({ role, blocks }: SentMessage, at: number, field: string): string =>
  messageJson(
    role,
    blocks.map(({ json }, index) => (index === at ? withField(json, field) : json)),
  )

// ---- messages ----

/**
 * Asks for the next answer where one ended without being followed by anything. It was there when the second of two
 * neighbouring answers was made, so it stays between them: on models that bind reasoning the prefix must not lose it.
 */
const continueMessage = ownMessage(continueText)

/** A message that no entry stands behind. Never carries a breakpoint, so that a breakpoint always has a place in the transcript. */
function ownMessage(text: string): SentMessage {
  return messageOf('user', [textBlock(text, null)])
}

const createSerializer = (options: ComposerOptions = {}): MessageWriter =>
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
    if (tag !== null) target.push(textBlock(tag, part))
  }
  return results.length + others.length === 0 ? [] : [messageOf('user', [...results, ...others])]
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
  // The wire refuses a message that ends in reasoning, which an interrupt between thinking and speaking leaves behind.
  if (!pieces.at(-1)!.takesBreakpoint) pieces.push(textBlock(noAnswer, null))
  return messageOf('assistant', pieces)
}

function messageOf(role: 'user' | 'assistant', blocks: readonly SentBlock[]): SentMessage {
  const list = blocks.map(({ json }) => json)
  return sentMessage(role, messageJson(role, list), blocks)
}

function textBlock(text: string, part: Part | null): SentBlock {
  return sentBlock(JSON.stringify({ type: 'text', text }), null, part)
}

function messageJson(role: string, blocks: readonly string[]): string {
  return `{"role":"${role}","content":[${blocks.join(',')}]}`
}

function piece(block: ViewBlock, part: Part, options: ComposerOptions): SentBlock {
  return sentBlock(JSON.stringify(wireShape(block, options)), block, part)
}

function wireShape(given: ViewBlock, options: ComposerOptions): unknown {
  const block = withoutSidecar(given)
  if (isResult(block)) return resultOf(block, options)
  if (isCall(block)) {
    return {
      ...block,
      id: wireId(block.id),
      name: spelledName(block.name),
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
const wireId = (id: string): string => spelledId(id, Infinity, digest)

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
  isResult(block) && block.is_error ? block.content.filter((inner) => inner.type !== 'text') : []

const hasReasoning = (part: Part): boolean => part.kind === 'answer' && part.blocks.some(isReasoning)
