// The Gemini API as a wire: contents and parts, signatures on calls.
import { countIn } from '../../model/count.ts'
import type { ModelMessage } from '../../model/model.ts'
import { noUsage, geminiUsage } from '../usage.ts'
import { fieldsOf } from '../reading.ts'
import type { Wire } from '../wire.ts'
import { createGeminiComposer } from './compose.ts'
import { geminiFailure } from '../refusals.ts'
import { geminiCacheRules } from './models.ts'
import { GeminiReader } from './reader.ts'
import { repairGemini } from './repair.ts'
import { type GeminiRequest, geminiName } from './request.ts'
import { checkGemini } from './validity.ts'

export type { GeminiRequest }

/** The Gemini API: results in one content, signatures on the calls of the turn, prefixes cached without promise. */
export const geminiWire: Wire<GeminiRequest> = {
  name: geminiName,
  createComposer: createGeminiComposer,
  createReader: (asked) => new GeminiReader(asked),
  parse,
  check: checkGemini,
  repair: repairGemini,
  failureOf: geminiFailure,
  usageOf: (reported) => geminiUsage(fieldsOf(reported) ?? {}) ?? noUsage,
  count: {
    // The whole request as one field: beside it, only the contents would be counted.
    body: (body, model) =>
      `{"generateContentRequest":{"model":${JSON.stringify(`models/${model}`)},${body.slice(1)}}`,
    tokensIn: (answer) => countIn(answer, 'totalTokens'),
  },
  capabilities: {
    breakpoints: false,
    diagnosis: null,
    mostTools: null,
  },
  cacheRules: geminiCacheRules,
}

/** A stream that nobody asked for as events comes as one list of them. */
function parse(answer: unknown, asked: string): ModelMessage | null {
  const events: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
  const isAnswer = events.some((event) => {
    const fields = fieldsOf(event)
    return fields?.['candidates'] !== undefined || fields?.['promptFeedback'] !== undefined
  })
  if (!isAnswer) return null
  const reader = new GeminiReader(asked)
  for (const event of events) reader.feed(event)
  return reader.message()
}
