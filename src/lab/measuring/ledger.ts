// What one replay was charged under one cache lifetime, and what each reduction cost and earned there. Money is by the
// prices of whoever answered a request; a request whose price nobody knows is a number of its own and in no sum.
import { price, ratesOf, type ModelInfo } from '../../model/models.ts'
import { promptTokens } from '../../model/usage.ts'
import { defaults } from '../../settings/defaults.ts'
import type { CacheUsage } from '../../simulator/index.ts'
import type { Usage } from '../../transcript/fact.ts'
import type { LookUp } from './recovery.ts'

export type Lifetime = '5m' | '1h'

export interface Tokens {
  readonly fresh: number
  readonly read: number
  readonly written5m: number
  readonly written1h: number
  readonly output: number
}
const nothing: Tokens = { fresh: 0, read: 0, written5m: 0, written1h: 0, output: 0 }

export interface LedgerFigures extends Omit<Tokens, 'output'> {
  readonly dollars: number
  readonly unpriced: number
  /** Input of requests in the background, in equivalents. */
  readonly backgroundInput: number
  readonly largest: number
  readonly reductions: number
  readonly lostMoney: number
  readonly recovery: number
  readonly recoveryDollars: number
}

/** What a ledger is told of one request. */
export interface Entered {
  readonly freed: number
  readonly isSummary: boolean
  readonly lookUp: LookUp
  /** Of the answer; null where its count is not known. */
  readonly output: number | null
  /** Whose prices hold; null where they are not known. */
  readonly info: ModelInfo | null
}

interface Reduction {
  readonly cost: number
  readonly freed: number
  saved: number
  isOver: boolean
}

export class Ledger {
  readonly #lifetime: Lifetime
  readonly #reductions: Reduction[] = []
  #figures = {
    fresh: 0,
    read: 0,
    written5m: 0,
    written1h: 0,
    backgroundInput: 0,
    largest: 0,
    dollars: 0,
    unpriced: 0,
    recovery: 0,
    recoveryDollars: 0,
  }
  #cached = 0

  constructor(lifetime: Lifetime) {
    this.#lifetime = lifetime
  }

  request(
    { freed, isSummary, lookUp, output, info }: Entered,
    { usage, isCold }: { readonly usage: CacheUsage; readonly isCold: boolean },
  ): void {
    const tokens = { ...tokensOf(usage), output: output ?? 0 }
    const { fresh, read, written5m, written1h } = tokens
    const before = this.#figures
    const context = fresh + read + written5m + written1h
    this.#figures = {
      ...before,
      fresh: before.fresh + fresh,
      read: before.read + read,
      written5m: before.written5m + written5m,
      written1h: before.written1h + written1h,
      largest: Math.max(before.largest, context),
    }
    const paid = dollarsOf(tokens, info)
    if (paid === null) this.#figures.unpriced += 1
    else this.#figures.dollars += paid
    this.#recover(lookUp, context, isCold, info)
    const { equivalents } = defaults.lab
    const write = written1h > 0 ? equivalents.write1h : equivalents.write5m
    this.#reduce(freed, isSummary, isCold ? null : Math.max(0, this.#cached - read - freed), write)
    this.#cached = read + written5m + written1h
  }

  /** A request that is counted elsewhere: what it leaves in the cache counts here. */
  follow(usage: CacheUsage): void {
    const { read, written5m, written1h } = tokensOf(usage)
    this.#cached = read + written5m + written1h
  }

  /** A request that is not one of the conversation: a fork or a direct call that writes a text. */
  background(usage: CacheUsage, output: number, info: ModelInfo | null): void {
    const tokens = tokensOf(usage)
    this.#figures.backgroundInput += equivalentsOf(tokens)
    this.#figures.dollars += dollarsOf({ ...tokens, output }, info) ?? 0
  }

  /** A summary that a model would have written: what it reads, and what it puts out. */
  summary(read: number, output: number, info: ModelInfo | null): void {
    this.#figures.dollars += dollarsOf({ ...nothing, read, output }, info) ?? 0
  }

  figures(): LedgerFigures {
    const lost = this.#reductions.filter(({ saved, cost }) => saved < cost)
    return { ...this.#figures, reductions: this.#reductions.length, lostMoney: lost.length }
  }

  #recover({ carried, fetched }: LookUp, context: number, isCold: boolean, info: ModelInfo | null): void {
    const pay = (tokens: Tokens): void => {
      this.#figures.recovery += equivalentsOf(tokens)
      this.#figures.recoveryDollars += dollarsOf(tokens, info, context) ?? 0
    }
    const written = (tokens: number): Partial<Tokens> =>
      this.#lifetime === '5m' ? { written5m: tokens } : { written1h: tokens }
    if (carried > 0) pay({ ...nothing, ...(isCold ? written(carried) : { read: carried }) })
    if (fetched === 0) return
    const output = defaults.lab.lookUpOutputTokens
    pay({ ...nothing, read: context + carried, ...written(fetched), output })
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

const tokensOf = (usage: CacheUsage): Tokens => ({
  fresh: usage.input_tokens,
  read: usage.cache_read_input_tokens,
  written5m: usage.cache_creation.ephemeral_5m_input_tokens,
  written1h: usage.cache_creation.ephemeral_1h_input_tokens,
  output: 0,
})

function equivalentsOf({ fresh, read, written5m, written1h, output }: Tokens): number {
  const { equivalents } = defaults.lab
  return (
    fresh * equivalents.fresh +
    read * equivalents.read +
    written5m * equivalents.write5m +
    written1h * equivalents.write1h +
    output * equivalents.output
  )
}

/** `prompt` is the size of the request that chooses the tier, where it is not that of the tokens. */
function dollarsOf(tokens: Tokens, info: ModelInfo | null, prompt?: number): number | null {
  if (info === null) return null
  const { fresh, read, written5m, written1h, output } = tokens
  const usage: Usage = {
    input: fresh,
    cacheRead: read,
    cacheWrite: written5m + written1h,
    cacheWrite1h: written1h,
    output,
  }
  return (
    price(info, asBilled(info, usage), prompt === undefined ? {} : { promptTokens: prompt })?.total ?? null
  )
}

/** A provider that takes nothing for a write bills what it writes as plain input. */
function asBilled(info: ModelInfo, usage: Usage): Usage {
  const isFree = ratesOf(info, promptTokens(usage))?.write5m === 0
  if (!isFree) return usage
  return { ...usage, input: usage.input + usage.cacheWrite, cacheWrite: 0, cacheWrite1h: 0 }
}
