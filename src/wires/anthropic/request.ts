// A request of the Messages API, as far as checks and repairs look at it: without what composes, reads or sends one.
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages'
import type { WireMessage, WireRequest } from '../../model/wire.ts'
import type { WireProblem, WireRepaired, WireTarget } from '../wire.ts'
import { isBlock, isServerCall, isServerResult } from './block-rules.ts'
import { repair } from './repair.ts'
import { problems } from './validity.ts'

/** A request as the official client takes it. */
export type AnthropicRequest = MessageCreateParamsNonStreaming

/** The body as our own types have it; those of the SDK say the same in other words. */
const messagesOf = (request: AnthropicRequest): readonly WireMessage[] =>
  (request as object as WireRequest).messages

const optionsOf = (messages: readonly WireMessage[], { info }: WireTarget) => ({
  prefill: info?.capabilities.prefill === true || isPaused(messages),
  systemMessages: info?.capabilities.midConversationSystem,
})

/** A turn that the provider paused in its own tools goes on from where it stands, whatever the model. */
function isPaused(messages: readonly WireMessage[]): boolean {
  const last = messages.at(-1)
  const block = last?.role === 'assistant' && Array.isArray(last.content) ? last.content.at(-1) : undefined
  return isBlock(block) && (isServerCall(block.type) || isServerResult(block.type))
}

/** Every rule of the Messages API that a request breaks. */
export function checkAnthropic(request: AnthropicRequest, target: WireTarget): readonly WireProblem[] {
  const messages = messagesOf(request)
  return problems(messages, optionsOf(messages, target))
}

/** Any request as one that the Messages API accepts. */
export function repairAnthropic(
  request: AnthropicRequest,
  target: WireTarget,
): WireRepaired<AnthropicRequest> {
  const given = messagesOf(request)
  const { messages, repairs } = repair(given, {
    ...optionsOf(given, target),
    model: target.model,
    bindsPrefix: target.info?.capabilities.bindsPrefix,
  })
  if (repairs.length === 0) return { request, repairs: [] }
  return {
    request: { ...request, messages: messages as object as AnthropicRequest['messages'] },
    repairs,
  }
}
