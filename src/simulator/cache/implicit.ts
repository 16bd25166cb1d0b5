// The cache of providers that keep prefixes unasked, over requests in the words of the Messages API: for playing recorded
// sessions under another provider's rules. Read is what any earlier request had in common with this one, in whole steps and
// from a minimum on. Open choices: a prefix ends with a block; a use renews what it used; everything up to the last whole
// step is written.
import type { WireRequest } from '../../model/wire.ts'
import type { CacheUsage, PromptCache } from '../cache.ts'
import { createCounter, type Counter } from '../counter.ts'
import { createDigests } from '../digest.ts'
import { findModel, simulatedModels, unknownModel } from '../models.ts'
import { readPrompt } from './prompt.ts'

export interface ImplicitCacheOptions {
  readonly counter?: Counter
  readonly lifetimeMs: number
  /** A shorter prefix is not cached. */
  readonly minTokens: number
  /** Hits are multiples of this. */
  readonly stepTokens: number
  /** Asked at each request that could read: where a provider promises nothing. Always, where unset. */
  readonly isLucky?: () => boolean
}

interface Entry {
  readonly visibleAt: number
  readonly expiresAt: number
}

/** A cache of prefixes that nobody asks for. */
export function createImplicitCache(options: ImplicitCacheOptions): Pick<PromptCache, 'account'> {
  const { lifetimeMs, minTokens, stepTokens, isLucky = () => true } = options
  const reading = {
    counter: options.counter ?? createCounter(),
    digests: createDigests(),
    scope: 'workspace',
  }
  const entries = new Map<string, Entry>()
  const isThere = (hash: string, now: number): boolean => {
    const entry = entries.get(hash)
    return entry !== undefined && entry.visibleAt <= now && entry.expiresAt > now
  }
  const usable = (tokens: number): number => {
    const whole = Math.floor(tokens / stepTokens) * stepTokens
    return whole >= minTokens ? whole : 0
  }
  return {
    account(request: WireRequest, startedAt: number, firstByteAt: number): CacheUsage {
      const known = findModel(simulatedModels, request.model)
      const model = known ?? { ...unknownModel, id: request.model }
      const { positions, totalTokens } = readPrompt(request, model, reading)
      const last = positions.findLast(({ hash }) => isThere(hash, startedAt))
      const common = usable(last?.endTokens ?? 0)
      const read = common > 0 && isLucky() ? common : 0
      const written = Math.max(0, usable(totalTokens) - read)
      for (const { hash } of positions) {
        const visibleAt = isThere(hash, startedAt) ? entries.get(hash)!.visibleAt : firstByteAt
        entries.set(hash, { visibleAt, expiresAt: startedAt + lifetimeMs })
      }
      return {
        input_tokens: totalTokens - read - written,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
      }
    },
  }
}
