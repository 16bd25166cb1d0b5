// Turns and rounds of a view. A turn is one real input up to the next; a round is one response with its results, and
// an input belongs to the response that follows it (SPEC, vocabulary).
import type { Range } from '../transcript/fact.ts'
import type { Part } from './view.ts'

export interface Span extends Range {
  readonly parts: readonly Part[]
  readonly estimate: number
}

/** What precedes the first input (a summary, say) is a span of its own, so that nothing is left out. */
export const turnsOf = (parts: Iterable<Part>): Span[] => split(parts, (part) => part.kind === 'input')

/** The rounds of a view: an answer with calls and the results that follow it. */
export function roundsOf(parts: Iterable<Part>): Span[] {
  let answered = false
  let messageId: string | undefined
  return split(parts, (part) => {
    if (part.kind === 'answer') {
      const begins = answered && part.messageId !== messageId
      answered = true
      messageId = part.messageId
      return begins
    }
    const begins = answered && part.kind !== 'result'
    if (begins) answered = false
    return begins
  })
}

function split(parts: Iterable<Part>, begins: (part: Part) => boolean): Span[] {
  const groups: Part[][] = []
  for (const part of parts) {
    if (begins(part) || groups.length === 0) groups.push([part])
    else groups.at(-1)!.push(part)
  }
  return groups.map((group) => ({
    from: group[0]!.from,
    to: group.at(-1)!.to,
    parts: group,
    estimate: group.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0),
  }))
}
