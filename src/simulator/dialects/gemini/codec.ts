// A request of Gemini as whoever answers reads it and as the cache sees it; and a finished answer as Gemini gives it: whole, or as
// events that are each a whole response with the next parts. Calls come whole and with ids; the signature stands on the first call,
// or on the last text; usage is on every event, and the last counts.
import { hash } from 'node:crypto'
import type { WireBlock, WireMessage, WireRequest, WireTool } from '../../../model/wire.ts'
import { piecesOf } from '../../emission.ts'
import { isThinking, stringOf } from '../../rules/blocks.ts'
import { isRecord, recordsIn } from '../../rules/shape.ts'
import { requestOf, type Json, type ModelAnswer } from '../front.ts'
import type { DialectModel } from '../models.ts'
import { createPromptText, type PrefixReading, type RenderedPrompt } from '../prefix-cache.ts'
import type { GeminiBody, GeminiPart } from './request.ts'
import { geminiTurns } from './rules.ts'

export const geminiRequest = (body: GeminiBody, model: DialectModel, thinks: boolean): WireRequest =>
  requestOf({
    model,
    maxTokens: maxTokensOf(body, model),
    messages: messagesOf(body),
    system: (body.systemInstruction?.parts ?? []).map((part) => part.text ?? '').join('\n\n'),
    tools: toolsOf(body),
    choice: choiceOf(body),
    thinks,
  })

/** More than the model can say is cut, not refused. */
function maxTokensOf({ generationConfig }: GeminiBody, model: DialectModel): number {
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

function toolsOf({ tools = [] }: GeminiBody): readonly WireTool[] {
  return tools
    .flatMap((tool) => recordsIn(tool['functionDeclarations']))
    .map((each) => ({
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

export interface GeminiAnswer {
  readonly id: string
  readonly modelName: string
  readonly said: ModelAnswer
  readonly reading: PrefixReading
  readonly showsThoughts: boolean
  readonly signature: string | null
}

const FINISH: Readonly<Record<string, string>> = {
  max_tokens: 'MAX_TOKENS',
  model_context_window_exceeded: 'MAX_TOKENS',
}

export function geminiFinish(stop: string): string {
  return /^[A-Z_]+$/u.test(stop) ? stop : (FINISH[stop] ?? 'STOP')
}

function geminiUsage({ said, reading }: GeminiAnswer): Json {
  const { totalTokens, cachedTokens } = reading
  const candidates = said.outputTokens - said.thinkingTokens
  return {
    promptTokenCount: totalTokens,
    ...(cachedTokens === 0
      ? {}
      : {
          cachedContentTokenCount: cachedTokens,
          cacheTokensDetails: [{ modality: 'TEXT', tokenCount: cachedTokens }],
        }),
    candidatesTokenCount: candidates,
    ...(said.thinkingTokens === 0 ? {} : { thoughtsTokenCount: said.thinkingTokens }),
    totalTokenCount: totalTokens + said.outputTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: totalTokens }],
  }
}

export function geminiResponse(answer: GeminiAnswer): Json {
  if (answer.said.stop === 'refusal') return blocked(answer)
  return event(answer, wholeParts(answer), geminiFinish(answer.said.stop))
}

function blocked(answer: GeminiAnswer): Json {
  return {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: {
      promptTokenCount: answer.reading.totalTokens,
      totalTokenCount: answer.reading.totalTokens,
    },
    modelVersion: answer.modelName,
    responseId: answer.id,
  }
}

function event(answer: GeminiAnswer, parts: readonly Json[], finish: string | null): Json {
  const content = parts.length === 0 ? { role: 'model' } : { parts, role: 'model' }
  return {
    candidates: [{ content, ...(finish === null ? {} : { finishReason: finish }), index: 0 }],
    usageMetadata: geminiUsage(answer),
    modelVersion: answer.modelName,
    responseId: answer.id,
  }
}

/** A call that was cut does not come at all: calls come whole. */
function partsOf({ said, showsThoughts }: GeminiAnswer): readonly Json[] {
  const isCut = said.stop === 'max_tokens'
  return said.blocks.flatMap(({ block }, index): Json[] => {
    if (isThinking(block)) return showsThoughts ? [{ text: stringOf(block['thinking']), thought: true }] : []
    if (block.type === 'text') return [{ text: stringOf(block['text']) }]
    if (block.type !== 'tool_use' || (isCut && index === said.blocks.length - 1)) return []
    return [{ functionCall: { id: block['id'], name: block['name'], args: block['input'] ?? {} } }]
  })
}

function wholeParts(answer: GeminiAnswer): readonly Json[] {
  const parts = partsOf(answer)
  const { signature } = answer
  const at = signedIndex(parts)
  if (signature === null || at < 0) return parts
  return parts.map((part, index) => (index === at ? { ...part, thoughtSignature: signature } : part))
}

function signedIndex(parts: readonly Json[]): number {
  const call = parts.findIndex((part) => part['functionCall'] !== undefined)
  return call >= 0 ? call : parts.findLastIndex((part) => part['thought'] !== true)
}

function* events(answer: GeminiAnswer): Generator<Json> {
  if (answer.said.stop === 'refusal') return yield blocked(answer)
  const parts = partsOf(answer)
  const hasCall = parts.some((part) => part['functionCall'] !== undefined)
  let isSigned = answer.signature === null
  for (const part of parts) {
    if (part['functionCall'] !== undefined) {
      yield event(answer, [isSigned ? part : { ...part, thoughtSignature: answer.signature }], null)
      isSigned = true
      continue
    }
    for (const text of piecesOf(stringOf(part['text']), { most: 32 }))
      yield event(answer, [{ ...part, text }], null)
  }
  // Behind a text the signature comes with the last event, on a part of its own.
  const last = hasCall || isSigned ? [{ text: '' }] : [{ text: '', thoughtSignature: answer.signature }]
  yield event(answer, last, geminiFinish(answer.said.stop))
}

export function* geminiFrames(answer: GeminiAnswer, asEvents: boolean): Generator<string> {
  let isFirst = true
  for (const each of events(answer)) {
    if (asEvents) yield `data: ${JSON.stringify(each)}\r\n\r\n`
    else yield `${isFirst ? '[' : ',\r\n'}${JSON.stringify(each)}`
    isFirst = false
  }
  if (!asEvents) yield ']'
}
