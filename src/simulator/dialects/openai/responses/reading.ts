// The items of a request as whoever answers reads them (the form of the Messages API), and as the cache sees them (one text).
import type { WireBlock, WireMessage, WireRequest, WireTool } from '../../../../model/wire.ts'
import { isRecord, recordsIn } from '../../../rules/shape.ts'
import { requestOf, type Json } from '../../front.ts'
import type { DialectModel } from '../../models.ts'
import { createPromptText, type PromptText, type RenderedPrompt } from '../../prefix-cache.ts'
import { openContent, readContent } from '../../../rules/seal.ts'
import { argumentsIn, blocksIn, choiceIn, isInstruction, offeredTool, renderContent } from '../content.ts'
import type { Item, ResponsesBody } from './request.ts'
import { stringOf } from '../../../rules/blocks.ts'

export const itemsOf = ({ input }: ResponsesBody): readonly Item[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : (input ?? [])

export function responsesRequest(
  body: ResponsesBody,
  items: readonly Item[],
  model: DialectModel,
  thinks: boolean,
): WireRequest {
  const { max_output_tokens: most, tool_choice: choice } = body
  const system = [body['instructions'], ...leadingWords(items)].filter(
    (each) => typeof each === 'string' && each !== '',
  )
  return requestOf({
    model,
    maxTokens: typeof most === 'number' ? most : model.maxOutput,
    messages: messagesOf(items),
    system: system.join('\n\n'),
    tools: toolsOf(body, items),
    choice: choiceIn(choice, isRecord(choice) ? choice['name'] : undefined),
    thinks,
  })
}

/** Effort as it stands at the end: an item may have changed it. */
export function responsesThinks(body: ResponsesBody, items: readonly Item[], model: DialectModel): boolean {
  const settings = [
    body['reasoning'],
    ...items.filter((item) => item.type === 'configuration_update').map((item) => item['reasoning']),
  ]
  const efforts = settings.flatMap((each) =>
    isRecord(each) && typeof each['effort'] === 'string' ? [each['effort']] : [],
  )
  return model.reasons && efforts.at(-1) !== 'none'
}

function leadingWords(items: readonly Item[]): readonly string[] {
  const end = items.findIndex((item) => !isInstruction(item['role']))
  return items
    .slice(0, end < 0 ? items.length : end)
    .filter((item) => item.type !== 'additional_tools')
    .map((item) => textIn(item['content']))
}

function messagesOf(items: readonly Item[]): readonly WireMessage[] {
  const start = items.findIndex((item) => !isInstruction(item['role']))
  const read: { role: WireMessage['role']; content: WireBlock[] }[] = []
  for (const item of items.slice(start < 0 ? items.length : start)) {
    const placed = placedOf(item)
    if (placed === null || placed.content.length === 0) continue
    const last = read.at(-1)
    if (last?.role === placed.role && placed.role === 'assistant') last.content.push(...placed.content)
    else if (last?.role === 'user' && isResult(last.content.at(-1)) && isResult(placed.content[0]))
      last.content.push(...placed.content)
    else read.push({ role: placed.role, content: [...placed.content] })
  }
  return read
}

const isResult = (block: WireBlock | undefined): boolean => block?.type === 'tool_result'

interface PlacedItem {
  readonly role: WireMessage['role']
  readonly content: readonly WireBlock[]
}

function placedOf(item: Item): PlacedItem | null {
  const id = stringOf(item['call_id'])
  switch (item.type) {
    case 'reasoning':
      return { role: 'assistant', content: [{ type: 'thinking', thinking: summaryIn(item), signature: '' }] }
    case 'function_call':
      return {
        role: 'assistant',
        content: [
          { type: 'tool_use', id, name: item['name'], input: argumentsIn(stringOf(item['arguments'])) },
        ],
      }
    case 'custom_tool_call':
      return {
        role: 'assistant',
        content: [{ type: 'tool_use', id, name: item['name'], input: { input: item['input'] } }],
      }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: outputOf(item['output']) }],
      }
    case 'compaction': {
      // Readable without the secret: whether it is genuine has been judged.
      const text = readContent(stringOf(item['encrypted_content']))?.text ?? ''
      return { role: 'user', content: [{ type: 'text', text }] }
    }
    case 'message':
    case undefined:
      return messageOf(item)
    default:
      return null
  }
}

function messageOf(item: Item): PlacedItem {
  const role = item['role'] === 'assistant' ? 'assistant' : isInstruction(item['role']) ? 'system' : 'user'
  return { role, content: partsOf(item['content']) }
}

const partsOf = (content: unknown): readonly WireBlock[] =>
  blocksIn(content, (part) => ({ type: 'text', text: JSON.stringify(part) }))

function outputOf(output: unknown): string | readonly WireBlock[] {
  return typeof output === 'string' ? output : partsOf(output)
}

function textIn(content: unknown): string {
  return partsOf(content)
    .map((block) => stringOf(block['text']))
    .join('\n')
}

function summaryIn(item: Item): string {
  return recordsIn(item['summary'])
    .map((each) => stringOf(each['text']))
    .join('\n')
}

/** Tools of the request, those of `additional_tools` items, and those inside namespaces. */
export function offeredTools(body: ResponsesBody, items: readonly Item[]): readonly Json[] {
  const listed = [
    body['tools'],
    ...items.filter((item) => item.type === 'additional_tools').map((item) => item['tools']),
  ]
  return listed.flatMap(flat)
}

function flat(tools: unknown): readonly Json[] {
  return recordsIn(tools).flatMap((tool) => {
    if (tool['type'] !== 'namespace') return [tool]
    return flat(tool['tools']).map((inner) => ({ namespace: tool['name'], ...inner }))
  })
}

function toolsOf(body: ResponsesBody, items: readonly Item[]): readonly WireTool[] {
  return offeredTools(body, items)
    .filter(({ type }) => type === 'function' || type === 'custom')
    .map((tool) => offeredTool(tool, tool['type'] === 'custom'))
}

export function responsesPrompt(
  body: ResponsesBody,
  items: readonly Item[],
  weightOf: (item: Item) => number,
): RenderedPrompt {
  const prompt = createPromptText()
  const { reasoning, text } = body
  const effort = isRecord(reasoning) ? (reasoning['effort'] ?? null) : null
  prompt.add(JSON.stringify([effort, isRecord(text) ? text : null]))
  for (const tool of recordsIn(body['tools'])) prompt.add(JSON.stringify(tool))
  if (typeof body['instructions'] === 'string') prompt.add(body['instructions'])
  for (const item of items) renderItem(item, prompt, weightOf)
  return prompt.done()
}

function renderItem(item: Item, prompt: PromptText, weightOf: (item: Item) => number): void {
  if (item.type === 'reasoning' || item.type === 'compaction')
    return prompt.weigh(stringOf(item['encrypted_content'] ?? item['id']), weightOf(item))
  if (item.type === 'message' || item.type === undefined) {
    prompt.add(`<${stringOf(item['role'])}>`)
    return renderContent(item['content'], prompt)
  }
  // Ids and states say nothing to the model; a client may leave them out without losing the prefix.
  const { id: _id, status: _status, output, ...rest } = item
  prompt.add(JSON.stringify(rest))
  renderContent(output, prompt)
}

/** What sealed content weighs by its own word, or by its length where it is not ours. */
export function sealedWeight(secret: string, item: Item): number {
  const value = stringOf(item['encrypted_content'])
  return openContent(secret, value)?.tokens ?? Math.ceil(value.length / 8)
}
