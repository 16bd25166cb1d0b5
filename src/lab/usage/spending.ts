// Where the money went: what was carried from request to request, what was sent for the first time, what had to be sent again
// because the cache broke or had gone cold, and what was put out; and the breaks that cost most, with their likeliest cause.
import { lookUp, price, type ModelTable } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import { lifetimeMs, type Lifetime } from '../../transcript/lifetime.ts'
import { recordedLifetime } from '../../wires/maker-rules.ts'
import { contextOf } from '../recording.ts'
import type { BilledRequest } from './billed.ts'

export type BreakCause = 'a pause' | 'another model' | 'something was removed' | 'something before it changed'

/** Cached tokens that had to be sent again. */
export interface CacheBreakPaid {
  readonly program: string
  readonly session: string
  readonly model: string
  readonly at: number | null
  readonly tokens: number
  readonly dollars: number
  readonly cause: BreakCause
  /** Since the request before; null where the times are not known. */
  readonly pauseMs: number | null
}

export interface Spending {
  /** Read from the cache. */
  readonly carried: number
  readonly sentFirst: number
  /** Sent again after a break, and after a pause longer than the cache lives. */
  readonly rewritten: number
  readonly coldReturns: number
  readonly output: number
  readonly breaks: number
  readonly worst: readonly CacheBreakPaid[]
}

const shownBreaks = 10
/** A request this much smaller than the one before had something taken out. */
const fall = 0.9

/** Of requests that are each counted once; those without a known price are in no sum. */
export function spendingOf(requests: readonly BilledRequest[], models: ModelTable): Spending {
  const total = { carried: 0, sentFirst: 0, rewritten: 0, coldReturns: 0, output: 0 }
  const breaks: CacheBreakPaid[] = []
  for (const chain of chainsOf(requests)) {
    const saysWrites = chain.some(({ usage }) => usage.cacheWrite > 0)
    let lifetime: Lifetime = '5m'
    let last: BilledRequest | null = null
    for (const request of chain) {
      const { usage, model } = request
      // What nobody counted says nothing of the cache: neither that it was lost nor what of it there is.
      const isCounted = usage.estimated !== true
      const before = last
      if (isCounted) last = request
      const info = lookUp(models, model)
      // Claude caches what a client marks and nothing else: who never marks has no cache that could break.
      const countsWrites = saysWrites || info?.provider === 'anthropic'
      const lost = before === null || !isCounted ? null : lossAt(before, request, { countsWrites, lifetime })
      // A provider that does not say what it wrote has one lifetime.
      if (isCounted && (usage.cacheWrite > 0 || !saysWrites)) lifetime = recordedLifetime(info, usage)
      const paid = info === null ? null : price(info, { ...usage, output: request.output ?? 0 })
      if (paid === null) continue
      const sent = paid.fresh + paid.write
      const sentTokens = usage.input + usage.cacheWrite
      const again =
        lost === null || sentTokens === 0 ? 0 : (sent * Math.min(lost.tokens, sentTokens)) / sentTokens
      total.carried += paid.read
      total.output += paid.output
      total.sentFirst += sent - again
      if (lost === null) continue
      total[lost.cause === 'a pause' ? 'coldReturns' : 'rewritten'] += again
      const { program, session, at } = request
      breaks.push({ program, session, model, at, dollars: again, ...lost })
    }
  }
  const worst = breaks.toSorted((a, b) => b.dollars - a.dollars).slice(0, shownBreaks)
  return { ...total, breaks: breaks.length, worst }
}

/** Each in the order of time, as far as it is known. */
function chainsOf(requests: readonly BilledRequest[]): readonly (readonly BilledRequest[])[] {
  const chains = new Map<string, BilledRequest[]>()
  for (const request of requests) {
    const chain = chains.get(request.chain)
    if (chain === undefined) chains.set(request.chain, [request])
    else chain.push(request)
  }
  return [...chains.values()].map((chain) => chain.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0)))
}

function lossAt(
  before: BilledRequest,
  now: BilledRequest,
  { countsWrites, lifetime }: { readonly countsWrites: boolean; readonly lifetime: Lifetime },
): Pick<CacheBreakPaid, 'tokens' | 'cause' | 'pauseMs'> | null {
  const { breakTokens, breakShare } = defaults.request
  // A provider that does not say what it wrote caches whatever it is sent.
  const cached = countsWrites ? before.usage.cacheRead + before.usage.cacheWrite : contextOf(before.usage)
  const tokens = Math.min(cached, contextOf(now.usage)) - now.usage.cacheRead
  if (tokens <= breakTokens || tokens <= breakShare * cached) return null
  const pauseMs = before.at === null || now.at === null ? null : now.at - before.at
  const isPause = pauseMs !== null && pauseMs >= lifetimeMs(lifetime)
  const isLess = contextOf(now.usage) < contextOf(before.usage) * fall
  const cause: BreakCause =
    now.model !== before.model
      ? 'another model'
      : isPause
        ? 'a pause'
        : isLess
          ? 'something was removed'
          : 'something before it changed'
  return { tokens, cause, pauseMs }
}
