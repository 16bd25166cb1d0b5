// A finished answer as output items and as the response object around them.
import { isThinking, stringOf } from '../../../rules/blocks.ts'
import { isRecord } from '../../../rules/shape.ts'
import {
  isSpokenRefusal,
  numbered,
  thinkingText,
  type Json,
  type DialectBench,
  type ModelAnswer,
} from '../../front.ts'
import type { DialectModel } from '../../models.ts'
import type { PrefixReading } from '../../prefix-cache.ts'
import { sealContent } from '../../seal.ts'
import { freeTextOf } from '../content.ts'
import { offeredTools } from './reading.ts'
import type { Item, ResponsesBody } from './request.ts'

export interface ItemContext {
  readonly bench: DialectBench
  readonly body: ResponsesBody
  readonly items: readonly Item[]
  readonly model: DialectModel
  readonly tenant: string
}

export interface OutputItem {
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
      const item = reasoningItem(thinkingText(block), number, said.thinkingTokens, context)
      reasoning = String(number).padStart(8, '0')
      return { item, text: thinkingText(block) }
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

export function compactionItem(text: string, tokens: number, context: ItemContext): Json {
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

export interface ResponseParts {
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
