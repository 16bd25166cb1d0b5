// Whether a list may be sent on its wire, and what makes it so: the checks and repairs of the wires themselves, without what
// composes or sends a request.
import type { WireName } from '../model/model.ts'
import { checkAnthropic, repairAnthropic } from '../wires/anthropic/request.ts'
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
import type { WireProblem, WireRepair, WireRepaired, WireTarget } from '../wires/wire.ts'
import { listNames } from './layouts.ts'
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

/** The rules of a wire for a whole request, asked about its list alone. */
function rulesFor<Request>(
  wire: WireName,
  check: (request: Request, to: SentTo) => readonly WireProblem[],
  repair: (request: Request, to: SentTo) => WireRepaired<Request>,
  usage: Rules['usage'],
): Rules {
  const list = listNames[wire]
  // Checks and repairs look at the list, and of the rest at nothing but whether it is stored.
  const requestOf = (messages: readonly unknown[], { model, store }: SentTo): Request =>
    ({ model, [list]: messages, store }) as Request
  return {
    check: (messages, to) => check(requestOf(messages, to), to),
    repair: (messages, to) => {
      const { request, repairs } = repair(requestOf(messages, to), to)
      return { messages: (request as Readonly<Record<string, readonly unknown[]>>)[list]!, repairs }
    },
    usage,
  }
}

const rules: Readonly<Record<WireName, Rules>> = {
  anthropic: rulesFor('anthropic', checkAnthropic, repairAnthropic, (reported) =>
    anthropicUsage(reported as UsageReport),
  ),
  'openai-chat': rulesFor('openai-chat', checkChat, repairChat, chatUsage),
  'openai-responses': rulesFor('openai-responses', checkResponses, repairResponses, responsesUsage),
  gemini: rulesFor('gemini', checkGemini, repairGemini, geminiUsage),
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
