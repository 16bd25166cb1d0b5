// The Messages API as a wire.
import type { ModelMessage } from '../../model/model.ts'
import type { ModelInfo } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import { isRecord, type AssistantBlock } from '../../transcript/content.ts'
import type { CacheRules, Wire } from '../wire.ts'
import { isBlock } from './block-rules.ts'
import { createComposer } from './compose.ts'
import { failureOf } from './failure.ts'
import { checkAnthropic, repairAnthropic, type AnthropicRequest } from './request.ts'
import { MessageReader } from './reader.ts'
import { nothingMore } from '../reading.ts'
import { usageOf, type UsageReport } from '../usage.ts'
import { countIn, onlyFields } from '../../model/count.ts'

export type { AnthropicRequest } from './request.ts'

/** What `count_tokens` takes of a request. */
const counted = new Set(['model', 'tools', 'system', 'messages', 'thinking', 'tool_choice'])

/** The Messages API: cache breakpoints, signed reasoning, clearing by the server. */
export const anthropicWire: Wire<AnthropicRequest> = {
  name: 'anthropic',
  createComposer,
  createReader: () => new MessageReader(),
  parse,
  check: checkAnthropic,
  repair: repairAnthropic,
  failureOf,
  usageOf: (reported) => usageOf(isRecord(reported) ? (reported as UsageReport) : {}),
  count: {
    body: (body) => JSON.stringify(onlyFields(body, counted)),
    tokensIn: (answer) => countIn(answer, 'input_tokens'),
  },
  capabilities: {
    breakpoints: true,
    diagnosis: { beta: 'cache-diagnosis-2026-04-07', answersBegin: 'msg_' },
    mostTools: null,
  },
  cacheRules,
  requestOf: (body, { streaming }) => {
    const { stream: _, ...request } = JSON.parse(body) as AnthropicRequest
    if (streaming) return request
    // The official client refuses to wait for more than this without streaming.
    return { ...request, max_tokens: Math.min(request.max_tokens, defaults.engine.unstreamedOutputTokens) }
  },
}

function parse(answer: unknown): ModelMessage | null {
  if (!isRecord(answer) || !Array.isArray(answer['content'])) return null
  const { id, model, content, stop_reason: stop, usage } = answer
  return {
    messageId: typeof id === 'string' ? id : '',
    model: typeof model === 'string' ? model : '',
    content: (content as readonly unknown[])
      .filter(isBlock)
      .map((block) => block as object as AssistantBlock),
    stop: typeof stop === 'string' ? stop : null,
    usage: anthropicWire.usageOf(usage),
    ...nothingMore,
  }
}

function cacheRules(model: ModelInfo | null): CacheRules {
  const { breakTokens, lookbackPositions } = defaults.request
  return {
    kind: 'explicit',
    lifetimes: ['5m', '1h'],
    readFactor: 0.1,
    writeFactor: 1.25,
    minTokens: model?.minCacheTokens ?? defaults.model.unknownMinCacheTokens,
    stepTokens: 1,
    breaks: { slackTokens: breakTokens, hitsBefore: 0, lookback: lookbackPositions },
  }
}
