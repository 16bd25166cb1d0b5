// Under whose cache a replay is charged: the Messages API's with its two lifetimes, or another provider's by its rules. The
// requests stay those of the Messages API, since what is measured is what they show; a cache that asks for no breakpoints gets
// none, and the engine weighs by the rules and prices of the provider it is charged for.
import type { CacheRules } from '../../model/cache-rules.ts'
import type { ModelInfo } from '../../model/models.ts'
import type { Composed, ComposeParameters } from '../../request/compose.ts'
import { defaults } from '../../settings/defaults.ts'
import {
  createCache,
  createImplicitCache,
  createPromptReader,
  type Counter,
  type Digests,
  type PromptCache,
} from '../../simulator/index.ts'
import { lifetimeMs } from '../../transcript/lifetime.ts'
import { anthropicWire, type AnthropicRequest } from '../../wires/anthropic/wire.ts'
import type { Wire } from '../../wires/wire.ts'
import type { Lifetime } from '../measuring/ledger.ts'

/** Another model at whose prices everything is charged and weighed; the rules of requests stay. */
export interface Charged {
  readonly info: ModelInfo
  /** How its cache behaves; unset: as that of the Messages API. */
  readonly cache?: CacheRules | undefined
  /** How often a prefix that is there is read, where the provider promises nothing; always where unset. */
  readonly hitShare?: number | undefined
}

/** One way in which a walk is charged. */
export interface Account {
  readonly lifetimeMs: number
  readonly cache: Pick<PromptCache, 'account'>
}

/** The accounts of a walk: one for each lifetime, or the only one of the rules. */
export function accountsFor(
  charged: Charged | undefined,
  lifetimes: readonly Lifetime[],
  counter: Counter,
  digests: Digests,
): readonly Account[] {
  const rules = charged?.cache
  if (rules === undefined || rules.kind === 'explicit') {
    const read = createPromptReader({ counter, digests, scope: 'replay' })
    return lifetimes.map((lifetime) => ({
      lifetimeMs: defaults.request.cacheLifetimeMs[lifetime],
      cache: createCache({ read, lifetime }),
    }))
  }
  const livesMs = lifetimeMs(rules.lifetimes[0] ?? '5m')
  const { minTokens, stepTokens } = rules
  const isLucky = evenly(charged?.hitShare ?? 1)
  const cache = createImplicitCache({ counter, lifetimeMs: livesMs, minTokens, stepTokens, isLucky })
  return [{ lifetimeMs: livesMs, cache }]
}

/** Spread evenly, so that a replay gives the same figures each time. */
function evenly(share: number): () => boolean {
  let owed = 0
  return () => {
    owed += share
    if (owed < 1) return false
    owed -= 1
    return true
  }
}

/** Hears what was composed, before its body goes anywhere. */
export type Heard = (composed: Composed, parameters: ComposeParameters) => void

/** The wire of a replay: the Messages API's, with the cache of whoever it is charged for. */
export function wireFor(rules: CacheRules | undefined, heard: Heard): Wire<AnthropicRequest> {
  const own = anthropicWire
  const isImplicit = rules !== undefined && rules.kind !== 'explicit'
  return {
    ...own,
    ...(isImplicit
      ? {
          cacheRules: () => rules,
          capabilities: { ...own.capabilities, breakpoints: false },
        }
      : {}),
    createComposer: (options) => {
      const composer = own.createComposer(options)
      return {
        compose: (view, given) => {
          const parameters = isImplicit ? { ...given, lifetime: null } : given
          const outcome = composer.compose(view, parameters)
          if (outcome.ok) heard(outcome.composed, parameters)
          return outcome
        },
      }
    },
  }
}
