// The window request by request: who occupied it (in estimated tokens), what it was charged, which layer changed what, where the
// cache broke. Most of a view is the same as at the request before it, so only messages behind the first that differs are counted
// again.
import { price, type ModelInfo } from '../../model/models.ts'
import { estimateText, estimateTool } from '../../projection/tokens.ts'
import type { Message, Part, View } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import type { CacheUsage } from '../../simulator/index.ts'

interface Change {
  readonly layer: string
  readonly why: string
  readonly freed: number
}

export interface Moment {
  readonly at: number
  /** Tokens of the request, in the order of `holders`; they sum to what was charged. */
  readonly byHolder: readonly number[]
  readonly fresh: number
  readonly read: number
  readonly written: number
  /** Of the recorded answer; 0 where it is not known. */
  readonly output: number
  /** Null where nobody knows the price. */
  readonly dollars: number | null
  /** Cached tokens that had to be sent again; 0 where nothing was lost. */
  readonly lost: number
  readonly isCold: boolean
  readonly changes: readonly Change[]
}

export class Timeline {
  readonly moments: Moment[] = []
  #changes: Change[] = []
  #cached = 0
  readonly #byHolder = new HolderTokens()

  change(change: Change): void {
    this.#changes.push(change)
  }

  request(
    view: View,
    at: number,
    usage: CacheUsage,
    {
      isCold,
      output,
      info,
    }: { readonly isCold: boolean; readonly output: number | null; readonly info: ModelInfo | null },
  ): void {
    const [fresh, read, written] = [
      usage.input_tokens,
      usage.cache_read_input_tokens,
      usage.cache_creation_input_tokens,
    ]
    const lost = this.#cached - read
    const { breakTokens, breakShare } = defaults.request
    this.moments.push({
      at,
      byHolder: shared(this.#byHolder.weigh(view, false), fresh + read + written),
      fresh,
      read,
      written,
      output: output ?? 0,
      dollars: info === null ? null : paidFor(info, usage, output ?? 0),
      lost: lost > breakTokens && lost > breakShare * this.#cached ? lost : 0,
      isCold,
      changes: this.#changes,
    })
    this.#changes = []
    this.#cached = read + written
  }
}

function paidFor(info: ModelInfo, usage: CacheUsage, output: number): number | null {
  const { ephemeral_1h_input_tokens: long } = usage.cache_creation
  const counted = {
    input: usage.input_tokens,
    cacheRead: usage.cache_read_input_tokens,
    cacheWrite: usage.cache_creation_input_tokens,
    cacheWrite1h: long,
    output,
  }
  return price(info, counted)?.total ?? null
}

export const holders = ['system', 'tools', 'user', 'assistant', 'results', 'summary'] as const
type Holder = (typeof holders)[number]

/** Estimates in the order of `holders`. */
type Weights = readonly number[]

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
