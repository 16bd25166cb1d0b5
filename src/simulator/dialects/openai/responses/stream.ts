// A response as events, numbered one after the other: the response begins, each item is added, filled and done, the response ends.
import { stringOf } from '../../../rules/blocks.ts'
import { isRecord } from '../../../rules/shape.ts'
import { piecesOf, type Json } from '../../front.ts'
import type { OutputItem } from './answer.ts'

type Emit = (type: string, data: Json) => string

export interface StreamParts {
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
  const part: unknown = Array.isArray(item['content']) ? item['content'][0] : null
  const whole = isRecord(part) ? part : {}
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
  const summary: readonly unknown[] = Array.isArray(item['summary']) ? item['summary'] : []
  for (const [index, each] of summary.entries()) {
    const text = isRecord(each) ? stringOf(each['text']) : ''
    const part = { ...at, summary_index: index }
    yield emit('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } })
    for (const delta of piecesOf(text))
      yield emit('response.reasoning_summary_text.delta', { ...part, delta })
    yield emit('response.reasoning_summary_text.done', { ...part, text })
    yield emit('response.reasoning_summary_part.done', { ...part, part: { type: 'summary_text', text } })
  }
}
