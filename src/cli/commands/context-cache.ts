// The last request of a session, and how its provider caches what it is sent, in words: by its wire and model, not by what we know of one of them.
import type { ModelTable } from '../../model/models.ts'
import { lookUp } from '../../model/models.ts'
import { isKnown, type FactOf, type Usage } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { lifetimeMs, type Lifetime } from '../../transcript/lifetime.ts'
import type { Store } from '../../transcript/store.ts'
import type { Spoken, WireChooser } from '../../wires/wire.ts'

/** The last request of a session, and when it was sent. */
export interface Sent {
  readonly sent: FactOf<'request-sent'>
  readonly at: number
}

/** The newest request and what its answer reported, read from the end. */
export async function lastSent(
  store: Store,
  session: SessionId,
): Promise<(Sent & { readonly usage: Usage | undefined }) | null> {
  let usage: Usage | undefined
  for await (const item of store.readBack(session)) {
    if (item.kind === 'failed') return null
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type === 'assistant-message') usage = fact.usage
    if (fact.type === 'request-sent') return { sent: fact, at: item.entry.at, usage }
  }
  return null
}

/** Who was asked last: the model in force, unless another one sent the last request. */
export function spokenLast(wire: WireChooser, inForce: string, sent: string | undefined): Spoken {
  const spoken = wire(inForce)
  return sent === undefined || spoken.model === sent ? spoken : wire(sent)
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

export function cacheView({ wire, model, quirks }: Spoken, models: ModelTable, last: Sent | null): CacheView {
  const { kind, lifetimes, promised = true } = wire.cacheRules(lookUp(models, model))
  const sent = last === null ? lifetimes[0] : last.sent.lifetime
  const lifetime = kind === 'none' ? null : (sent ?? null)
  return {
    wire: wire.name,
    kind: lifetime === null ? 'none' : kind,
    lifetime,
    promised,
    reported: quirks?.cacheUnreported !== true,
    expiresAt:
      lifetime === null || last === null ? null : new Date(last.at + lifetimeMs(lifetime)).toISOString(),
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
