// The window request by request: who occupied it, what it was charged, which layer changed what, where the cache broke.
import type { CacheUsage } from '../../simulator/index.ts'
import { price, type ModelInfo } from '../../model/models.ts'
import type { View } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { HolderTokens, shared } from './holder-tokens.ts'

export interface Change {
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
