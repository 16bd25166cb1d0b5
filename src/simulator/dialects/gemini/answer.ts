// A finished answer as Gemini gives it: whole, or as events that are each a whole response with the next parts. Calls come whole and
// with ids; the signature stands on the first call, or on the last text; usage is on every event, and the last counts.
import { isThinking, stringOf } from '../../rules/blocks.ts'
import { piecesOf, thinkingText, type ModelAnswer, type Json } from '../front.ts'
import type { PrefixReading } from '../prefix-cache.ts'

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
    if (isThinking(block)) return showsThoughts ? [{ text: thinkingText(block), thought: true }] : []
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
    for (const text of piecesOf(stringOf(part['text']), 32)) yield event(answer, [{ ...part, text }], null)
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
