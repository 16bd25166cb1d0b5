// The tool-result budget on what travels together: each result passed the gate when it was produced, but
// parallel results share one user message. Only results that were never sent may still be written out: what was sent
// is frozen, replaced or whole, and that needs no state, since the transcript says where the last request was.
import type { BlockRef } from '../../transcript/fact.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Layer } from '../layer.ts'
import type { Part, View } from '../view.ts'
import { leftAlone } from './survey.ts'
import { ruleOf, type PolicyOf } from './tool-policy.ts'
import { whole } from '../../transcript/whole.ts'

export const toolResultBudgetName = 'tool-result-budget'

export interface BudgetOptions {
  readonly policyOf?: PolicyOf | undefined
  readonly messageChars?: number | undefined
}

interface Result {
  readonly at: BlockRef
  readonly chars: number
  /** How much leaving it whole costs beyond its preview. */
  readonly saves: number
  /** Largest size in which it may stay. */
  readonly limit: number
}

export function toolResultBudget(options: BudgetOptions = {}): Layer {
  const limit = options.messageChars ?? defaults.results.messageChars
  return {
    name: toolResultBudgetName,
    ownResultsOnly: true,
    decide: (view, { ownFrom = 0 }) => {
      // Until a fork's first request has gone out, the newest results are its parent's.
      if (ownFrom > 0 && (view.lastRequest ?? -1) < ownFrom) return null
      const last = view.messages.last()
      if (last === undefined || last.role !== 'user') return null
      const isLeft = leftAlone(view)
      let sum = 0
      const fresh: Result[] = []
      for (const part of last.parts) {
        if (part.kind !== 'result') continue
        sum += charsOf(part)
        if (isFresh(view, part) && !isLeft(part)) fresh.push(...spillable(part, options.policyOf))
      }
      return proposal(fresh, sum, limit)
    },
  }
}

function proposal(fresh: readonly Result[], sum: number, limit: number) {
  const chosen: BlockRef[] = []
  let left = sum
  for (const result of fresh.toSorted((a, b) => b.chars - a.chars || a.at.seq - b.at.seq)) {
    if (left <= limit && result.chars <= result.limit) continue
    chosen.push(result.at)
    left -= result.saves
  }
  if (chosen.length === 0) return null
  const why =
    sum > limit
      ? `the results of one message had ${whole(sum)} characters together, and ${whole(limit)} may travel in one`
      : 'a result was larger than its tool allows'
  return { kind: 'spill', at: chosen, why } as const
}

const isFresh = (view: View, part: Part): boolean =>
  part.by === null && part.from > (view.lastRequest ?? -1) && part.source[0] !== -1

function spillable(part: Part, policyOf: PolicyOf | undefined): readonly Result[] {
  const { maxResultChars } = ruleOf(policyOf, part.tool)
  if (maxResultChars === null || hasMedia(part)) return []
  const chars = charsOf(part)
  const { headBytes, tailBytes } = defaults.results
  // A preview takes both ends and some words around them; below that nothing is won.
  const saves = chars - 2 * (headBytes + tailBytes)
  if (saves <= 0) return []
  return [{ at: { seq: part.from, block: part.source[0]! }, chars, saves, limit: maxResultChars }]
}

const hasMedia = (part: Part): boolean =>
  part.blocks.some((block) => 'is_error' in block && block.content.some((inner) => inner.type !== 'text'))

/** Characters of text; images are no text and are never written out. */
export function charsOf(part: Part): number {
  let chars = 0
  for (const block of part.blocks) {
    if (block.type !== 'tool_result' || !('is_error' in block)) continue
    for (const inner of block.content) if (inner.type === 'text') chars += inner.text.length
  }
  return chars
}
