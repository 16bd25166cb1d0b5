// A chat as whoever answers reads it (the form of the Messages API) and as the cache sees it (one text); and a finished answer as a
// chat completion, whole or in chunks: id and name of a call only in its first chunk, arguments as text in pieces, usage where the
// server puts it, `[DONE]` at the end.
import type { WireBlock, WireMessage, WireRequest, WireTool } from '../../../../model/wire.ts'
import { piecesOf, type EmittedBlock } from '../../../emission.ts'
import { isThinking, stringOf } from '../../../rules/blocks.ts'
import { isRecord, recordsIn } from '../../../rules/shape.ts'
import { isSpokenRefusal, requestOf, type Json, type ModelAnswer } from '../../front.ts'
import type { DialectModel } from '../../models.ts'
import { createPromptText, type PrefixReading, type RenderedPrompt } from '../../prefix-cache.ts'
import {
  argumentsIn,
  blocksIn,
  choiceIn,
  freeTextOf,
  isInstruction,
  offeredTool,
  renderContent,
} from '../content.ts'
import type { Quirks } from '../quirks.ts'
import type { ChatBody, ChatCall, ChatMessage } from './request.ts'

export function chatRequest(body: ChatBody, model: DialectModel, thinks: boolean): WireRequest {
  const { messages, tool_choice: choice, max_completion_tokens, max_tokens: given } = body
  const most = max_completion_tokens ?? given
  const end = messages.findIndex(({ role }) => !isInstruction(role))
  const at = end < 0 ? messages.length : end
  const chosen = isRecord(choice) ? (choice['function'] ?? choice['custom']) : null
  return requestOf({
    model,
    maxTokens: typeof most === 'number' ? most : model.maxOutput,
    messages: messagesOf(messages.slice(at)),
    system: messages
      .slice(0, at)
      .map(({ content }) => textIn(content))
      .join('\n\n'),
    tools: toolsOf(body),
    choice: choiceIn(choice, isRecord(chosen) ? chosen['name'] : undefined),
    thinks,
  })
}

function messagesOf(messages: readonly ChatMessage[]): readonly WireMessage[] {
  const read: { role: WireMessage['role']; content: WireBlock[]; isResults: boolean }[] = []
  for (const message of messages) {
    const content = blocksOf(message)
    const isResults = message.role === 'tool'
    const last = read.at(-1)
    if (isResults && last?.isResults === true) last.content.push(...content)
    else read.push({ role: roleOf(message.role), content: [...content], isResults })
  }
  return read.map(({ role, content }) => ({ role, content }))
}

function roleOf(role: string): WireMessage['role'] {
  if (role === 'assistant') return 'assistant'
  return isInstruction(role) ? 'system' : 'user'
}

function blocksOf(message: ChatMessage): readonly WireBlock[] {
  if (message.role === 'tool')
    return [
      { type: 'tool_result', tool_use_id: message.tool_call_id ?? '', content: textIn(message.content) },
    ]
  const said = blocksIn(message.content, (part) => ({ ...part, type: stringOf(part['type']) }))
  return message.role === 'assistant' ? [...said, ...(message.tool_calls ?? []).map(callBlock)] : said
}

function callBlock(call: ChatCall): WireBlock {
  const name = call.function?.name ?? call.custom?.name ?? ''
  const input =
    call.custom === undefined ? argumentsIn(call.function?.arguments ?? '') : { input: call.custom.input }
  return { type: 'tool_use', id: call.id, name, input }
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return recordsIn(content)
    .map((part) => stringOf(part['text']))
    .join('\n')
}

function toolsOf(body: ChatBody): readonly WireTool[] {
  return recordsIn(body['tools']).flatMap((tool): WireTool[] => {
    const inner = tool['function'] ?? tool['custom']
    return isRecord(inner) ? [offeredTool(inner, tool['type'] === 'custom')] : []
  })
}

/** Names of tools that take free text instead of arguments. */
export function freeTools(body: ChatBody): ReadonlySet<string> {
  return new Set(
    recordsIn(body['tools']).flatMap(({ custom }) => (isRecord(custom) ? [stringOf(custom['name'])] : [])),
  )
}

export function chatPrompt(body: ChatBody): RenderedPrompt {
  const prompt = createPromptText()
  const { reasoning_effort, verbosity, response_format } = body
  prompt.add(JSON.stringify([reasoning_effort ?? null, verbosity ?? null, response_format ?? null]))
  for (const tool of recordsIn(body['tools'])) prompt.add(JSON.stringify(tool))
  for (const message of body.messages) {
    prompt.add(`<${message.role}>`)
    renderContent(message.content, prompt)
    for (const call of message.tool_calls ?? []) prompt.add(JSON.stringify(call))
    if (message.tool_call_id !== undefined) prompt.add(message.tool_call_id)
    if (typeof message.reasoning_content === 'string') prompt.add(message.reasoning_content)
  }
  return prompt.done()
}

export interface ChatAnswer {
  readonly id: string
  readonly created: number
  readonly modelName: string
  readonly model: DialectModel
  readonly said: ModelAnswer
  readonly reading: PrefixReading
  readonly quirks: Quirks
  readonly dollars: number | null
  readonly freeTools: ReadonlySet<string>
  readonly includeUsage: boolean
}

const FINISH: Readonly<Record<string, string>> = {
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
}

export const finishOf = (said: ModelAnswer): string =>
  isSpokenRefusal(said) ? 'stop' : (FINISH[said.stop] ?? 'stop')

function chatUsage({ said, reading, quirks, dollars }: ChatAnswer): Json {
  const { totalTokens, cachedTokens, writtenTokens } = reading
  const plain = {
    prompt_tokens: totalTokens,
    completion_tokens: said.outputTokens,
    total_tokens: totalTokens + said.outputTokens,
  }
  if (quirks.usageFields === 'plain') return plain
  if (quirks.usageFields === 'deepseek')
    return {
      ...plain,
      prompt_tokens_details: { cached_tokens: cachedTokens },
      completion_tokens_details: { reasoning_tokens: said.thinkingTokens },
      prompt_cache_hit_tokens: cachedTokens,
      prompt_cache_miss_tokens: totalTokens - cachedTokens,
    }
  return {
    ...plain,
    prompt_tokens_details: {
      cached_tokens: cachedTokens,
      cache_write_tokens: writtenTokens,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: said.thinkingTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    ...(quirks.server === 'openrouter' ? { cost: dollars ?? 0 } : {}),
    ...(quirks.server === 'litellm'
      ? { cache_read_input_tokens: cachedTokens, cache_creation_input_tokens: writtenTokens }
      : {}),
  }
}

export function chatCompletion(answer: ChatAnswer): Json {
  const { said, quirks } = answer
  const text = textOf(said.blocks)
  const calls = callsIn(said.blocks).map((block) => wholeCall(answer, block))
  const thoughts = thoughtsOf(said.blocks)
  const message = {
    role: 'assistant',
    content: isSpokenRefusal(said) || (text === '' && calls.length > 0) ? null : text,
    refusal: isSpokenRefusal(said) ? text : null,
    annotations: [],
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(quirks.reasoning === 'none' || thoughts === '' ? {} : reasoningFields(quirks, thoughts)),
  }
  return {
    id: answer.id,
    object: 'chat.completion',
    created: answer.created,
    model: answer.modelName,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(said) }],
    usage: chatUsage(answer),
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  }
}

const FINGERPRINT = 'fp_simulator'

function reasoningFields(quirks: Quirks, text: string): Json {
  if (quirks.server !== 'openrouter') return { [quirks.reasoning]: text }
  return {
    reasoning: text,
    reasoning_details: [{ type: 'reasoning.text', text, format: 'unknown', index: 0 }],
  }
}

function wholeCall({ freeTools }: ChatAnswer, { block, inputJson }: EmittedBlock): Json {
  const name = stringOf(block['name'])
  const id = stringOf(block['id'])
  return freeTools.has(name)
    ? { id, type: 'custom', custom: { name, input: freeTextOf(block['input']) } }
    : { id, type: 'function', function: { name, arguments: inputJson ?? '{}' } }
}

const textOf = (blocks: readonly EmittedBlock[]): string =>
  blocks.map(({ block }) => (block.type === 'text' ? stringOf(block['text']) : '')).join('')

const thoughtsOf = (blocks: readonly EmittedBlock[]): string =>
  blocks.map(({ block }) => (isThinking(block) ? stringOf(block['thinking']) : '')).join('')

const callsIn = (blocks: readonly EmittedBlock[]): readonly EmittedBlock[] =>
  blocks.filter(({ block }) => block.type === 'tool_use')

export function* chatChunks(answer: ChatAnswer): Generator<string> {
  const { quirks, said } = answer
  const asked = answer.includeUsage && quirks.streamUsage === 'asked'
  const nullUsage: Json = asked ? { usage: null } : {}
  const chunk = (choices: readonly Json[], more: Json = nullUsage): string =>
    `data: ${JSON.stringify({
      id: answer.id,
      object: 'chat.completion.chunk',
      created: answer.created,
      model: answer.modelName,
      service_tier: 'default',
      system_fingerprint: FINGERPRINT,
      choices,
      ...more,
    })}\n\n`
  const delta = (value: Json, finish: string | null = null, more: Json = nullUsage): string =>
    chunk([{ index: 0, delta: value, logprobs: null, finish_reason: finish }], more)
  if (quirks.streamStart === 'comment') yield ': OPENROUTER PROCESSING\n\n'
  if (quirks.streamStart === 'filter-chunk')
    yield chunk([], {
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
      ...nullUsage,
    })
  const hasCalls = callsIn(said.blocks).length > 0
  yield delta({
    role: 'assistant',
    content: hasCalls && textOf(said.blocks) === '' ? null : '',
    refusal: null,
  })
  for (const value of deltas(answer)) yield delta(value)
  const usage = { usage: chatUsage(answer) }
  yield delta({}, finishOf(said), quirks.streamUsage === 'last-chunk' ? usage : nullUsage)
  if (asked || quirks.streamUsage === 'always') yield chunk([], usage)
  yield 'data: [DONE]\n\n'
}

function* deltas(answer: ChatAnswer): Generator<Json> {
  const { quirks, said, freeTools } = answer
  let call = 0
  for (const { block, inputJson } of said.blocks) {
    if (isThinking(block)) {
      if (quirks.reasoning === 'none') continue
      for (const piece of piecesOf(stringOf(block['thinking']))) yield reasoningFields(quirks, piece)
    } else if (block.type === 'text') {
      const field = isSpokenRefusal(said) ? 'refusal' : 'content'
      for (const piece of piecesOf(stringOf(block['text']))) yield { [field]: piece }
    } else if (block.type === 'tool_use') {
      const name = stringOf(block['name'])
      const isFree = freeTools.has(name)
      const field = isFree ? 'custom' : 'function'
      const key = isFree ? 'input' : 'arguments'
      const index = call
      call += 1
      yield { tool_calls: [{ index, id: block['id'], type: field, [field]: { name, [key]: '' } }] }
      const text = isFree ? freeTextOf(block['input']) : (inputJson ?? '{}')
      for (const piece of piecesOf(text)) yield { tool_calls: [{ index, [field]: { [key]: piece } }] }
    }
  }
}
