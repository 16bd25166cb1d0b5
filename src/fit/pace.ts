// How a conversation goes: what each request took since the last compaction, and when. By this it is decided whether carrying
// the older part along has cost more than a compaction would, by the same rule as in our own sessions.
import { allowanceOf, type DialPoint } from '../projection/dial.ts'
import { isBoundaryDue } from '../projection/layers/autocompact.ts'
import { windowOf, lookUp, ratesOf, type ModelTable, type Rates } from '../model/models.ts'
import { promptTokens } from '../model/usage.ts'
import type { Usage } from '../transcript/fact.ts'

export interface Pace {
  /** Tokens of each prompt since the last compaction. */
  readonly sizes: readonly number[]
  readonly answeredAt: number
  readonly charsPerToken: number
}

/** How long a provider's cache lives, as a request asks for. */
export const lifetimes = { short: 5 * 60_000, long: 60 * 60_000 }

/** Where no answer has told yet. */
export const usualCharsPerToken = 4

export function paceAfter(before: Pace | undefined, usage: Usage, sentBytes: number, now: number): Pace {
  const prompt = promptTokens(usage)
  return {
    sizes: [...(before?.sizes ?? []), prompt],
    answeredAt: now,
    charsPerToken: prompt > 0 ? sentBytes / prompt : usualCharsPerToken,
  }
}

/** What a token costs that enters the cache: where writing has no price of its own, that of any input. */
export const writeRate = ({ write5m, input }: Rates): number => (write5m > 0 ? write5m : input)

export interface DueAsk {
  readonly pace: Pace
  readonly model: string
  readonly models: ModelTable
  readonly point: DialPoint
  readonly lifetimeMs: number
  readonly now: number
  /** Bytes of the request as it would be sent, and of its tools and system. */
  readonly bytes: number
  readonly headBytes: number
}

/** Whether a compaction now is cheaper than going on. */
export function isDue({ pace, model, models, point, lifetimeMs, now, bytes, headBytes }: DueAsk): boolean {
  const info = lookUp(models, model)
  const rates = info === null ? null : ratesOf(info, 0)
  if (rates === null) return false
  const fixed = headBytes / pace.charsPerToken
  const { tailTokens, excerptTokens, detailTokens, textTokens } = allowanceOf(
    point,
    windowOf({ model, table: models }).tokens,
  )
  const after = tailTokens + excerptTokens + detailTokens + textTokens
  const conversation = (tokens: number): number => Math.max(0, tokens - fixed)
  const tokens = conversation(bytes / pace.charsPerToken)
  return isBoundaryDue(
    {
      excess: tokens - after,
      since: () => ({
        sizes: pace.sizes.map(conversation),
        grown: tokens - Math.min(conversation(pace.sizes[0] ?? 0), after),
        cleared: 0,
      }),
      after,
      isWarm: now - pace.answeredAt < lifetimeMs,
      read: rates.read,
      write: writeRate(rates),
      asked: 0,
    },
    point,
  )
}
