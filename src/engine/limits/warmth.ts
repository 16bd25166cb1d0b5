// Whether what was sent last can still be read from the provider's cache.
import { defaults } from '../../settings/defaults.ts'
import type { Slice } from '../core.ts'

/** Its lifetime counts from the start of that request. */
export function isWarm({
  lifetime,
  state: { latest },
  options,
}: Slice<'lifetime' | 'options' | 'state'>): boolean {
  if (lifetime === null || latest.requestAt === null) return false
  return options.clock.now() - latest.requestAt < defaults.request.cacheLifetimeMs[lifetime]
}
