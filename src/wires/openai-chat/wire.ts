// Chat Completions as a wire: what OpenAI and most other servers speak.
import type { ModelMessage } from '../../model/model.ts'
import { openAiCacheRules } from '../openai-caching.ts'
import { fieldsOf, readWhole } from '../reading.ts'
import type { Wire } from '../wire.ts'
import { createChatComposer } from './compose.ts'
import { openAiFailure } from '../refusals.ts'
import { ChatReader } from './reader.ts'
import { repairChat } from './repair.ts'
import { mostTools, type ChatRequest, chatWire } from './request.ts'
import { chatUsage, noUsage } from '../usage.ts'
import { checkChat } from './validity.ts'

export type { ChatRequest }

/** Chat Completions: results as messages of their own, arguments as text, prefixes cached unasked. */
export const openAiChatWire: Wire<ChatRequest> = {
  name: chatWire,
  createComposer: createChatComposer,
  createReader: (asked) => new ChatReader(asked),
  parse,
  check: checkChat,
  repair: repairChat,
  failureOf: openAiFailure,
  usageOf: (reported) => chatUsage(fieldsOf(reported) ?? {}) ?? noUsage,
  capabilities: {
    breakpoints: false,
    diagnosis: null,
    mostTools,
  },
  cacheRules: openAiCacheRules,
}

function parse(answer: unknown, asked: string): ModelMessage | null {
  if (!Array.isArray(fieldsOf(answer)?.['choices'])) return null
  return readWhole(new ChatReader(asked), answer)
}
