// When notes are due: enough tokens of conversation for the first, later enough added since the last update
// together with enough calls or a natural pause. Counted over the entries since, so that a resume goes on where it was.
// An update reads the whole talk, so in a long one more must have come: the price of notes stays a share of what is new.
import type { Fold } from '../../projection/fold.ts'
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Seq } from '../../transcript/ids.ts'

export function isDue(fold: Fold, covered: Seq | undefined): boolean {
  const { firstTokens, furtherTokens, furtherShare, calls } = defaults.notes
  const { factor, tokens: inView } = fold.view()
  const since = [...fold.parts()].filter((part) => covered === undefined || part.from > covered)
  const tokens = factor * since.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0)
  if (covered === undefined) return tokens >= firstTokens
  if (tokens < Math.max(furtherTokens, furtherShare * inView)) return false
  const last = since.findLast((part) => part.kind === 'answer')
  return last === undefined || callsIn([last]) === 0 || callsIn(since) >= calls
}

const callsIn = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + part.blocks.filter((block) => block.type === 'tool_use').length, 0)
