// What a session has cost, folded from its answers. A rewind gives nothing back: what was paid stays paid.
import { lookUp, price, ratesOf, type ModelTable } from '../model/models.ts'
import type { StoredEntry, Usage } from '../transcript/fact.ts'
import { isKnown } from '../transcript/fact.ts'

export interface Spent {
  readonly requests: number
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly dollars: number
  /** Answers of models whose price nobody knows; their tokens count, their dollars do not. */
  readonly unpriced: number
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
}

export function spend(spent: Spent, entry: StoredEntry, table: ModelTable): Spent {
  if (!isKnown(entry) || entry.fact.type !== 'assistant-message' || entry.fact.usage === undefined)
    return spent
  return withUsage(spent, entry.fact.usage, dollarsOf(table, entry.fact.model, entry.fact.usage))
}

export function withUsage(spent: Spent, usage: Usage, dollars: number | null): Spent {
  return {
    requests: spent.requests + 1,
    input: spent.input + usage.input,
    cacheRead: spent.cacheRead + usage.cacheRead,
    cacheWrite: spent.cacheWrite + usage.cacheWrite,
    output: spent.output + usage.output,
    dollars: spent.dollars + (dollars ?? 0),
    unpriced: spent.unpriced + (dollars === null ? 1 : 0),
  }
}

export const tokensOf = (spent: Spent): number =>
  spent.input + spent.cacheRead + spent.cacheWrite + spent.output

export function dollarsOf(table: ModelTable, model: string, usage: Usage): number | null {
  const info = lookUp(table, model)
  return info === null ? null : (price(info, usage)?.total ?? null)
}

/** Why the next request may not be sent, with the numbers, or null. Asked before the call (SPEC 16.6). */
export function capRefusal(
  caps: Caps,
  spent: Spent,
  next: { readonly model: string; readonly tokens: number; readonly cached: number },
  table: ModelTable,
): string | null {
  if (caps.tokens !== undefined && tokensOf(spent) + next.tokens > caps.tokens) {
    return `this request would take ${next.tokens} tokens, ${tokensOf(spent)} are spent, and the cap is ${caps.tokens}. Raise the cap to go on.`
  }
  if (caps.dollars === undefined) return null
  const info = lookUp(table, next.model)
  const rates = info === null ? null : ratesOf(info, next.tokens)
  if (rates === null)
    return `a cap of $${caps.dollars} was set, but the price of ${next.model} is not known. Add it to the model table.`
  // The least it can cost: what is cached is read, the rest is written, and no word is answered.
  const cached = Math.min(next.cached, next.tokens)
  const least = (cached * rates.read + (next.tokens - cached) * rates.write5m) / 1e6
  if (spent.dollars + least <= caps.dollars) return null
  return `this request would cost at least ${dollars(least)}, ${dollars(spent.dollars)} are spent, and the cap is $${caps.dollars}. Raise the cap to go on.`
}

const dollars = (value: number): string => `$${value.toFixed(4)}`
