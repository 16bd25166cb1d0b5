// The Responses API as a wire: sealed reasoning, items, nothing stored.
import { countIn, onlyFields } from '../../model/count.ts'
import type { ModelMessage } from '../../model/model.ts'
import { openAiCacheRules } from '../openai-caching.ts'
import { openAiFailure } from '../refusals.ts'
import { mostTools } from '../openai-chat/request.ts'
import { noUsage, responsesUsage } from '../usage.ts'
import { fieldsOf, readWhole } from '../reading.ts'
import type { Wire } from '../wire.ts'
import { createResponsesComposer } from './compose.ts'
import { ResponsesReader } from './reader.ts'
import { repairResponses } from './repair.ts'
import { type ResponsesRequest, responsesWire } from './request.ts'
import { checkResponses } from './validity.ts'

export type { ResponsesRequest }

/** What `input_tokens` takes of a request. */
const counted = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
])

/** The Responses API: reasoning sealed to its model, images in results, prefixes cached unasked. */
export const openAiResponsesWire: Wire<ResponsesRequest> = {
  name: responsesWire,
  createComposer: createResponsesComposer,
  createReader: (asked) => new ResponsesReader(asked),
  parse,
  check: checkResponses,
  repair: repairResponses,
  failureOf: openAiFailure,
  usageOf: (reported) => responsesUsage(fieldsOf(reported) ?? {}) ?? noUsage,
  count: {
    body: (body) => JSON.stringify(onlyFields(body, counted)),
    tokensIn: (answer) => countIn(answer, 'input_tokens'),
  },
  capabilities: {
    breakpoints: false,
    diagnosis: null,
    mostTools,
  },
  cacheRules: openAiCacheRules,
}

function parse(answer: unknown, asked: string): ModelMessage | null {
  if (fieldsOf(answer)?.['object'] !== 'response') return null
  return readWhole(new ResponsesReader(asked), answer)
}
