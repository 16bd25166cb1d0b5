// Who holds the window at a request, in estimated tokens. Most of a view is the same as at the request before it, so only
// messages behind the first that differs are counted again.
import { estimateText, estimateTool } from '../../projection/tokens.ts'
import type { Message, Part, View } from '../../projection/view.ts'

export const holders = ['system', 'tools', 'user', 'assistant', 'results', 'summary'] as const
export type Holder = (typeof holders)[number]

/** Estimates in the order of `holders`. */
export type Weights = readonly number[]

interface Counted {
  readonly message: Message
  /** Sums of everything up to and with it. */
  readonly sums: Weights
}

export class HolderTokens {
  #counted: Counted[] = []
  #fixed: { readonly sections: unknown; readonly tools: unknown; readonly weights: Weights } | null = null

  /** `isGrown`: since the last time entries have only been added, so that the beginning need not be compared. */
  weigh(view: View, isGrown: boolean): Weights {
    const { messages } = view
    let same = Math.min(this.#counted.length, messages.length)
    if (isGrown) while (same > 0 && this.#counted[same - 1]!.message !== messages.at(same - 1)) same--
    else {
      let first = 0
      while (first < same && this.#counted[first]!.message === messages.at(first)) first++
      same = first
    }
    this.#counted.length = same
    for (const message of messages.slice(same)) {
      const before = this.#counted.at(-1)?.sums ?? nothing
      this.#counted.push({ message, sums: withMessage(before, message) })
    }
    const said = this.#counted.at(-1)?.sums ?? nothing
    const fixed = this.#fixedOf(view)
    return said.map((weight, at) => weight + fixed[at]!)
  }

  #fixedOf({ sections, tools, reminder }: View): Weights {
    if (this.#fixed?.sections !== sections || this.#fixed.tools !== tools) {
      const weights = [...nothing]
      weights[at.system] = sections.reduce((sum, { text }) => sum + estimateText(text), 0)
      if (reminder !== null) weights[at.system]! += estimateText(reminder)
      weights[at.tools] = tools.reduce((sum, tool) => sum + estimateTool(tool), 0)
      this.#fixed = { sections, tools, weights }
    }
    return this.#fixed.weights
  }
}

const nothing: Weights = holders.map(() => 0)
const at = Object.fromEntries(holders.map((holder, index) => [holder, index])) as Record<Holder, number>

function withMessage(sums: Weights, { parts }: Message): Weights {
  const added = [...sums]
  for (const part of parts) added[at[holderOf(part)]]! += part.estimate - part.clearedEstimate
  return added
}

function holderOf({ kind }: Part): Holder {
  if (kind === 'edit') return 'summary'
  if (kind === 'answer') return 'assistant'
  return kind === 'result' ? 'results' : 'user'
}

/** Whole numbers in proportion to the weights that sum to the total: what rounding leaves goes to those who lost most by it. */
export function shared(weights: Weights, total: number): readonly number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const exact = weights.map((weight) => (sum === 0 ? 0 : (weight / sum) * total))
  const whole = exact.map(Math.floor)
  const left = sum === 0 ? 0 : Math.round(total) - whole.reduce((all, one) => all + one, 0)
  const order = exact.map((value, index) => ({ index, rest: value % 1 })).toSorted((a, b) => b.rest - a.rest)
  for (const { index } of order.slice(0, left)) whole[index]!++
  return whole
}
