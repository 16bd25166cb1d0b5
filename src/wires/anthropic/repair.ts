// Makes any list of messages one that the Messages API accepts, and says what it changed. Pure: the transcript is
// never touched, the input never mutated. What needs no change leaves as the same object; repairing twice changes nothing.
// Its passes, in order: shape, reasoning, breakpoints, joining, pairing, joining again, ends, breakpoint limits.
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import { defaults } from '../../settings/defaults.ts'
import { isBlock, isReasoningType } from './block-rules.ts'
import { toMessage, newRepairLog, type Draft, type RepairLog, type Repair } from './repair/draft.ts'
import { limitBreakpoints, moveBreakpoints, type BreakpointLimits } from './repair/breakpoint-limits.ts'
import { boundMessages, fillMessage, joinMessages } from './repair/order.ts'
import { pairCalls, pairServerTools } from './repair/pairing.ts'
import { keepSendable, unbound, type ReasoningOptions, type ReasoningOrigin } from './repair/reasoning.ts'
import { shapeMessage, type ShapeOptions } from './repair/shape.ts'

export type { Repair, RepairRule } from './repair/draft.ts'
export type { ReasoningOrigin } from './repair/reasoning.ts'

export interface RepairOptions {
  /** The model that will read the messages. */
  readonly model: string
  /** It refuses reasoning whose prefix has changed. */
  readonly bindsPrefix?: boolean | undefined
  /** Where a reasoning block comes from; unknown origin counts as the model's own. Asked by block identity. */
  readonly origin?: ((block: WireBlock) => ReasoningOrigin | undefined) | undefined
  /** False after the provider has refused the reasoning: all of it is left out. */
  readonly keepReasoning?: boolean | undefined
  /** Breakpoints that the messages may carry: the provider's limit less those in tools and system. */
  readonly maxBreakpoints?: number | undefined
  /** The last message may be an answer to be continued (older models; a paused turn). */
  readonly prefill?: boolean | undefined
  /** The model knows system messages among the others. */
  readonly systemMessages?: boolean | undefined
  /** Keys beyond the public ones that this provider accepts on blocks. */
  readonly extraKeys?: readonly string[] | undefined
}

export interface Repaired {
  readonly messages: readonly WireMessage[]
  readonly repairs: readonly Repair[]
  /**
   * False while the answer whose tools are running does not begin with reasoning: a request that switches thinking on
   * by hand (`enabled`) is then refused and must be sent without it.
   */
  readonly allowsManualThinking: boolean
}

/** One wire format's repair. Others will stand beside the Messages API. */
export interface Repairer {
  readonly name: string
  repair(messages: readonly WireMessage[], options: RepairOptions): Repaired
}

type Options = ShapeOptions & ReasoningOptions & BreakpointLimits & { readonly prefill: boolean }

const filledIn = (options: RepairOptions): Options => ({
  model: options.model,
  bindsPrefix: options.bindsPrefix ?? false,
  origin: options.origin ?? (() => undefined),
  keepReasoning: options.keepReasoning ?? true,
  maxBreakpoints: options.maxBreakpoints ?? defaults.request.maxBreakpoints,
  prefill: options.prefill ?? false,
  systemMessages: options.systemMessages ?? false,
  extraKeys: options.extraKeys ?? [],
})

/** Makes a list of messages valid for the API and says what it changed. */
export function repair(messages: readonly WireMessage[], given: RepairOptions): Repaired {
  const options = filledIn(given)
  const log = newRepairLog()
  const shape = messages.flatMap((message, at) => shapeMessage(message, at, options, log))
  const sendable = moveBreakpoints(keepSendable(shape, options, log), log)
  const whole = arranged(sendable, options, log)
  const free =
    options.bindsPrefix && log.repairs.length > 0 ? unbound(messages, whole, options.origin, log) : whole
  // Reasoning that had to go may leave a message empty, so the order is settled once more.
  const settled = free === whole ? whole : arranged(free, options, log)
  const drafts = limitBreakpoints(settled, options, log)
  const out = log.repairs.length === 0 ? messages : drafts.map(toMessage)
  return { messages: out, repairs: log.repairs, allowsManualThinking: allowsManualThinking(out) }
}

function arranged(drafts: readonly Draft[], options: Options, log: RepairLog): readonly Draft[] {
  const pieces = joinMessages(drafts, log)
  const last = pieces.at(-1)
  // A paused turn goes on where it stopped, unless it also waits for us.
  const paused =
    options.prefill && last?.blocks.some((block) => block.type === 'tool_use') === false ? last : null
  const served = pairServerTools(pieces, paused, log)
  const pairs = joinMessages(pairCalls(joinMessages(served, log), log), log)
  return boundMessages(
    pairs.map((draft) => fillMessage(draft, log)),
    options.prefill,
    log,
  )
}

/** A tool loop is one turn: what counts is how its first answer begins. */
function allowsManualThinking(messages: readonly WireMessage[]): boolean {
  if (!carriesResults(messages.at(-1))) return true
  const asked = messages.findLastIndex((message) => message.role === 'user' && !carriesResults(message))
  const answer = messages.slice(asked + 1).find((message) => message.role === 'assistant')
  const first = Array.isArray(answer?.content) ? answer.content[0] : undefined
  return isBlock(first) && isReasoningType(first.type)
}
const carriesResults = (message: WireMessage | undefined): boolean =>
  Array.isArray(message?.content) &&
  message.content.some((block) => isBlock(block) && block.type === 'tool_result')

/** `origin` for callers who know the maker of each message: one name, or null, per message. */
export function originByMessage(
  messages: readonly WireMessage[],
  makers: readonly (string | null)[],
): (block: WireBlock) => ReasoningOrigin | undefined {
  const byBlock = new Map<WireBlock, ReasoningOrigin>()
  messages.forEach((message, index) => {
    if (typeof message.content === 'string') return
    for (const block of message.content)
      byBlock.set(block, { model: makers[index] ?? null, afterRepair: false })
  })
  return (block) => byBlock.get(block)
}

/** The repair of messages for the Messages API. */
export const anthropicRepairer: Repairer = { name: 'anthropic-messages', repair }
