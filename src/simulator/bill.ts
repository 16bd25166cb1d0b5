// What a request costs at the vendor's prices: tokens as the usage reports them, dollars by the simulator's own table.
import type { WireUsage } from '../model/wire.ts'
import type { ModelPrice } from './dialects/models.ts'

/** Tokens that were billed, and what they cost in dollars; null where the model has no price here. */
export interface Bill {
  readonly promptTokens: number
  readonly uncachedTokens: number
  readonly readTokens: number
  readonly writtenTokens: number
  readonly outputTokens: number
  readonly dollars: number | null
}

export interface BilledTokens {
  readonly uncached: number
  readonly read: number
  readonly written: number
  /** Of the written ones, those kept for an hour at twice the input price. */
  readonly writtenLong?: number
  readonly output: number
}

const MILLION = 1_000_000

type PriceRow = readonly [input: number, output: number, read: number]

/** Input, output and cache read; what is written for five minutes costs a quarter more than the input. */
const rows: Readonly<Record<string, PriceRow>> = {
  'claude-fable-5-1': [10, 50, 0.25],
  'claude-mythos-5-1': [10, 50, 0.25],
  'claude-fable-5': [10, 50, 1],
  'claude-mythos-5': [10, 50, 1],
  'claude-opus-5-5': [4, 20, 0.2],
  'claude-opus-5': [5, 25, 0.5],
  'claude-opus-4-8': [5, 25, 0.5],
  'claude-opus-4-7': [5, 25, 0.5],
  'claude-opus-4-6': [5, 25, 0.5],
  'claude-opus-4-5': [5, 25, 0.5],
  'claude-sonnet-5-5': [2, 10, 0.1],
  'claude-sonnet-5': [2, 10, 0.2],
  'claude-sonnet-4-6': [3, 15, 0.3],
  'claude-sonnet-4-5': [3, 15, 0.3],
  'claude-haiku-5-5': [0.1, 0.5, 0.01],
  'claude-haiku-4-5': [1, 5, 0.1],
  'claude-opus-4-1': [15, 75, 1.5],
  'claude-opus-4': [15, 75, 1.5],
}
const LONG_HAIKU: PriceRow = [0.5, 2.5, 0.05]
const LONG_HAIKU_PROMPT = 100_000
const WRITE_FACTOR = 1.25

/** What the Messages API bills; null for models whose price is not published. */
export function messageBill(model: string, usage: WireUsage): Bill {
  const written = usage.cache_creation_input_tokens ?? 0
  const tokens: BilledTokens = {
    uncached: usage.input_tokens,
    read: usage.cache_read_input_tokens ?? 0,
    written,
    writtenLong: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
    output: usage.output_tokens,
  }
  const isLong = tokens.uncached + tokens.read + written > LONG_HAIKU_PROMPT
  const row = isLong && model === 'claude-haiku-5-5' ? LONG_HAIKU : rows[model]
  if (row === undefined) return billOf(tokens, null)
  const [input, output, read] = row
  return billOf(tokens, { input, output, read, write: input * WRITE_FACTOR })
}
const LONG_WRITE_FACTOR = 2

export function billOf(tokens: BilledTokens, price: ModelPrice | null): Bill {
  const { uncached, read, written, output, writtenLong = 0 } = tokens
  return {
    promptTokens: uncached + read + written,
    uncachedTokens: uncached,
    readTokens: read,
    writtenTokens: written,
    outputTokens: output,
    dollars:
      price === null
        ? null
        : (uncached * price.input +
            read * price.read +
            (written - writtenLong) * price.write +
            writtenLong * price.input * LONG_WRITE_FACTOR +
            output * price.output) /
          MILLION,
  }
}
