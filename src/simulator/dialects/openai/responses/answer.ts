// A finished answer as output items, as the response object around them, and as events, numbered one after the other: the response
// begins, each item is added, filled and done, the response ends. A compaction is a sealed account of what was said, asked of
// whoever answers.
import { piecesOf } from '../../../emission.ts'
import { isThinking, stringOf } from '../../../rules/blocks.ts'
import { sealContent } from '../../../rules/seal.ts'
import { isRecord, recordsIn } from '../../../rules/shape.ts'
import {
  askModel,
  isSpokenRefusal,
  numbered,
  type DialectBench,
  type Json,
  type ModelAnswer,
} from '../../front.ts'
import type { DialectModel } from '../../models.ts'
import type { PrefixReading } from '../../prefix-cache.ts'
import { freeTextOf } from '../content.ts'
import { offeredTools, responsesRequest } from './reading.ts'
import type { Item, ResponsesBody } from './request.ts'

export interface ItemContext {
  readonly bench: DialectBench
  readonly body: ResponsesBody
  readonly items: readonly Item[]
  readonly model: DialectModel
  readonly tenant: string
}

interface OutputItem {
  readonly item: Json
  /** Arguments, input or text as they are streamed. */
  readonly text: string
}

const asksFor = (body: ResponsesBody, what: string): boolean =>
  Array.isArray(body['include']) && body['include'].includes(what)

/** Reasoning, words and calls in the order they came. What stands behind reasoning names it in its id. */
export function outputItems(said: ModelAnswer, context: ItemContext): readonly OutputItem[] {
  const { bench, body } = context
  const tools = offeredTools(body, context.items)
  const toolNamed = (name: string): Json | undefined => tools.find((tool) => tool['name'] === name)
  const hasCalls = said.blocks.some(({ block }) => block.type === 'tool_use')
  const isCut = said.stop === 'max_tokens'
  let reasoning = ''
  return said.blocks.map(({ block, inputJson }, index) => {
    const number = bench.next('item')
    const status = isCut && index === said.blocks.length - 1 ? 'incomplete' : 'completed'
    if (isThinking(block)) {
      const item = reasoningItem(stringOf(block['thinking']), number, said.thinkingTokens, context)
      reasoning = String(number).padStart(8, '0')
      return { item, text: stringOf(block['thinking']) }
    }
    const id = (prefix: string): string =>
      `${numbered(prefix, number)}${reasoning === '' ? '' : `w${reasoning}`}`
    if (block.type === 'text') {
      const text = stringOf(block['text'])
      const content = isSpokenRefusal(said)
        ? [{ type: 'refusal', refusal: text }]
        : [{ type: 'output_text', text, annotations: [], logprobs: [] }]
      const phase = hasCalls ? 'commentary' : 'final_answer'
      const more = context.model.reasons ? { phase } : {}
      return { item: { id: id('msg_'), type: 'message', status, role: 'assistant', content, ...more }, text }
    }
    const name = stringOf(block['name'])
    const tool = toolNamed(name)
    const namespace = tool?.['namespace'] === undefined ? {} : { namespace: tool['namespace'] }
    const call = { status, call_id: stringOf(block['id']), name, ...namespace }
    if (tool?.['type'] === 'custom') {
      const input = freeTextOf(block['input'])
      return { item: { id: id('ctc_'), type: 'custom_tool_call', ...call, input }, text: input }
    }
    const text = inputJson ?? '{}'
    return { item: { id: id('fc_'), type: 'function_call', ...call, arguments: text }, text }
  })
}

function reasoningItem(text: string, number: number, tokens: number, context: ItemContext): Json {
  const { bench, body, model, tenant } = context
  const reasoning = isRecord(body['reasoning']) ? body['reasoning'] : {}
  const wantsSummary = (reasoning['summary'] ?? reasoning['generate_summary'] ?? null) !== null
  const sealed = sealContent(bench.options.secret, {
    kind: 'reasoning',
    model: model.id,
    tenant,
    tokens,
    text,
  })
  return {
    id: numbered('rs_', number),
    type: 'reasoning',
    summary: wantsSummary ? [{ type: 'summary_text', text }] : [],
    ...(asksFor(body, 'reasoning.encrypted_content') ? { encrypted_content: sealed } : {}),
  }
}

function compactionItem(text: string, tokens: number, context: ItemContext): Json {
  const { bench, model, tenant } = context
  return {
    id: numbered('cmp_', bench.next('item')),
    type: 'compaction',
    encrypted_content: sealContent(bench.options.secret, {
      kind: 'compaction',
      model: model.id,
      tenant,
      tokens,
      text,
    }),
  }
}

export function responsesUsage(
  reading: PrefixReading,
  said: Pick<ModelAnswer, 'outputTokens' | 'thinkingTokens'>,
): Json {
  const { totalTokens, cachedTokens, writtenTokens, writtenLongTokens } = reading
  return {
    input_tokens: totalTokens,
    input_tokens_details: {
      cached_tokens: cachedTokens,
      cache_write_tokens: writtenTokens,
      // A client of the same maker reads no more than numbers here, so the split comes only where there is one.
      ...(writtenLongTokens > 0
        ? {
            cache_write_tokens_details: {
              ttl_30m_tokens: writtenTokens - writtenLongTokens,
              ttl_12h_tokens: writtenLongTokens,
            },
          }
        : {}),
    },
    output_tokens: said.outputTokens,
    output_tokens_details: { reasoning_tokens: said.thinkingTokens },
    total_tokens: totalTokens + said.outputTokens,
  }
}

interface ResponseParts {
  readonly id: string
  readonly createdAt: number
  readonly body: ResponsesBody
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly Json[]
  readonly usage: Json | null
  readonly reason?: string
  readonly error?: Json
  readonly diagnostics?: Json
}

/** The response object with every field the client's types promise. */
export function responseObject(parts: ResponseParts): Json {
  const { body, status } = parts
  const text = isRecord(body['text']) ? body['text'] : {}
  return {
    id: parts.id,
    object: 'response',
    created_at: parts.createdAt,
    status,
    access_programs: null,
    background: false,
    ...(status === 'completed' ? { completed_at: parts.createdAt } : {}),
    error: parts.error ?? null,
    incomplete_details: parts.reason === undefined ? null : { reason: parts.reason },
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body['metadata'] ?? {},
    model: body.model,
    output: parts.output,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: isRecord(body['reasoning']) ? body['reasoning'] : { effort: null, summary: null },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, verbosity: 'medium', ...text },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_logprobs: 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    usage: parts.usage,
    user: body['user'] ?? null,
    ...(parts.diagnostics === undefined ? {} : { prompt_cache_diagnostics: parts.diagnostics }),
  }
}

type Emit = (type: string, data: Json) => string

interface StreamParts {
  readonly begun: Json
  readonly ended: Json
  readonly items: readonly OutputItem[]
}

export function* responseFrames({ begun, ended, items }: StreamParts): Generator<string> {
  let number = 0
  const emit: Emit = (type, data) => {
    const frame = `event: ${type}\ndata: ${JSON.stringify({ type, ...data, sequence_number: number })}\n\n`
    number += 1
    return frame
  }
  yield emit('response.created', { response: begun })
  yield emit('response.in_progress', { response: begun })
  for (const [index, each] of items.entries()) yield* itemFrames(each, index, emit)
  yield emit(`response.${stringOf(ended['status'])}`, { response: ended })
}

function* itemFrames({ item, text }: OutputItem, index: number, emit: Emit): Generator<string> {
  const at = { output_index: index }
  const id = { item_id: item['id'] }
  yield emit('response.output_item.added', { ...at, item: opened(item) })
  if (item['type'] === 'message') yield* messageFrames(item, text, { ...id, ...at }, emit)
  if (item['type'] === 'reasoning') yield* summaryFrames(item, { ...id, ...at }, emit)
  if (item['type'] === 'compaction') yield emit('response.compaction.compacting', { ...id, ...at })
  if (item['type'] === 'function_call') {
    for (const delta of piecesOf(text))
      yield emit('response.function_call_arguments.delta', { ...id, ...at, delta })
    yield emit('response.function_call_arguments.done', { ...id, ...at, arguments: text, name: item['name'] })
  }
  if (item['type'] === 'custom_tool_call') {
    for (const delta of piecesOf(text))
      yield emit('response.custom_tool_call_input.delta', { ...id, ...at, delta })
    yield emit('response.custom_tool_call_input.done', { ...id, ...at, input: text })
  }
  yield emit('response.output_item.done', { ...at, item })
}

/** As it is told before it has been filled; sealed content is not to be relied on yet. */
function opened(item: Json): Json {
  const status = 'in_progress'
  if (item['type'] === 'message') return { ...item, status, content: [] }
  if (item['type'] === 'reasoning') {
    const { encrypted_content: sealed, ...rest } = item
    return {
      ...rest,
      summary: [],
      ...(sealed === undefined ? {} : { encrypted_content: stringOf(sealed).slice(0, 64) }),
    }
  }
  if (item['type'] === 'function_call') return { ...item, status, arguments: '' }
  return item['type'] === 'custom_tool_call' ? { ...item, status, input: '' } : item
}

function* messageFrames(item: Json, text: string, at: Json, emit: Emit): Generator<string> {
  const content = { ...at, content_index: 0 }
  const [whole = {}] = recordsIn(item['content'])
  const isRefusal = whole['type'] === 'refusal'
  const name = isRefusal ? 'refusal' : 'output_text'
  const field = isRefusal ? 'refusal' : 'text'
  const more = isRefusal ? {} : { logprobs: [] }
  yield emit('response.content_part.added', { ...content, part: { ...whole, [field]: '' } })
  for (const delta of piecesOf(text)) yield emit(`response.${name}.delta`, { ...content, delta, ...more })
  yield emit(`response.${name}.done`, { ...content, [field]: text, ...more })
  yield emit('response.content_part.done', { ...content, part: whole })
}

function* summaryFrames(item: Json, at: Json, emit: Emit): Generator<string> {
  for (const [index, each] of recordsIn(item['summary']).entries()) {
    const text = stringOf(each['text'])
    const part = { ...at, summary_index: index }
    yield emit('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } })
    for (const delta of piecesOf(text))
      yield emit('response.reasoning_summary_text.delta', { ...part, delta })
    yield emit('response.reasoning_summary_text.done', { ...part, text })
    yield emit('response.reasoning_summary_part.done', { ...part, part: { type: 'summary_text', text } })
  }
}

/** A request whose items have been judged. */
export interface AcceptedItems {
  readonly body: ResponsesBody
  /** With what an earlier response brought, and references filled in. */
  readonly items: readonly Item[]
  readonly model: DialectModel
}

export interface Answered {
  readonly items: readonly OutputItem[]
  readonly stop: string
  readonly outputTokens: number
  readonly thinkingTokens: number
}

const SUMMARISE =
  'Create a detailed summary of this conversation so far, so that the work can continue from it alone. Answer with text only, inside <summary> tags.'

export async function summarised(
  { body, items, model }: AcceptedItems,
  promptTokens: number,
  context: ItemContext,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  const asked: Item = { type: 'message', role: 'user', content: SUMMARISE }
  const whole = { ...body, tool_choice: 'none', max_output_tokens: model.maxOutput }
  const request = responsesRequest(whole, [...items, asked], model, false)
  const said = await askModel(context.bench, { request, model, promptTokens, headers })
  const text = said.blocks
    .map(({ block }) => (block.type === 'text' ? stringOf(block['text']) : ''))
    .join('\n')
  const item = compactionItem(text, said.outputTokens, context)
  return { items: [{ item, text: '' }], stop: 'end_turn', outputTokens: said.outputTokens, thinkingTokens: 0 }
}

/** The user's own messages, each with an id, in front of the account of the rest. */
export function ownMessages(items: readonly Item[], bench: DialectBench): readonly Json[] {
  return items
    .filter((item) => item['role'] === 'user')
    .map((item) => ({
      type: 'message',
      id: numbered('msg_', bench.next('item')),
      status: 'completed',
      ...item,
    }))
}
