// The Messages API as a wire.
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages'
import type { ModelMessage } from '../../model/model.ts'
import type { ModelInfo } from '../../model/models.ts'
import type { WireMessage, WireRequest } from '../../model/wire.ts'
import { defaults } from '../../settings/defaults.ts'
import { isRecord, type AssistantBlock } from '../../transcript/content.ts'
import { stopKindOf } from '../../transcript/stop.ts'
import type { CacheRules, Wire, WireProblem, WireRepaired, WireTarget } from '../wire.ts'
import { isBlock } from './block-rules.ts'
import { createComposer } from './compose.ts'
import { failureOf } from './failure.ts'
import { MessageReader } from './reader.ts'
import { repair } from './repair.ts'
import { usageOf, type UsageReport } from './usage.ts'
import { problems } from './validity.ts'

/** A request as the official client takes it. */
export type AnthropicRequest = MessageCreateParamsNonStreaming

/** The Messages API: cache breakpoints, signed reasoning, clearing by the server. */
export const anthropicWire: Wire<AnthropicRequest> = {
  name: 'anthropic',
  createComposer,
  createReader: () => new MessageReader(),
  parse,
  check,
  repair: repaired,
  failureOf,
  usageOf: (reported) => usageOf(isRecord(reported) ? (reported as UsageReport) : {}),
  stopOf: (word) => stopKindOf(word),
  capabilities: {
    breakpoints: true,
    contextManagement: true,
    imagesInResults: true,
    documents: true,
    argumentsAsText: false,
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
    appliedEdits: [],
    inputTransformations: [],
    diagnostics: null,
  }
}

/** The body as our own types have it; those of the SDK say the same in other words. */
const messagesOf = (request: AnthropicRequest): readonly WireMessage[] =>
  (request as object as WireRequest).messages

const optionsOf = ({ info }: WireTarget) => ({
  prefill: info?.capabilities.prefill,
  systemMessages: info?.capabilities.midConversationSystem,
})

function check(request: AnthropicRequest, target: WireTarget): readonly WireProblem[] {
  return problems(messagesOf(request), optionsOf(target))
}

function repaired(request: AnthropicRequest, target: WireTarget): WireRepaired<AnthropicRequest> {
  const { messages, repairs } = repair(messagesOf(request), {
    ...optionsOf(target),
    model: target.model,
    bindsPrefix: target.info?.capabilities.bindsPrefix,
  })
  if (repairs.length === 0) return { request, repairs: [] }
  return {
    request: { ...request, messages: messages as object as AnthropicRequest['messages'] },
    repairs,
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
