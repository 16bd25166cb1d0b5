// What the caller says of single messages and tools: messages that stay word for word, and how much of a tool's results passes whole.
import type { FitOptions } from './contract.ts'
import { saidIn } from './facts.ts'
import { isAnswer, type ForeignRequest, type Unit } from './layouts.ts'
import type { Piece } from './messages.ts'
import type { LargeResult } from './trim.ts'

export interface Held {
  /** Whether it stands in a message that is pinned. */
  readonly isPinned: (unit: Unit) => boolean
  /** Results that may be shortened, each with the limit of its tool; `share` below one where the window asks for less. */
  readonly shortenable: (results: readonly LargeResult[], share: number) => readonly LargeResult[]
}

export function heldBy(
  request: ForeignRequest,
  pieces: readonly Piece[],
  messages: readonly unknown[],
  { pins, toolPolicies = {} }: FitOptions,
): Held {
  const isPinned = ({ message }: Unit): boolean => {
    const origin = pieces[message]?.origin
    return pins !== undefined && origin !== undefined && pins(messages[origin], origin)
  }
  const names = Object.keys(toolPolicies).length === 0 ? new Map<string, string>() : toolNames(request)
  const mostOf = (call: string): number | null | undefined => {
    const name = names.get(call)
    return name !== undefined && Object.hasOwn(toolPolicies, name)
      ? toolPolicies[name]!.maxResultChars
      : undefined
  }
  return {
    isPinned,
    shortenable: (results, share) =>
      results.flatMap((result) => {
        const most = mostOf(result.call)
        if (most === null || isPinned(request.units[result.unit]!)) return []
        return [most === undefined ? result : { ...result, most: most * share }]
      }),
  }
}

/** Which tool each call is of. */
function toolNames(request: ForeignRequest): ReadonlyMap<string, string> {
  const answers = request.units.filter(({ role }) => isAnswer(role))
  return new Map(
    saidIn(request, answers).flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === 'tool_use' && 'id' in block ? [[block.id, block.name] as const] : [],
      ),
    ),
  )
}
