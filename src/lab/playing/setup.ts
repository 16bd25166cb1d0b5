// What an engine is given for a replay, so that the same recording gives the same figures: a clock that is set, ids that are
// counted, and the files of the recording.
import type { RestorationOptions } from '../../engine/restoring/restorer.ts'
import { lookUp, modelTable, type ModelInfo, type ModelRow, type Rates } from '../../model/models.ts'
import type { CacheUsage } from '../../simulator/index.ts'
import { uuid, type Clock, type Ids } from '../../transcript/ids.ts'
import type { Policy } from '../policies/rules.ts'
import type { Charged } from './caching.ts'
import type { RecordedFiles } from './recorded-files.ts'

export function restorationOf({ standard }: Policy, source: RecordedFiles): RestorationOptions {
  const { restoreFiles, restoreFileTokens, outlinesTokens } = standard ?? {}
  const files = restoreFiles === undefined ? undefined : restoreFiles > 0
  return { source, files, fileCount: restoreFiles, fileTokens: restoreFileTokens, outlinesTokens }
}

export function clockAt(start: number): { at: number } & Clock {
  const clock = { at: start, now: () => clock.at }
  return clock
}

export function countedIds(): Ids {
  let count = 0
  return { uuid: () => uuid(`00000000-0000-7000-8000-${(++count).toString(16).padStart(12, '0')}`) }
}

/** What earlier sessions had left in the cache is read by the first request, as it was when it was recorded. */
export function begunWarm(usage: CacheUsage, readTokens: number): CacheUsage {
  const { cache_creation_input_tokens: written, cache_read_input_tokens: read, cache_creation } = usage
  const more = Math.min(Math.max(0, readTokens - read), written)
  const short = Math.min(more, cache_creation.ephemeral_5m_input_tokens)
  return {
    ...usage,
    cache_read_input_tokens: read + more,
    cache_creation_input_tokens: written - more,
    cache_creation: {
      ephemeral_5m_input_tokens: cache_creation.ephemeral_5m_input_tokens - short,
      ephemeral_1h_input_tokens: cache_creation.ephemeral_1h_input_tokens - (more - short),
    },
  }
}

/** Prices by the name of whoever answered. */
export function pricesFor({
  own,
  model,
  charged: other,
}: {
  readonly own?: string | undefined
  readonly model: string
  readonly charged?: Charged | undefined
}): (name: string) => ModelInfo | null {
  if (other !== undefined) return () => other.info
  const table = modelTable()
  const known = new Map<string, ModelInfo | null>()
  return (name) => {
    const charged = own === undefined ? model : name
    let info = known.get(charged)
    if (info === undefined) known.set(charged, (info = lookUp(table, charged)))
    return info
  }
}

/** The row of a model with the prices of another. Where writing costs nothing extra, what is written costs plain input. */
export function pricedAs(id: string, { prices, minCacheTokens }: ModelInfo): ModelRow {
  if (prices === null || prices.write5m > 0) return { id, prices, minCacheTokens }
  const plain = <R extends Rates>(rates: R): R => ({ ...rates, write5m: rates.input, write1h: rates.input })
  const { tier } = prices
  const charged = tier === undefined ? {} : { tier: { ...tier, rates: plain(tier.rates) } }
  return { id, prices: { ...plain(prices), ...charged }, minCacheTokens }
}
