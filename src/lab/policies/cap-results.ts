// A cap on single results, decided before a result is sent for the first time and never again: what is too long becomes
// its two ends.
import type { Layer } from '../../projection/layer.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { StubEdit } from '../../transcript/fact.ts'
import { partsOf, resultText } from './parts.ts'
import type { CapRule } from './rules.ts'

export const capResultsName = 'cap-results'

export function capResults({ overChars, keepChars }: CapRule): Layer {
  return {
    name: capResultsName,
    decide: (view) => {
      const edits: StubEdit[] = []
      let freed = 0
      for (const part of partsOf(view)) {
        const isNew = part.from > (view.lastRequest ?? -1)
        if (part.kind !== 'result' || part.by !== null || part.source[0] === -1 || !isNew) continue
        const whole = resultText(part)
        if (whole.length <= overChars) continue
        const end = Math.floor(keepChars / 2)
        const text = `${whole.slice(0, end).toWellFormed()}\n[${whole.length - 2 * end} characters left out]\n${whole.slice(-end).toWellFormed()}`
        edits.push({
          kind: 'stub',
          at: { seq: part.from, block: part.source[0]! },
          text,
          ref: `${part.from}`,
        })
        freed += view.factor * (part.estimate - estimateText(text))
      }
      if (edits.length === 0) return null
      const why = `results above ${overChars} characters are cut`
      return { kind: 'edit', edits, why, tokensFreed: Math.round(freed) }
    },
  }
}
