// `pal context`: what a session's context holds, from the last request really sent. It is composed again from the
// transcript and broken down by where each block came from.
import { breakdown, type SourceRow } from '../../inspector/requests/breakdown.ts'
import {
  lastRequest,
  type RebuiltRequest,
  type RequestSettings,
} from '../../inspector/requests/request-at.ts'
import { lookUp, type ModelTable } from '../../model/models.ts'
import { modelOf, tableOf } from '../../preset.ts'
import { thinkingOf } from '../../preset/choices.ts'
import { wireIn, modelIn } from '../../preset/reaching.ts'
import type { FactOf } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { lifetimeMs, type Lifetime } from '../../transcript/lifetime.ts'
import type { Store } from '../../transcript/store.ts'
import type { Spoken } from '../../wires/wire.ts'
import { print, exits, fail, type Exit } from '../exit-codes.ts'
import { showSession } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { bar, percent, prose, table, whole, right, left } from '../terminal/tables.ts'
import type { ProjectFlags, Workplace } from '../workplace/workplace.ts'

const barWidth = 24

/** What is no fact of a session and shapes its requests all the same. */
export function requestSettingsOf({ settings, access }: Workplace): RequestSettings {
  const models = tableOf(settings)
  return {
    models,
    model: modelOf(settings),
    window: settings.window,
    thinking: thinkingOf(settings),
    effort: settings.effort,
    speak: wireIn({ model: access ?? undefined, settings }, models),
  }
}

export const context = (
  io: Io,
  id: string | undefined,
  flags: ProjectFlags & { readonly count?: boolean | undefined },
): Promise<Exit> =>
  showSession(io, id, flags, (place, store, session, json) =>
    showContext(place, store, session, json, flags.count === true),
  )

export async function showContext(
  place: Workplace,
  store: Store,
  session: SessionId,
  json: boolean,
  counts = false,
): Promise<Exit> {
  const { io } = place
  const asked = requestSettingsOf(place)
  const request = await lastRequest(store, session, asked)
  if (!request.ok) return fail(io, exits.failed, request.failure.message)
  const { model, window, tokens, counted, isExact, spoken, sent } = request
  const rows = breakdown(request.plainBody, request.view, tokens)
  const about = { model, window, tokens, counted, isExact, cache: cacheView(spoken, asked.models, sent) }
  const count = counts ? await countByProvider(place, spoken, request.composed.body) : null
  const provider = count === null ? {} : { provider: count }
  return print(io, json, { session, ...about, ...provider, sources: rows }, () =>
    prose(
      `${asPicture(session, about, rows, io)}${count === null ? '' : `${countText(count)}\n`}`,
      io.columns,
    ),
  )
}

type About = Pick<RebuiltRequest, 'model' | 'window' | 'tokens' | 'counted' | 'isExact'> & {
  readonly cache: CacheView
}

function asPicture(
  session: string,
  request: About,
  rows: readonly SourceRow[],
  { columns: room }: Io,
): string {
  const { tokens, window, counted, isExact, model, cache } = request
  const most = Math.max(1, ...rows.map((row) => row.tokens))
  const list = table(
    ['source', right('blocks'), right('tokens'), right('share'), left('', 1)],
    [
      ...rows.map((row) => [
        row.source,
        String(row.blocks),
        whole(row.tokens),
        percent(tokens === 0 ? 0 : row.tokens / tokens),
        bar(row.tokens / most, barWidth),
      ]),
      ['all', '', whole(tokens), '', ''],
    ],
    room,
  )
  const filled = Math.min(1, tokens / window)
  const cells = Math.min(windowBlocks, Math.floor(room / 2))
  const blocks = Math.round(filled * cells)
  const picture = '█'.repeat(blocks) + '░'.repeat(cells - blocks)
  return `session ${session}, ${safeLine(model)}
${picture} ${whole(tokens)} of ${whole(window)} tokens (${percent(filled)})

${list}
${counted === 'provider' ? "The total is the provider's count for the last request; the parts are estimates, scaled to it." : 'No response has reported a count yet: all figures are estimates.'}
${isExact ? 'Rebuilt from the transcript, the request has the same hash as the one sent.' : 'Rebuilt from the transcript, the request differs from the one sent (other settings or tags); sizes are close.'}
${cacheText(cache, Date.now())}
`
}
const windowBlocks = 60

// `pal context --count`: the request as its provider counts it, asked over the network.

type ProviderCount = { readonly tokens: number } | { readonly why: string }

/** Tokens of a request as its provider counts them, or why it could not be asked. */
async function countByProvider(
  { access, settings }: Pick<Workplace, 'access' | 'settings'>,
  { wire, provider, model }: Spoken,
  body: string,
): Promise<ProviderCount> {
  if (access === null) return { why: 'no key was found; pal doctor says where one is looked for' }
  const asked = { wire: wire.name, provider, model, body, betas: [], source: 'count' }
  const counted = await modelIn({ model: access, settings })?.count?.(asked, new AbortController().signal)
  if (counted === undefined || counted === null) return { why: `the API of ${model} has no way to ask` }
  return counted.ok ? { tokens: counted.tokens } : { why: counted.failure.message }
}

const countText = (count: ProviderCount): string =>
  'tokens' in count
    ? `The provider counts ${whole(count.tokens)} tokens for this request.`
    : `The provider was not asked for its count: ${safeLine(count.why)}.`

// ---- how a provider caches what it is sent, in words: by its wire and model, not by what we know of one of them ----

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
