// What a session has cost, folded from its answers. A rewind gives nothing back: what was paid stays paid.
import { defaults } from '../../settings/defaults.ts'
import { lookUp, price, ratesOf, type ModelTable } from '../../model/models.ts'
import { promptTokens } from '../../model/usage.ts'
import type { TokenRates } from '../../projection/economy.ts'
import { estimateBlocks } from '../../projection/tokens.ts'
import type { AssistantBlock } from '../../transcript/content.ts'
import type { StoredEntry, Usage } from '../../transcript/fact.ts'
import { isKnown } from '../../transcript/fact.ts'
import { isLong, type Lifetime } from '../../transcript/lifetime.ts'
import { whole } from '../../transcript/whole.ts'

export interface Spent {
  readonly requests: number
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly dollars: number
  /** Answers of models whose price nobody knows; their tokens count, their dollars do not. */
  readonly unpriced: number
  /** What forks that have ended took, beside the session's own. */
  readonly forkTokens: number
  readonly forkDollars: number
}

export interface Caps {
  readonly dollars?: number | undefined
  /** All tokens, cache reads included. */
  readonly tokens?: number | undefined
}

export const nothingSpent: Spent = {
  requests: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  dollars: 0,
  unpriced: 0,
  forkTokens: 0,
  forkDollars: 0,
}

export function spend(spent: Spent, entry: StoredEntry, table: ModelTable): Spent {
  if (!isKnown(entry)) return spent
  const { fact } = entry
  if (fact.type === 'fork-end' && fact.spent !== undefined) {
    const { tokens, dollars } = fact.spent
    return { ...spent, forkTokens: spent.forkTokens + tokens, forkDollars: spent.forkDollars + dollars }
  }
  if (fact.type !== 'assistant-message' || fact.usage === undefined) return spent
  return withUsage(spent, fact.usage, dollarsOf(table, fact.model, fact.usage))
}

function withUsage(spent: Spent, usage: Usage, dollars: number | null): Spent {
  return {
    ...spent,
    requests: spent.requests + 1,
    input: spent.input + usage.input,
    cacheRead: spent.cacheRead + usage.cacheRead,
    cacheWrite: spent.cacheWrite + usage.cacheWrite,
    output: spent.output + usage.output,
    dollars: spent.dollars + (dollars ?? 0),
    unpriced: spent.unpriced + (dollars === null ? 1 : 0),
  }
}

/**
 * A server that reports nothing, or no prompt, is not free: caps and sums take what was sent and said by our own count. So
 * they do where it reports more than `window` could hold many times over, which would leave no room for any request.
 */
export function countedUsage(
  { content, usage }: { readonly content: readonly AssistantBlock[]; readonly usage: Usage },
  sent: number,
  window: number,
): Usage {
  if (promptTokens(usage) > defaults.model.absurdWindows * Math.max(window, sent))
    return { input: sent, cacheRead: 0, cacheWrite: 0, output: estimateBlocks(content), estimated: true }
  if (promptTokens(usage) > 0 || (content.length === 0 && isFree(usage))) return usage
  const output = usage.output > 0 ? usage.output : estimateBlocks(content)
  return { ...usage, input: sent, output, estimated: true }
}

export const isFree = ({ input, cacheRead, cacheWrite, output }: Usage): boolean =>
  input + cacheRead + cacheWrite + output === 0

/** A session with all its forks: what a cap is held against. */
export interface Total {
  readonly tokens: number
  readonly dollars: number
}

export const totalOf = (spent: Spent): Total => ({
  tokens: spent.input + spent.cacheRead + spent.cacheWrite + spent.output + spent.forkTokens,
  dollars: spent.dollars + spent.forkDollars,
})

export function dollarsOf(table: ModelTable, model: string, usage: Usage): number | null {
  const info = lookUp(table, model)
  return info === null ? null : (price(info, usage)?.total ?? null)
}

const perTokens = 1_000_000

/** Dollars for one token of a prompt of this size, or null where no price is known. */
export function tokenRates(
  table: ModelTable,
  model: string,
  lifetime: Lifetime | null,
  prompt: number,
): TokenRates | null {
  const info = lookUp(table, model)
  const rates = info === null ? null : ratesOf(info, prompt)
  if (rates === null) return null
  const written = lifetime === null ? 0 : isLong(lifetime) ? rates.write1h : rates.write5m
  // A provider that names no price for writing takes that of plain input.
  const write = written === 0 ? rates.input : written
  return {
    fresh: rates.input / perTokens,
    read: rates.read / perTokens,
    write: write / perTokens,
    output: rates.output / perTokens,
  }
}

/** Why the next request may not be sent, with the numbers, or null. Asked before the call. */
export function capRefusal(
  caps: Caps,
  spent: Total,
  next: {
    readonly model: string
    readonly tokens: number
    readonly cached: number
    readonly lifetime: Lifetime | null
  },
  table: ModelTable,
): string | null {
  if (caps.tokens !== undefined && spent.tokens + next.tokens > caps.tokens) {
    return `this request would take ${whole(next.tokens)} tokens, ${whole(spent.tokens)} are spent, and the cap is ${whole(caps.tokens)}. Raise the cap to continue.`
  }
  if (caps.dollars === undefined) return null
  const rates = tokenRates(table, next.model, next.lifetime, next.tokens)
  if (rates === null)
    return `a cap of $${caps.dollars} was set, but the price of ${next.model} is not known. Add it to the model table.`
  // The least it can cost: what is cached is read, the rest is written, and no word is answered.
  const cached = Math.min(next.cached, next.tokens)
  const least = cached * rates.read + (next.tokens - cached) * rates.write
  if (spent.dollars + least <= caps.dollars) return null
  return `this request would cost at least ${dollars(least)}, ${dollars(spent.dollars)} are spent, and the cap is $${caps.dollars}. Raise the cap to continue.`
}

const dollars = (value: number): string => `$${value.toFixed(4)}`
