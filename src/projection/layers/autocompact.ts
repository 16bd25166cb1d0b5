// Autocompact: the last layer. It asks for a summary of everything in sight; who carries that out decides how much of
// the newest stays. What earlier layers freed has been counted by then. The threshold is the last moment; the
// economy may choose an earlier one, as far as the dial lets it.
//
// When that is: carrying what a boundary would put away is paid at every request, the boundary itself once. Whoever
// waits until both have cost the same is near the best for any growth, and never pays much more than twice the least.
//
// Results that became stubs are counted as if they still stood there. So clearing does not put a boundary off: it comes
// when it would have come without, every request before it is smaller, and what clearing saves is saved.
import { defaults } from '../../settings/defaults.ts'
import { allowanceOf, type DialPoint } from '../dial.ts'
import type { Budget, Layer } from '../layer.ts'
import type { Part, View } from '../view.ts'
import { plainRates } from './pricing.ts'
import { whole } from '../../transcript/whole.ts'

export const autocompactName = 'autocompact'

/** Without a point it speaks at the threshold alone. */
export function autocompact(point: DialPoint | null = null, asksModel = false): Layer {
  return {
    name: autocompactName,
    makesRoom: true,
    isDue: (view, budget) => point !== null && isEarly(view, budget, point, asksModel),
    decide: (view, budget) => {
      const first = view.messages.at(0)
      const last = view.messages.last()
      if (first === undefined || last === undefined) return null
      const isFull = view.tokens >= budget.threshold
      // On the prefix of another session nothing is saved by an early one.
      const isOwn = (budget.ownFrom ?? 0) === 0
      if (!isFull && !(isOwn && point !== null && isEarly(view, budget, point, asksModel))) return null
      const why = isFull
        ? `the view takes ${whole(view.tokens)} tokens; at ${whole(budget.threshold)} it is compacted`
        : 'carrying the older part along has cost more than compacting it'
      return { kind: 'ask', span: { from: first.from, to: last.to }, text: 'summary', why }
    },
  }
}

/** Whether a boundary now is cheaper than going on. */
export function isEarly(view: View, budget: Budget, point: DialPoint, asksModel = false): boolean {
  const { rates, room, isWarm } = budget
  const { read, write, output } = rates ?? plainRates
  const { tailTokens, excerptTokens, detailTokens, textTokens } = allowanceOf(point, room)
  const after = tailTokens + excerptTokens + detailTokens + textTokens
  const excess = view.tokens - view.factor * view.fixedEstimate - after
  const asked = asksModel ? read * view.tokens + output * defaults.dial.summaryTokens : 0
  return isBoundaryDue({ excess, since: () => sinceBoundary(view), after, isWarm, read, write, asked }, point)
}

export interface BoundaryNumbers {
  /** Tokens of the conversation above what a boundary leaves. */
  readonly excess: number
  /** Asked for only where the excess is large enough: most requests end before. */
  readonly since: () => Since
  /** What a boundary leaves beside system prompt and tools. */
  readonly after: number
  readonly isWarm: boolean
  readonly read: number
  readonly write: number
  /** What asking a model for the text costs. */
  readonly asked: number
}

/** Whether carrying what a boundary would put away has cost more than the boundary does. */
export function isBoundaryDue(numbers: BoundaryNumbers, point: DialPoint): boolean {
  const { excess, after, isWarm, read, write, asked } = numbers
  if (excess < point.leastTokens) return false
  const { sizes, grown, cleared } = numbers.since()
  if (grown < point.leastTokens) return false
  // On a cold cache everything is written again in any case.
  if (!isWarm) return (excess + cleared) * write >= point.coldTokens * read * defaults.dial.coldWrite
  const carried = sizes.reduce((sum, size) => sum + read * Math.max(0, size - after), 0)
  return carried >= point.carry * (Math.max(0, write - read) * after + asked)
}

export interface Since {
  /** What the conversation took at each request since the last boundary, nothing cleared. */
  readonly sizes: readonly number[]
  /** What has come since. */
  readonly grown: number
  /** What stubs have taken the place of. */
  readonly cleared: number
}

/** Read from the view itself, so that it is the same after a resume: an answer stands for the request it answers. */
function sinceBoundary(view: View): Since {
  const answers: { readonly at: number; readonly size: number }[] = []
  let boundary = -1
  let size = 0
  let before = 0
  let cleared = 0
  for (const message of view.messages) {
    for (const part of message.parts) {
      if (part.kind === 'edit' && part.edit !== null && part.by === autocompactName && part.edit > boundary)
        boundary = part.edit
      if (part.kind === 'answer') answers.push({ at: part.from, size: view.factor * size })
      const gone = goneFrom(part)
      size += part.estimate - part.clearedEstimate + gone
      cleared += gone
      if (part.from <= boundary) before = size
    }
  }
  const sizes = answers.filter(({ at }) => at > boundary).map((answer) => answer.size)
  return { sizes, grown: view.factor * (size - before), cleared: view.factor * cleared }
}

/**
 * What a cheap layer has taken from it. A little more than the estimate says: counted too low it would put the boundary
 * off. What a boundary itself has made smaller is gone with the rest of what it put away.
 */
function goneFrom({ by, wholeEstimate, estimate, clearedEstimate }: Part): number {
  if (by === autocompactName) return 0
  const gone = clearedEstimate + (wholeEstimate === undefined ? 0 : wholeEstimate - estimate)
  return gone === 0 ? 0 : defaults.dial.clearedWeight * gone
}
