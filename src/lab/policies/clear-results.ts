// Clearing of old tool results by a plain rule: above a size, all but the newest go. Neither the cache nor the price is
// looked at, as in the policies that this stands for.
import type { Budget, Layer, Proposal } from '../../projection/layer.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part, View } from '../../projection/view.ts'
import type { StubEdit } from '../../transcript/fact.ts'

export interface ClearRule {
  /** Size of the view from which on it clears. */
  readonly atTokens: number
  /** Newest results that stay, by count, and by size. */
  readonly keepResults?: number | undefined
  readonly keepTokens?: number | undefined
  /** Less than this is not worth it. */
  readonly minFreedTokens?: number | undefined
}

export const clearResultsName = 'clear-results'
const marker = '[cleared]'

export function clearResults(rule: ClearRule): Layer {
  return { name: clearResultsName, decide: (view, budget) => decide(view, budget, rule) }
}

function decide(view: View, _: Budget, rule: ClearRule): Proposal | null {
  if (view.tokens < rule.atTokens) return null
  const results: Part[] = []
  for (const message of view.messages)
    for (const part of message.parts) if (part.kind === 'result' && part.source[0] !== -1) results.push(part)
  const old = results.slice(0, results.length - kept(results, view.factor, rule))
  const chosen = old.filter((part) => part.by === null && part.estimate > 2 * estimateText(marker))
  const freed = view.factor * chosen.reduce((sum, part) => sum + part.estimate - estimateText(marker), 0)
  if (chosen.length === 0 || freed < (rule.minFreedTokens ?? 0)) return null
  const edits = chosen.map((part): StubEdit => {
    const at = { seq: part.from, block: part.source[0]! }
    return { kind: 'stub', at, text: marker, ref: `${part.from}` }
  })
  const why = `the view takes ${view.tokens} tokens, and above ${rule.atTokens} old results go`
  return { kind: 'edit', edits, why, tokensFreed: Math.round(freed) }
}

/** How many of the newest results stay. */
function kept(results: readonly Part[], factor: number, rule: ClearRule): number {
  let count = rule.keepResults ?? 0
  if (rule.keepTokens === undefined) return count
  let tokens = 0
  let fitting = 0
  for (const part of results.toReversed()) {
    tokens += factor * part.estimate
    if (tokens > rule.keepTokens) break
    fitting++
  }
  count = Math.max(count, fitting)
  return count
}
