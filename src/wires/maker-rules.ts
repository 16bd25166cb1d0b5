// The cache of a model by who made it: for records that name a model and no wire.
import type { CacheRules } from '../model/cache-rules.ts'
import type { ModelInfo } from '../model/models.ts'
import type { Usage } from '../transcript/fact.ts'
import type { Lifetime } from '../transcript/lifetime.ts'
import { anthropicWire } from './anthropic/wire.ts'
import { geminiCacheRules } from './gemini/models.ts'
import { openAiCacheRules } from './openai-caching.ts'

/** How the cache of its maker behaves; that of the Messages API where the maker is not known. */
function makersCacheRules(info: ModelInfo | null): CacheRules {
  if (info?.provider === 'openai') return openAiCacheRules(info)
  return info?.provider === 'google' ? geminiCacheRules(info) : anthropicWire.cacheRules(info)
}

/** How long what this answer's request left in the cache lives: as its writes say, or the only way its maker has. */
export function recordedLifetime(info: ModelInfo | null, usage: Usage): Lifetime {
  const [shortest = '5m'] = makersCacheRules(info).lifetimes
  return (usage.cacheWrite1h ?? 0) > 0 ? '1h' : shortest
}
