// Autocompact: the last layer. At the threshold it asks for a summary of everything in sight; who carries that out
// decides how much of the newest stays. What earlier layers freed has been counted by then.
import type { Layer } from '../layer.ts'

export const autocompactName = 'autocompact'

export function autocompact(): Layer {
  return {
    name: autocompactName,
    decide: (view, budget) => {
      const first = view.messages.at(0)
      const last = view.messages.last()
      if (first === undefined || last === undefined || view.tokens < budget.threshold) return null
      return { kind: 'ask', span: { from: first.from, to: last.to }, want: 'summary', when: 'now' }
    },
  }
}
