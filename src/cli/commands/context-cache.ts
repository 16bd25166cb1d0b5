// How a provider caches what it is sent, in words: by its wire and model, not by what we know of one of them.
import type { ModelTable } from '../../model/models.ts'
import { lookUp } from '../../model/models.ts'
import type { FactOf } from '../../transcript/fact.ts'
import { lifetimeMs, type Lifetime } from '../../transcript/lifetime.ts'
import type { Spoken } from '../../wires/wire.ts'

/** What is read of a request that was sent. */
interface Sent {
  readonly at: number
  readonly fact: Pick<FactOf<'request-sent'>, 'lifetime'>
}

export interface CacheView {
  readonly wire: string
  /** explicit: up to breakpoints · implicit: prefixes, unasked · none: nothing is cached. */
  readonly kind: 'explicit' | 'implicit' | 'none'
  readonly lifetime: Lifetime | null
  /** False: it may be lost at any time; the lifetime is a guess. */
  readonly promised: boolean
  /** False: the server does not say what it read from its cache. */
  readonly reported: boolean
  /** Until when the last request is expected there. */
  readonly expiresAt: string | null
}

export function cacheView({ wire, model, quirks }: Spoken, models: ModelTable, sent: Sent | null): CacheView {
  const { kind, lifetimes, promised = true } = wire.cacheRules(lookUp(models, model))
  const kept = sent === null ? lifetimes[0] : sent.fact.lifetime
  const lifetime = kind === 'none' ? null : (kept ?? null)
  return {
    wire: wire.name,
    kind: lifetime === null ? 'none' : kind,
    lifetime,
    promised,
    reported: quirks?.cacheUnreported !== true,
    expiresAt:
      lifetime === null || sent === null ? null : new Date(sent.at + lifetimeMs(lifetime)).toISOString(),
  }
}

/** One line about it. */
export function cacheText(cache: CacheView, now: number): string {
  const { kind, lifetime, promised, reported, expiresAt } = cache
  if (kind === 'none' || lifetime === null) return 'Cache: none'
  const how = kind === 'explicit' ? 'up to breakpoints' : 'prefixes, without breakpoints'
  const unreported = reported ? '' : '; the server does not report what it reads from it'
  if (!promised) return `Cache: ${how}, kept without promise${unreported}`
  const left = expiresAt === null ? null : Date.parse(expiresAt) - now
  const state =
    left === null ? '' : left > 0 ? `; expires in ${minutes(left)}` : `; expired ${minutes(-left)} ago`
  return `Cache: ${how}, kept for ${lifetime}${state}${unreported}`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

function minutes(ms: number): string {
  if (ms < minuteMs) return `${Math.ceil(ms / 1000)} s`
  if (ms < 2 * hourMs) return `${Math.round(ms / minuteMs)} min`
  return ms < 2 * dayMs ? `${Math.round(ms / hourMs)} h` : `${Math.round(ms / dayMs)} days`
}
