// The window request by request: who occupied it, what it was charged, which layer changed what, where the cache broke.
import type { CacheUsage } from '../../simulator/index.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part, View } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'

export const holders = ['system', 'tools', 'user', 'assistant', 'results', 'summary'] as const
export type Holder = (typeof holders)[number]

export interface Change {
  readonly layer: string
  readonly why: string
  readonly freed: number
}

export interface Moment {
  readonly at: number
  /** Tokens of the request, in the order of `holders`. */
  readonly held: readonly number[]
  readonly fresh: number
  readonly read: number
  readonly written: number
  /** Cached tokens that had to be sent again; 0 where nothing was lost. */
  readonly lost: number
  readonly isCold: boolean
  readonly changes: readonly Change[]
}

export class Timeline {
  readonly moments: Moment[] = []
  #changes: Change[] = []
  #cached = 0

  change(change: Change): void {
    this.#changes.push(change)
  }

  request(view: View, at: number, usage: CacheUsage, isCold: boolean): void {
    const [fresh, read, written] = [
      usage.input_tokens,
      usage.cache_read_input_tokens,
      usage.cache_creation_input_tokens,
    ]
    const lost = this.#cached - read
    const { breakTokens, breakShare } = defaults.request
    this.moments.push({
      at,
      held: heldBy(view, fresh + read + written),
      fresh,
      read,
      written,
      lost: lost > breakTokens && lost > breakShare * this.#cached ? lost : 0,
      isCold,
      changes: this.#changes,
    })
    this.#changes = []
    this.#cached = read + written
  }
}

/** Whole tokens by holder, scaled so that they sum to what was charged. */
function heldBy(view: View, total: number): readonly number[] {
  const weights = new Map<Holder, number>(holders.map((holder) => [holder, 0]))
  const add = (holder: Holder, weight: number): void =>
    void weights.set(holder, weights.get(holder)! + weight)
  for (const { text } of view.sections) add('system', estimateText(text))
  if (view.reminder !== null) add('system', estimateText(view.reminder))
  for (const tool of view.tools) add('tools', estimateText(JSON.stringify(tool)))
  for (const message of view.messages)
    for (const part of message.parts) add(holderOf(part), part.estimate - part.clearedEstimate)
  const sum = [...weights.values()].reduce((all, weight) => all + weight, 0)
  return holders.map((holder) => (sum === 0 ? 0 : Math.round((weights.get(holder)! / sum) * total)))
}

function holderOf({ kind }: Part): Holder {
  if (kind === 'edit') return 'summary'
  if (kind === 'answer') return 'assistant'
  return kind === 'result' ? 'results' : 'user'
}
