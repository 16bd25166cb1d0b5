// A request of Gemini as whoever answers reads it, and as the cache sees it.
import type { Json } from '../front.ts'
import { hash } from 'node:crypto'
import type { WireBlock, WireMessage, WireRequest, WireTool } from '../../../model/wire.ts'
import { isRecord } from '../../rules/shape.ts'
import type { DialectModel } from '../models.ts'
import { createPromptText, type RenderedPrompt } from '../prompt.ts'
import type { GeminiBody, GeminiPart } from './request.ts'
import { geminiTurns } from './rules.ts'
import { stringOf } from '../../rules/blocks.ts'

export function geminiRequest(body: GeminiBody, model: DialectModel, thinks: boolean): WireRequest {
  const system = (body.systemInstruction?.parts ?? []).map((part) => part.text ?? '').join('\n\n')
  const tools = toolsOf(body)
  const choice = choiceOf(body)
  return {
    model: model.id,
    max_tokens: geminiMaxTokens(body, model),
    messages: messagesOf(body),
    ...(system === '' ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice === null ? {} : { tool_choice: choice }),
    thinking: thinks ? { type: 'adaptive' } : { type: 'disabled' },
  }
}

/** More than the model can say is cut, not refused. */
export function geminiMaxTokens({ generationConfig }: GeminiBody, model: DialectModel): number {
  const given = generationConfig?.['maxOutputTokens']
  return typeof given === 'number' && given > 0 ? Math.min(given, model.maxOutput) : model.maxOutput
}

export function geminiThinks({ generationConfig }: GeminiBody, model: DialectModel): boolean {
  const config = generationConfig?.['thinkingConfig']
  return model.reasons && !(isRecord(config) && config['thinkingBudget'] === 0)
}

export function showsThoughts({ generationConfig }: GeminiBody): boolean {
  const config = generationConfig?.['thinkingConfig']
  return isRecord(config) && config['includeThoughts'] === true
}

function messagesOf(body: GeminiBody): readonly WireMessage[] {
  let calls: string[] = []
  return geminiTurns(body.contents).map(({ role, parts, at }) => {
    if (role === 'model') calls = []
    let answered = 0
    const content = parts.map((part, index): WireBlock => {
      if (part.functionCall !== undefined) {
        const id = part.functionCall.id ?? madeUpId(part.functionCall.name, at, index)
        calls.push(id)
        return { type: 'tool_use', id, name: part.functionCall.name, input: part.functionCall.args ?? {} }
      }
      if (part.functionResponse !== undefined) {
        const id = part.functionResponse.id ?? calls[answered] ?? ''
        answered += 1
        return resultBlock(id, part.functionResponse.response ?? {})
      }
      return plainBlock(part)
    })
    return { role: role === 'model' ? 'assistant' : 'user', content }
  })
}

/** Calls need no id on this wire; whoever answers does. */
const madeUpId = (name: string, at: number, index: number): string =>
  `call_${hash('sha1', `${name}|${at}|${index}`).slice(0, 20)}`

function resultBlock(id: string, response: Json): WireBlock {
  const { error, output, result } = response
  const value = error ?? output ?? result ?? response
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: typeof value === 'string' ? value : JSON.stringify(value),
    ...(error === undefined ? {} : { is_error: true }),
  }
}

function plainBlock(part: GeminiPart): WireBlock {
  if (part.text !== undefined) {
    return part.thought === true
      ? { type: 'thinking', thinking: part.text, signature: '' }
      : { type: 'text', text: part.text }
  }
  if (part.inlineData !== undefined) {
    const { mimeType, data } = part.inlineData
    const isImage = String(mimeType).startsWith('image/')
    return { type: isImage ? 'image' : 'document', source: { type: 'base64', media_type: mimeType, data } }
  }
  return { type: 'text', text: JSON.stringify(part) }
}

function declarationsOf(body: GeminiBody): readonly Json[] {
  return (body.tools ?? []).flatMap((tool) =>
    Array.isArray(tool['functionDeclarations']) ? (tool['functionDeclarations'] as readonly Json[]) : [],
  )
}

function toolsOf(body: GeminiBody): readonly WireTool[] {
  return declarationsOf(body).map((each) => ({
    name: stringOf(each['name']),
    description: stringOf(each['description']),
    input_schema: schemaOf(each['parametersJsonSchema'] ?? each['parameters']),
  }))
}

/** Google writes types in capitals. */
function schemaOf(schema: unknown): Json {
  if (!isRecord(schema)) return {}
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, lowered(key, value)]))
}

function lowered(key: string, value: unknown): unknown {
  if (key === 'type' && typeof value === 'string') return value.toLowerCase()
  if (key === 'properties' && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, schemaOf(each)]))
  return key === 'items' ? schemaOf(value) : value
}

function choiceOf({ toolConfig }: GeminiBody): WireRequest['tool_choice'] | null {
  const config = toolConfig?.['functionCallingConfig']
  if (!isRecord(config)) return null
  if (config['mode'] === 'NONE') return { type: 'none' }
  return config['mode'] === 'ANY' ? { type: 'any' } : { type: 'auto' }
}

const IMAGE_TOKENS = 258

export function geminiPrompt(body: GeminiBody): RenderedPrompt {
  const prompt = createPromptText()
  for (const part of body.systemInstruction?.parts ?? []) prompt.add(part.text ?? '')
  for (const tool of body.tools ?? []) prompt.add(JSON.stringify(tool))
  for (const { role, parts } of (body as Partial<GeminiBody>).contents ?? []) {
    prompt.add(`<${role ?? 'user'}>`)
    for (const part of parts) {
      const { text, functionCall, functionResponse, inlineData } = part
      if (text !== undefined) prompt.add(text)
      else if (functionCall !== undefined) prompt.add(JSON.stringify(functionCall))
      else if (functionResponse !== undefined) prompt.add(JSON.stringify(functionResponse))
      else prompt.weigh(JSON.stringify(inlineData ?? part), IMAGE_TOKENS)
    }
  }
  return prompt.done()
}
