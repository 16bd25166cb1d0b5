// Whether a list may be sent on its wire, and what makes it so: the checks and repairs of the wires themselves, without what
// composes or sends a request.
import type { WireName } from '../model/model.ts'
import { checkAnthropic, repairAnthropic, type AnthropicRequest } from '../wires/anthropic/request.ts'
import {
  usageOf as anthropicUsage,
  type UsageReport,
  geminiUsage,
  chatUsage,
  responsesUsage,
} from '../wires/usage.ts'
import { repairGemini } from '../wires/gemini/repair.ts'
import { checkGemini } from '../wires/gemini/validity.ts'
import { repairChat } from '../wires/openai-chat/repair.ts'
import { checkChat } from '../wires/openai-chat/validity.ts'
import { repairResponses } from '../wires/openai-responses/repair.ts'
import { checkResponses } from '../wires/openai-responses/validity.ts'
import type { Fields } from '../wires/reading.ts'
import type { WireProblem, WireRepair, WireTarget } from '../wires/wire.ts'
import { isRecord } from '../transcript/content.ts'
import type { Usage } from '../transcript/fact.ts'

export interface SentTo extends WireTarget {
  /** Of a request for a response: whether the server keeps it. */
  readonly store?: boolean | undefined
}

interface Rules {
  check(messages: readonly unknown[], to: SentTo): readonly WireProblem[]
  repair(
    messages: readonly unknown[],
    to: SentTo,
  ): { readonly messages: readonly unknown[]; readonly repairs: readonly WireRepair[] }
  usage(reported: Fields): Usage | null
}

const anthropicRequest = (messages: readonly unknown[], { model }: SentTo): AnthropicRequest => ({
  model,
  max_tokens: 1,
  messages: messages as object as AnthropicRequest['messages'],
})
const chatRequest = (messages: readonly unknown[], { model }: SentTo) => ({
  model,
  messages: messages as readonly Fields[],
})
const responsesRequest = (messages: readonly unknown[], { model, store }: SentTo) => ({
  model,
  input: messages as readonly Fields[],
  ...(store === undefined ? {} : { store }),
})
const geminiRequest = (messages: readonly unknown[]) => ({ contents: messages as readonly Fields[] })

const rules: Readonly<Record<WireName, Rules>> = {
  anthropic: {
    check: (messages, to) => checkAnthropic(anthropicRequest(messages, to), to),
    repair: (messages, to) => {
      const { request, repairs } = repairAnthropic(anthropicRequest(messages, to), to)
      return { messages: request.messages, repairs }
    },
    usage: (reported) => anthropicUsage(reported as UsageReport),
  },
  'openai-chat': {
    check: (messages, to) => checkChat(chatRequest(messages, to), to),
    repair: (messages, to) => {
      const { request, repairs } = repairChat(chatRequest(messages, to), to)
      return { messages: request.messages, repairs }
    },
    usage: chatUsage,
  },
  'openai-responses': {
    check: (messages, to) => checkResponses(responsesRequest(messages, to)),
    repair: (messages, to) => {
      const { request, repairs } = repairResponses(responsesRequest(messages, to))
      return { messages: typeof request.input === 'string' ? messages : request.input, repairs }
    },
    usage: responsesUsage,
  },
  gemini: {
    check: (messages, to) => checkGemini(geminiRequest(messages), to),
    repair: (messages, to) => {
      const { request, repairs } = repairGemini(geminiRequest(messages), to)
      return { messages: request.contents, repairs }
    },
    usage: geminiUsage,
  },
}

/** A list as one that the wire accepts. What needs no change stays the same object. */
export function repaired(
  wire: WireName,
  messages: readonly unknown[],
  to: SentTo,
): { readonly messages: readonly unknown[]; readonly repairs: readonly WireRepair[] } {
  return rules[wire].check(messages, to).length === 0
    ? { messages, repairs: [] }
    : rules[wire].repair(messages, to)
}

/** What an answer of the wire reports as its `usage`, as `fit` takes it; null where it reports none. */
export const usageIn = (wire: WireName, reported: unknown): Usage | null =>
  isRecord(reported) && Object.hasOwn(rules, wire) ? rules[wire].usage(reported) : null
