// What a reduction of the view is worth. Reading from the cache is cheap, not free: what is taken out is
// saved at every request still to come, and what stands behind the edit has to be written again once. Pure arithmetic;
// the unit of money is that of the rates.

/** Dollars for one token, by how it reaches the model. Where nothing is cached, reading and writing cost what fresh input does. */
export interface TokenRates {
  readonly read: number
  readonly write: number
  readonly fresh: number
  readonly output: number
}

export interface Reduction {
  /** Tokens the view loses, less what stands in their place. */
  readonly freedTokens: number
  /** Tokens behind the edit: cached now, to be written again if it is made. */
  readonly tailTokens: number
  /** The prefix is still cached. On a cold one everything is written again anyway. */
  readonly isWarm: boolean
  readonly rates: Pick<TokenRates, 'read' | 'write'>
}

export interface ReductionPrice {
  readonly saves: number
  readonly costs: number
  readonly net: number
  readonly isWorth: boolean
}

/** `expectedRequests` counts the one that is about to be made. */
export function priceOfReduction(
  reduction: Reduction & { readonly expectedRequests: number },
): ReductionPrice {
  const { isWarm, rates } = reduction
  const freed = Math.max(0, reduction.freedTokens)
  const requests = Math.max(1, reduction.expectedRequests)
  const first = isWarm ? rates.read : rates.write
  const saves = freed * (first + rates.read * (requests - 1))
  const costs = rewriteOf(reduction)
  const net = saves - costs
  return { saves, costs, net, isWorth: freed > 0 && net > 0 }
}

/** Requests after which a reduction has paid for itself; Infinity when it never does. */
export function breakEven(reduction: Reduction): number {
  if (reduction.freedTokens <= 0) return Infinity
  const costs = rewriteOf(reduction)
  if (costs === 0) return 1
  return Math.max(1, Math.ceil(costs / (reduction.freedTokens * reduction.rates.read)))
}

function rewriteOf({ tailTokens, isWarm, rates }: Reduction): number {
  return isWarm ? Math.max(0, tailTokens) * Math.max(0, rates.write - rates.read) : 0
}

export interface SessionPace {
  /** Requests of this session until now. */
  readonly requests: number
  /** Tokens by which the view has grown from one request to the next, on average. */
  readonly growthTokens: number
  /** Tokens until the view must be reduced anyway. */
  readonly roomTokens: number
}

/**
 * How many requests a view like this one will still serve. Seen at a random moment, a session has as much before it
 * as behind it; and when the room is used up everything is rewritten, so savings end there.
 */
export function expectedRequests({ requests, growthTokens, roomTokens }: SessionPace): number {
  const untilFull = growthTokens > 0 ? Math.floor(Math.max(0, roomTokens) / growthTokens) : Infinity
  return Math.max(1, Math.min(requests, untilFull))
}
