// Content blocks of foreign formats, made into ours. What has the shape of the Messages API passes with all its
// fields; what we cannot place is kept as text, so that nothing said is lost.
import { isRecord, jsonIn } from '../../transcript/json.ts'
import type { AssistantBlock, ToolUseBlock, UserBlock } from '../../transcript/content.ts'
import type { Usage } from '../../transcript/fact.ts'
import type { RecordedBlock, RecordedResult, Response } from '../recording.ts'
import { fieldsOf, listOf, numberOf, stringOrNull, type Fields } from './lines.ts'

/** The blocks of a message whose content is a text or a list, as the Messages API has it. */
export function messageBlocks(content: unknown, role: 'user' | 'assistant'): readonly RecordedBlock[] {
  if (typeof content === 'string') return [{ block: { type: 'text', text: content } }]
  const blocks: RecordedBlock[] = []
  for (const item of listOf(content)) {
    const value: Fields = typeof item === 'string' ? { type: 'text', text: item } : fieldsOf(item)
    const kind = stringOrNull(fieldsOf(value['meta'])['kind']) ?? undefined
    blocks.push({ block: role === 'user' ? userBlockOf(value) : assistantBlockOf(value), kind })
  }
  return blocks
}

function userBlockOf(value: Fields): UserBlock | RecordedResult {
  return value['type'] === 'tool_result' ? resultOf(value) : plainBlock(value)
}

function assistantBlockOf(value: Fields): AssistantBlock {
  switch (value['type']) {
    case 'text':
      return { ...withoutMeta(value), type: 'text', text: stringOrNull(value['text']) ?? '' }
    case 'thinking':
      return { ...value, type: 'thinking', thinking: stringOrNull(value['thinking']) ?? '' }
    case 'redacted_thinking':
      return { ...value, type: 'redacted_thinking', data: stringOrNull(value['data']) ?? '' }
    case 'tool_use':
      return callOf(stringOrNull(value['id']), stringOrNull(value['name']), value['input'])
    case 'tool_result':
      return { type: 'text', text: JSON.stringify(value) }
    case 'image':
    case 'document':
      return { type: 'text', text: `[${value['type']}]` }
    default:
      return stringOrNull(value['type']) === null
        ? { type: 'text', text: JSON.stringify(value) }
        : ({ ...value } as AssistantBlock & Fields)
  }
}

function plainBlock(value: Fields): UserBlock {
  const source = value['source']
  if ((value['type'] === 'image' || value['type'] === 'document') && isRecord(source)) {
    const type = stringOrNull(source['type'])
    if (type !== null) return { type: value['type'], source: { ...source, type } }
  }
  return { type: 'text', text: stringOrNull(value['text']) ?? JSON.stringify(withoutMeta(value)) }
}

function resultOf(value: Fields): RecordedResult {
  return {
    type: 'tool_result',
    tool_use_id: stringOrNull(value['tool_use_id']) ?? '',
    content: resultContent(value['content']),
    is_error: value['is_error'] === true,
  }
}

export const textBlock = (text: unknown, kind?: string): RecordedBlock => ({
  block: { type: 'text', text: stringOrNull(text) ?? '' },
  kind,
})

export const resultBlock = (id: string, content: unknown, isError: boolean): RecordedBlock => ({
  block: { type: 'tool_result', tool_use_id: id, content: resultContent(content), is_error: isError },
})

/** The response that a message in the Messages API's shape belongs to. */
export const responseOf = (message: Fields, at: number | null): Response => ({
  at,
  messageId: stringOrNull(message['id']) ?? undefined,
  usage: anthropicUsage(message['usage']),
  model: stringOrNull(message['model']) ?? undefined,
  stop: stringOrNull(message['stop_reason']) ?? undefined,
})

/** What a tool gave back: a text, a list of blocks, or anything else as JSON. */
export function resultContent(content: unknown): readonly UserBlock[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return [{ type: 'text', text: JSON.stringify(content) }]
  return content.map((item: unknown) =>
    typeof item === 'string' ? { type: 'text', text: item } : plainBlock(fieldsOf(item)),
  )
}

/** A call whose input may be an object, or JSON as text; what is neither is kept as it came and marked as broken. */
export function callOf(id: string | null, name: string | null, input: unknown): ToolUseBlock {
  const call = { type: 'tool_use' as const, id: id ?? '', name: name ?? 'unknown' }
  if (isRecord(input)) return { ...call, input }
  if (input === undefined || input === null || input === '') return { ...call, input: {} }
  if (typeof input !== 'string') return { ...call, input: { input } }
  const value = jsonIn(input)
  if (value === undefined) return { ...call, input: {}, broken: input }
  return { ...call, input: isRecord(value) ? value : { input: value } }
}

/** Usage in the words of the Messages API. */
export function anthropicUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const input = numberOf(value['input_tokens'])
  if (input === null) return undefined
  const write1h = numberOf(fieldsOf(value['cache_creation'])['ephemeral_1h_input_tokens'])
  return {
    input,
    cacheRead: numberOf(value['cache_read_input_tokens']) ?? 0,
    cacheWrite: numberOf(value['cache_creation_input_tokens']) ?? 0,
    ...(write1h === null ? {} : { cacheWrite1h: write1h }),
    output: numberOf(value['output_tokens']) ?? 0,
  }
}

function withoutMeta(value: Fields): Fields {
  if (!('meta' in value)) return value
  const { meta: _, ...rest } = value
  return rest
}
