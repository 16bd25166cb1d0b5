// A request of the Messages API, as far as checks and repairs look at it: without what composes, reads or sends one.
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages'
import type { WireMessage, WireRequest } from '../../model/wire.ts'
import type { WireProblem, WireRepaired, WireTarget } from '../wire.ts'
import { repair } from './repair.ts'
import { problems } from './validity.ts'

/** A request as the official client takes it. */
export type AnthropicRequest = MessageCreateParamsNonStreaming

/** The body as our own types have it; those of the SDK say the same in other words. */
const messagesOf = (request: AnthropicRequest): readonly WireMessage[] =>
  (request as object as WireRequest).messages

const optionsOf = ({ info }: WireTarget) => ({
  prefill: info?.capabilities.prefill,
  systemMessages: info?.capabilities.midConversationSystem,
})

/** Every rule of the Messages API that a request breaks. */
export function checkAnthropic(request: AnthropicRequest, target: WireTarget): readonly WireProblem[] {
  return problems(messagesOf(request), optionsOf(target))
}

/** Any request as one that the Messages API accepts. */
export function repairAnthropic(
  request: AnthropicRequest,
  target: WireTarget,
): WireRepaired<AnthropicRequest> {
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
