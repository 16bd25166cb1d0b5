// What one replay was charged under one cache lifetime, and what each reduction cost and earned there.
import { price, type ModelInfo } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import type { CacheUsage } from '../../simulator/index.ts'

export interface Tokens {
  readonly fresh: number
  readonly read: number
  readonly written5m: number
  readonly written1h: number
  readonly output: number
}
export const nothing: Tokens = { fresh: 0, read: 0, written5m: 0, written1h: 0, output: 0 }

export interface LedgerFigures extends Omit<Tokens, 'output'> {
  readonly dollars: number | null
  /** Input of requests in the background, in equivalents. */
  readonly backgroundInput: number
  readonly largest: number
  readonly reductions: number
  readonly lostMoney: number
}

interface Reduction {
  readonly cost: number
  readonly freed: number
  saved: number
  isOver: boolean
}

export class Ledger {
  readonly #info: ModelInfo | null
  readonly #reductions: Reduction[] = []
  #figures = { fresh: 0, read: 0, written5m: 0, written1h: 0, backgroundInput: 0, largest: 0 }
  #dollars: number | null = 0
  #cached = 0

  constructor(info: ModelInfo | null) {
    this.#info = info
  }

  request(
    { freed, isSummary }: { readonly freed: number; readonly isSummary: boolean },
    { usage, isCold }: { readonly usage: CacheUsage; readonly isCold: boolean },
  ): void {
    const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation: written } = usage
    const written5m = written.ephemeral_5m_input_tokens
    const written1h = written.ephemeral_1h_input_tokens
    const before = this.#figures
    this.#figures = {
      ...before,
      fresh: before.fresh + fresh,
      read: before.read + read,
      written5m: before.written5m + written5m,
      written1h: before.written1h + written1h,
      largest: Math.max(before.largest, fresh + read + written5m + written1h),
    }
    this.pay({ fresh, read, written5m, written1h, output: 0 })
    const { equivalents } = defaults.lab
    const write = written1h > 0 ? equivalents.write1h : equivalents.write5m
    this.#reduce(freed, isSummary, isCold ? null : Math.max(0, this.#cached - read - freed), write)
    this.#cached = read + written5m + written1h
  }

  /** A request that is not one of the conversation: a fork or a direct call that writes a text. */
  background(
    { input_tokens: fresh, cache_read_input_tokens: read, cache_creation }: CacheUsage,
    output: number,
  ): void {
    const { equivalents } = defaults.lab
    const { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h } = cache_creation
    this.#figures.backgroundInput +=
      fresh * equivalents.fresh +
      read * equivalents.read +
      written5m * equivalents.write5m +
      written1h * equivalents.write1h
    this.pay({ fresh, read, written5m, written1h, output })
  }

  pay({ fresh, read, written5m, written1h, output }: Tokens): void {
    if (this.#info === null || this.#dollars === null) return
    const usage = {
      input: fresh,
      cacheRead: read,
      cacheWrite: written5m + written1h,
      cacheWrite1h: written1h,
      output,
    }
    const paid = price(this.#info, usage)
    this.#dollars = paid === null ? null : this.#dollars + paid.total
  }

  figures(): LedgerFigures {
    const lost = this.#reductions.filter(({ saved, cost }) => saved < cost)
    const dollars = this.#info === null ? null : this.#dollars
    return { ...this.#figures, dollars, reductions: this.#reductions.length, lostMoney: lost.length }
  }

  // Under a warm cache a reduction pays for what it made the provider write again; it earns what it took out at every
  // request, until a text stands for the span in which it was made. `again` is null under a cold one.
  #reduce(freed: number, isSummary: boolean, again: number | null, write: number): void {
    const { read } = defaults.lab.equivalents
    if (freed > 0) {
      if (isSummary) for (const earlier of this.#reductions) earlier.isOver = true
      this.#reductions.push({ cost: (again ?? 0) * (write - read), freed, saved: 0, isOver: false })
    }
    for (const reduction of this.#reductions)
      if (!reduction.isOver) reduction.saved += reduction.freed * (again === null ? write : read)
  }
}
