// What a request costs at the vendor's prices: tokens as the usage reports them, dollars by the simulator's own table.
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
