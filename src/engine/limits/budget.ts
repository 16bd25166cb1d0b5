// The room with everything else a layer may look at: the time, the cache, the prices, and how long the session may go on.
import { lookUp, ratesOf } from '../../model/models.ts'
import type { Room } from '../../projection/budget.ts'
import { expectedRequests } from '../../projection/economy.ts'
import type { Budget, Rates } from '../../projection/layer.ts'
import type { Core } from '../core.ts'
import { isWarm } from './warmth.ts'

/** For a view of so many tokens: the one there is, or the one that an edit would leave. */
export function budgetOf(core: Core, room: Room, tokens: number = core.view().tokens): Budget {
  const view = core.view()
  const now = core.options.clock.now()
  return {
    ...room,
    now,
    isWarm: isWarm(core),
    rates: ratesFor(core, view.tokens),
    expectedRequests: expected(core, room, tokens),
    isMain: core.payer === null,
    cacheLost: core.latest.cacheLost === true,
    capabilities: core.modelInfo()?.capabilities ?? noCapabilities,
  }
}

const noCapabilities = { cacheEdits: false, contextEditing: false, bindsPrefix: false }

function expected(core: Core, room: Room, tokens: number): number {
  const view = core.view()
  const requests = core.spent.requests
  const growth = requests === 0 ? 0 : Math.max(0, view.tokens - room.fixed) / requests
  return expectedRequests({ requests, growthTokens: growth, roomTokens: room.threshold - tokens })
}

function ratesFor(core: Core, tokens: number): Rates | null {
  const info = lookUp(core.options.models, core.modelId)
  const rates = info === null ? null : ratesOf(info, tokens)
  if (rates === null) return null
  const write = core.lifetime === '1h' ? rates.write1h : rates.write5m
  return {
    fresh: rates.input / perTokens,
    read: rates.read / perTokens,
    write: write / perTokens,
    output: rates.output / perTokens,
  }
}

const perTokens = 1_000_000
