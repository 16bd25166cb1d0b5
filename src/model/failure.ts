// What was refused or broke off becomes a failure of the port and a word whether to try again; here is what all wires share:
// how long to wait, and how often. A failure that the same bytes would meet again is never retried.
import type { defaults } from '../settings/defaults.ts'
import type { ModelFailure } from './model.ts'

/** Numbers of the adapter; a caller may set some of them. */
export type ModelSettings = { readonly [Name in keyof typeof defaults.model]: number }

export interface ServerRefusal {
  /** Null when the error came inside a stream that had begun well. */
  readonly status: number | null
  /** The body, or the text found in its place. */
  readonly text: string
  readonly header: (name: string) => string | null
}

export interface Verdict {
  readonly failure: ModelFailure
  readonly retry: boolean
  /** The same request is tried a second time and no more: it is the model that failed, not the way to it. */
  readonly once?: true | undefined
}

/** Nothing came back, or it stopped coming. */
export function verdictOnBreak(code: 'network' | 'cut-short', message: string): Verdict {
  return { failure: { code, message, status: null }, retry: true }
}

/** What the server asks us to wait: milliseconds, seconds or a date. */
export function retryAfter(header: (name: string) => string | null, now: number): number | null {
  const exact = Number.parseFloat(header('retry-after-ms') ?? '')
  if (exact > 0) return exact
  const after = header('retry-after')
  if (after === null) return null
  const seconds = Number(after)
  const ms = Number.isNaN(seconds) ? Date.parse(after) - now : seconds * msPerSecond
  return ms > 0 ? ms : null
}
const msPerSecond = 1000

/** How long to wait before attempt `next` (2, 3 …), or null when trying again is not worth it. */
export function waitBefore(
  next: number,
  failure: ModelFailure,
  random: () => number,
  settings: ModelSettings,
): number | null {
  if (next > settings.maxRetries + 1) return null
  const asked = 'retryAfterMs' in failure ? failure.retryAfterMs : undefined
  if (asked !== undefined) return asked > settings.retryAfterLimitMs ? null : asked
  const doubled = Math.min(settings.retryBaseMs * 2 ** (next - 2), settings.retryMaxMs)
  return doubled * (1 - settings.retryJitterShare * random())
}
