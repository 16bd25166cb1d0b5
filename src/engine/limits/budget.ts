// The room with everything else a layer may look at: the time, the cache, the prices, and how long the session may go on.
import type { CacheRules } from '../../model/cache-rules.ts'
import type { Core, Slice } from '../core.ts'
import { tokenRates } from './spend.ts'
import type { Room } from '../../projection/budget.ts'
import { expectedRequests, type TokenRates } from '../../projection/economy.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Budget } from '../../projection/layer.ts'
import { lifetimeMs, type Lifetime } from '../../transcript/lifetime.ts'

/** For a view of so many tokens: the one there is, or the one that an edit would leave. */
export function budgetOf(core: Core, room: Room, tokens: number = core.view().tokens): Budget {
  const view = core.view()
  const now = core.options.clock.now()
  const rates = tokenRates(core.options.models, core.modelId, core.lifetime, view.tokens)
  return {
    ...room,
    now,
    isWarm: isWarm(core),
    rates: expectedRates(core, rates),
    expectedRequests: expected(core, room, tokens),
    isMain: core.role.isMain,
    ownFrom: core.role.compacts === 'own' ? core.links.at(-1)!.from : 0,
    cacheLost: core.state.latest.cacheLost === true,
    capabilities: core.modelInfo()?.capabilities ?? noCapabilities,
  }
}

/** Where the cache promises nothing, what is read has the price that this session has seen: hits and misses together. */
function expectedRates(
  core: Slice<'modelInfo' | 'spoken' | 'state'>,
  rates: TokenRates | null,
): TokenRates | null {
  if (rates === null || core.spoken.wire.cacheRules(core.modelInfo()).promised !== false) return rates
  const { requests, input, cacheRead, cacheWrite } = core.state.spent
  const { unpromisedHits, unpromisedRequests } = defaults.request
  const share =
    requests < unpromisedRequests ? unpromisedHits : cacheRead / Math.max(1, input + cacheRead + cacheWrite)
  return { ...rates, read: share * rates.read + (1 - share) * rates.fresh }
}

const noCapabilities = { cacheEdits: false, contextEditing: false, bindsPrefix: false }

function expected(core: Slice<'state' | 'view'>, room: Room, tokens: number): number {
  const view = core.view()
  const requests = core.state.spent.requests
  const growth = requests === 0 ? 0 : Math.max(0, view.tokens - room.fixed) / requests
  return expectedRequests({ requests, growthTokens: growth, roomTokens: room.threshold - tokens })
}

/** Its lifetime counts from the start of that request. */
export function isWarm({
  lifetime,
  state: { latest },
  options,
}: Slice<'lifetime' | 'options' | 'state'>): boolean {
  if (lifetime === null || latest.requestAt === null) return false
  return options.clock.now() - latest.requestAt < lifetimeMs(lifetime)
}

/** How what a session sends is cached, for whoever shows it. */
export interface CacheState {
  /** explicit: up to breakpoints · implicit: prefixes, unasked · none: nothing, or nothing is asked for. */
  readonly kind: CacheRules['kind']
  /** How long it is kept; null where nothing is. */
  readonly lifetime: Lifetime | null
  /** False: it may be lost at any time, and the lifetime is a guess. */
  readonly promised: boolean
  /** False: the server does not say what it has read from its cache. */
  readonly reported: boolean
  /** Until when what was sent last is expected there; null where nothing is. */
  readonly warmUntil: number | null
}

export function cacheState(
  core: Slice<'lifetime' | 'modelInfo' | 'options' | 'spoken' | 'state'>,
): CacheState {
  const { lifetime, spoken } = core
  const { kind, promised = true } = spoken.wire.cacheRules(core.modelInfo())
  const { requestAt } = core.state.latest
  return {
    kind: lifetime === null ? 'none' : kind,
    lifetime,
    promised,
    reported: spoken.quirks?.cacheUnreported !== true,
    warmUntil: lifetime === null || requestAt === null ? null : requestAt + lifetimeMs(lifetime),
  }
}
