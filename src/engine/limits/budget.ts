// The room with everything else a layer may look at: the time, the cache, the prices, and how long the session may go on.
import { factorOf } from '../../projection/calibration.ts'
import { isItem, isReasoning } from '../../transcript/content.ts'
import type { Core, Slice } from '../core.ts'
import { tokenRates } from './spend.ts'
import type { Room } from '../../projection/budget.ts'
import { expectedRequests, type TokenRates } from '../../projection/economy.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Budget } from '../../projection/layer.ts'
import { lifetimeMs } from '../../transcript/lifetime.ts'

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

// ---- another model ----
// Nothing of the conversation is in its cache, and what only the makers of answers can read stays behind. Said before it is paid.

export interface SwitchPrice {
  /** What the next request will send, as the new model counts; 0 where nothing was said yet. */
  readonly tokens: number
  /** What that costs; null where no price is known. */
  readonly dollars: number | null
  /** What the model in force would take for the same; null where that is not known. */
  readonly stays: number | null
  /** Blocks of the view that the new model is not sent: reasoning and items of others. */
  readonly left: number
}

export function switchPrice(
  core: Slice<'lifetime' | 'modelId' | 'options' | 'spoken' | 'state' | 'view'>,
  modelId: string,
): SwitchPrice {
  const view = core.view()
  if (view.messages.length === 0 || modelId === core.modelId)
    return { tokens: 0, dollars: null, stays: null, left: 0 }
  const { models } = core.options
  const next = core.options.wire(modelId)
  const { calibration } = core.state.fold.numbers
  const tokens = Math.round(factorOf(calibration, next.model) * view.estimate)
  const [lifetime = null] = next.wire.cacheRules(null).lifetimes
  const there = tokenRates(models, modelId, lifetime, tokens)
  const { modelId: current, lifetime: lives } = core
  const here = tokenRates(models, current, lives, view.tokens)
  let left = 0
  for (const message of view.messages)
    for (const part of message.parts)
      for (const block of part.blocks)
        if (
          (isReasoning(block) && (part.model !== next.model || next.wire.name !== 'anthropic')) ||
          (isItem(block) && (block.model !== next.model || block.wire !== next.wire.name))
        )
          left++
  return {
    tokens,
    dollars: there === null ? null : tokens * there.write,
    stays: here === null ? null : view.tokens * (isWarm(core) ? here.read : here.write),
    left,
  }
}
