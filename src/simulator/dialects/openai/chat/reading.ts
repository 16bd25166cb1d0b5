// A chat as whoever answers reads it (the form of the Messages API), and as the cache sees it (one text).
import type { WireBlock, WireMessage, WireRequest, WireTool } from '../../../../model/wire.ts'
import { isRecord } from '../../../rules/shape.ts'
import type { DialectModel } from '../../models.ts'
import { createPromptText, type RenderedPrompt } from '../../prompt.ts'
import { argumentsIn, freeTextSchema, imageBlock, renderContent } from '../content.ts'
import type { ChatBody, ChatCall, ChatMessage } from './request.ts'
import { stringOf } from '../../../rules/blocks.ts'

export function chatRequest(body: ChatBody, model: DialectModel, thinks: boolean): WireRequest {
  const { head, rest } = split(body.messages)
  const system = head.map((message) => textIn(message.content)).join('\n\n')
  const tools = toolsOf(body)
  const choice = choiceOf(body['tool_choice'])
  return {
    model: model.id,
    max_tokens: maxTokensOf(body, model),
    messages: messagesOf(rest),
    ...(system === '' ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice === null ? {} : { tool_choice: choice }),
    thinking: thinks ? { type: 'adaptive' } : { type: 'disabled' },
  }
}

export function maxTokensOf(body: Readonly<Record<string, unknown>>, model: DialectModel): number {
  const given = body['max_completion_tokens'] ?? body['max_tokens']
  return typeof given === 'number' ? given : model.maxOutput
}

const isInstruction = (message: ChatMessage): boolean =>
  message.role === 'system' || message.role === 'developer'

function split(messages: readonly ChatMessage[]): {
  readonly head: readonly ChatMessage[]
  readonly rest: readonly ChatMessage[]
} {
  const end = messages.findIndex((message) => !isInstruction(message))
  const at = end < 0 ? messages.length : end
  return { head: messages.slice(0, at), rest: messages.slice(at) }
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
  return role === 'system' || role === 'developer' ? 'system' : 'user'
}

function blocksOf(message: ChatMessage): readonly WireBlock[] {
  if (message.role === 'tool')
    return [
      { type: 'tool_result', tool_use_id: message.tool_call_id ?? '', content: textIn(message.content) },
    ]
  const said = partsOf(message.content)
  return message.role === 'assistant' ? [...said, ...(message.tool_calls ?? []).map(callBlock)] : said
}

function partsOf(content: unknown): readonly WireBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown): WireBlock[] => {
    if (!isRecord(part)) return []
    if (part['type'] === 'image_url' && isRecord(part['image_url']))
      return [imageBlock(part['image_url']['url'])]
    const text = part['text'] ?? part['refusal']
    return typeof text === 'string' ? [{ type: 'text', text }] : [{ ...part, type: stringOf(part['type']) }]
  })
}

function callBlock(call: ChatCall): WireBlock {
  const name = call.function?.name ?? call.custom?.name ?? ''
  const input =
    call.custom === undefined ? argumentsIn(call.function?.arguments ?? '') : { input: call.custom.input }
  return { type: 'tool_use', id: call.id, name, input }
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => (isRecord(part) ? stringOf(part['text']) : '')).join('\n')
}

function toolsOf(body: ChatBody): readonly WireTool[] {
  const tools: readonly unknown[] = Array.isArray(body['tools']) ? body['tools'] : []
  return tools.flatMap((tool): WireTool[] => {
    if (!isRecord(tool)) return []
    const inner = isRecord(tool['function']) ? tool['function'] : tool['custom']
    if (!isRecord(inner)) return []
    const schema = isRecord(inner['parameters']) ? inner['parameters'] : {}
    return [
      {
        name: stringOf(inner['name']),
        description: stringOf(inner['description']),
        input_schema: tool['type'] === 'custom' ? freeTextSchema : schema,
      },
    ]
  })
}

/** Names of tools that take free text instead of arguments. */
export function freeTools(body: ChatBody): ReadonlySet<string> {
  const tools: readonly unknown[] = Array.isArray(body['tools']) ? body['tools'] : []
  return new Set(
    tools.flatMap((tool) =>
      isRecord(tool) && isRecord(tool['custom']) ? [stringOf(tool['custom']['name'])] : [],
    ),
  )
}

function choiceOf(choice: unknown): WireRequest['tool_choice'] | null {
  if (choice === 'none' || choice === 'auto') return { type: choice }
  if (choice === 'required') return { type: 'any' }
  if (!isRecord(choice)) return null
  const inner = isRecord(choice['function']) ? choice['function'] : choice['custom']
  return isRecord(inner) ? { type: 'tool', name: stringOf(inner['name']) } : { type: 'auto' }
}

export function chatPrompt(body: ChatBody): RenderedPrompt {
  const prompt = createPromptText()
  const { reasoning_effort, verbosity, response_format } = body
  prompt.add(JSON.stringify([reasoning_effort ?? null, verbosity ?? null, response_format ?? null]))
  const tools: readonly unknown[] = Array.isArray(body['tools']) ? body['tools'] : []
  for (const tool of tools) prompt.add(JSON.stringify(tool))
  for (const message of body.messages) {
    prompt.add(`<${message.role}>`)
    renderContent(message.content, prompt)
    for (const call of message.tool_calls ?? []) prompt.add(JSON.stringify(call))
    if (message.tool_call_id !== undefined) prompt.add(message.tool_call_id)
    if (typeof message.reasoning_content === 'string') prompt.add(message.reasoning_content)
  }
  return prompt.done()
}
