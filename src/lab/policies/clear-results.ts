// Clearing of old tool results by a plain rule: above a size, or after a pause, all but the newest go. Neither the cache
// nor the price is looked at, as in the policies that this stands for.
import type { Budget, Layer, Proposal } from '../../projection/layer.ts'
import { estimateText } from '../../projection/tokens.ts'
import { turnsOf } from '../../projection/turns.ts'
import type { Part, View } from '../../projection/view.ts'
import type { StubEdit } from '../../transcript/fact.ts'
import { partsOf, resultText } from './parts.ts'
import type { ClearRule } from './rules.ts'

export const clearResultsName = 'clear-results'
const marker = '[cleared]'

/** One for a session: what it has cleared is remembered, because the whole is larger than what is shown. */
export function clearResults(rule: ClearRule): Layer {
  const cleared = new Map<number, number>()
  return {
    name: clearResultsName,
    decide: (view, budget) => {
      const parts = partsOf(view)
      const chosen = chosenOf(parts, view, budget, rule, cleared)
      const saved = (part: Part): number => view.factor * (part.estimate - estimateText(marker))
      const freed = chosen.reduce((sum, part) => sum + saved(part), 0)
      if (chosen.length === 0 || freed < (rule.minFreedTokens ?? 0)) return null
      for (const part of chosen) cleared.set(part.from, saved(part))
      return proposal(chosen, view, freed)
    },
  }
}

function chosenOf(
  parts: readonly Part[],
  view: View,
  budget: Budget,
  rule: ClearRule,
  cleared: ReadonlyMap<number, number>,
): readonly Part[] {
  const results = parts.filter((part) => part.kind === 'result' && part.source[0] !== -1)
  const old = results.slice(0, results.length - kept(parts, results, view.factor, rule))
  const worth = old.filter((part) => part.by === null && part.estimate > 2 * estimateText(marker))
  const whole = (): number =>
    view.tokens + results.reduce((sum, { from, by }) => sum + (by === null ? 0 : (cleared.get(from) ?? 0)), 0)
  const fixed = rule.counts === 'messages' ? view.factor * view.fixedEstimate : 0
  const size = (rule.counts ?? 'shown') === 'shown' ? view.tokens : whole() - fixed
  if (rule.atTokens !== undefined && size >= rule.atTokens) return worth
  const answeredAt = parts.findLast((part) => part.kind === 'answer')?.at
  if (rule.idleMs !== undefined && answeredAt !== undefined && budget.now - answeredAt >= rule.idleMs)
    return worth
  return rule.atChars === undefined ? [] : down(results, worth, rule.atChars, rule.toChars ?? rule.atChars)
}

/** The oldest, until no more than `toChars` are shown. */
function down(
  results: readonly Part[],
  worth: readonly Part[],
  atChars: number,
  toChars: number,
): readonly Part[] {
  let chars = results.reduce((sum, part) => sum + resultText(part).length, 0)
  if (chars <= atChars) return []
  const chosen: Part[] = []
  for (const part of worth) {
    if (chars <= toChars) break
    chars -= resultText(part).length
    chosen.push(part)
  }
  return chosen
}

function proposal(chosen: readonly Part[], view: View, freed: number): Proposal {
  const edits = chosen.map((part): StubEdit => {
    const at = { seq: part.from, block: part.source[0]! }
    return { kind: 'stub', at, text: marker, ref: `${part.from}` }
  })
  const why = `the view takes ${view.tokens} tokens, and ${chosen.length} old results go`
  return { kind: 'edit', edits, why, tokensFreed: Math.round(freed) }
}

/** How many of the newest results stay. */
function kept(parts: readonly Part[], results: readonly Part[], factor: number, rule: ClearRule): number {
  const { keepResults = 0, keepTokens, keepTurns = 0 } = rule
  const newest = keepTurns === 0 ? [] : turnsOf(parts).slice(-keepTurns)
  const from = newest[0]?.from ?? Infinity
  const inTurns = results.filter((part) => part.from >= from).length
  let tokens = 0
  let fitting = 0
  for (const part of keepTokens === undefined ? [] : results.toReversed()) {
    tokens += factor * part.estimate
    if (tokens > keepTokens!) break
    fitting++
  }
  return Math.max(keepResults, inTurns, fitting)
}
