// `pal context`: what a session's context holds, from the last request really sent. It is composed again from the
// transcript and broken down by where each block came from.
import { MemoryRoom } from '../../engine/opening/memory-room.ts'
import { supplyMissing } from '../../engine/opening/supply.ts'
import { lookUp, windowOf, wireModelId, type ModelTable } from '../../model/models.ts'
import { breakdown, type SourceRow } from '../../inspector/requests/breakdown.ts'
import type { WireThinking } from '../../model/wire.ts'
import { modelOf, tableOf } from '../../preset.ts'
import { wireIn } from '../../preset/reaching.ts'
import { thinkingOf } from '../../preset/choices.ts'
import { Fold } from '../../projection/fold.ts'
import { taggingOf } from '../../projection/layers/snip.ts'
import type { View } from '../../projection/view.ts'
import type { ComposeOutcome } from '../../request/compose.ts'
import { createComposer } from '../../wires/anthropic/compose.ts'
import type { Spoken, WireChooser } from '../../wires/wire.ts'
import { isKnown } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { lineageOf, readLine } from '../../transcript/lineage.ts'
import type { Store } from '../../transcript/store.ts'
import { complain, exits, refuse, type Exit } from '../exit-codes.ts'
import { showSession } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { bar, percent, prose, table, whole } from '../terminal/tables.ts'
import type { ProjectFlags, Workplace } from '../workplace/workplace.ts'
import { cacheText, cacheView, lastSent, spokenLast, type CacheView } from './context-cache.ts'
import { countByProvider, countText } from './context-count.ts'

const barWidth = 24

export const context = (
  io: Io,
  id: string | undefined,
  flags: ProjectFlags & { readonly count?: boolean | undefined },
): Promise<Exit> =>
  showSession(io, id, flags, (place, store, session, json) =>
    showContext(place, store, session, json, flags.count === true),
  )

export async function showContext(
  { io, settings, access }: Workplace,
  store: Store,
  session: SessionId,
  json: boolean,
  counts = false,
): Promise<Exit> {
  const models = tableOf(settings)
  const request = await lastRequest(store, session, {
    models,
    model: modelOf(settings),
    wire: wireIn({ model: access ?? undefined, settings }, models),
    window: settings.window,
    thinking: thinkingOf(settings),
    effort: settings.effort,
  })
  if (!request.ok) return complain(io, refuse(exits.failed, request.why))
  const rows = breakdown(request.body, request.view, request.tokens)
  const { body: _body, view: _view, ok: _ok, sentBody, spoken, ...about } = request
  const count = counts ? await countByProvider({ access, settings }, spoken, sentBody) : null
  const counted = count === null ? {} : { provider: count }
  io.out(
    json
      ? `${safeJson({ session, ...about, ...counted, sources: rows }, 2)}\n`
      : prose(
          `${asPicture(session, request, rows, io)}${count === null ? '' : `${countText(count)}\n`}`,
          io.columns,
        ),
  )
  return exits.done
}

function asPicture(
  session: string,
  request: SentRequest,
  rows: readonly SourceRow[],
  { columns: room }: Io,
): string {
  const { tokens, window, counted, isExact, model, cache } = request
  const most = Math.max(1, ...rows.map((row) => row.tokens))
  const list = table(
    [
      { title: 'source' },
      { title: 'blocks', right: true },
      { title: 'tokens', right: true },
      { title: 'share', right: true },
      { title: '', drop: 1 },
    ],
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
  return `session ${session}, ${model}
${picture} ${whole(tokens)} of ${whole(window)} tokens (${percent(filled)})

${list}
${counted === 'provider' ? "The total is the provider's count for the last request; the parts are estimates, scaled to it." : 'No response has reported a count yet: all figures are estimates.'}
${isExact ? 'Rebuilt from the transcript, the request has the same hash as the one sent.' : 'Rebuilt from the transcript, the request differs from the one sent (other settings or tags); sizes are close.'}
${cacheText(cache, Date.now())}
`
}
const windowBlocks = 60

// ---- the request ----

interface RequestSettings {
  readonly models: ModelTable
  /** For a session that has sent nothing yet. */
  readonly model: string
  readonly wire: WireChooser
  readonly window?: number | undefined
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
}

interface SentRequest {
  readonly ok: true
  /** In the words of the Messages API, by which sources are told apart. */
  readonly body: string
  /** As it was written for its own wire. */
  readonly sentBody: string
  readonly spoken: Spoken
  readonly view: View
  readonly model: string
  readonly window: number
  /** Size of the prompt. */
  readonly tokens: number
  readonly counted: 'provider' | 'estimate'
  readonly isExact: boolean
  readonly cache: CacheView
}

/**
 * The last request, composed again. It must have the hash that was written down when it was sent; where settings have
 * changed since, it may not, and that is said.
 */
async function lastRequest(
  store: Store,
  session: SessionId,
  settings: RequestSettings,
): Promise<SentRequest | { readonly ok: false; readonly why: string }> {
  const line = await lineageOf(store, session)
  if (!line.ok) return { ok: false, why: line.failure.message }
  const last = await lastSent(store, session)
  const fold = new Fold()
  const range = last === null ? {} : { to: last.sent.upTo }
  const room = new MemoryRoom(session)
  let inForce = settings.model
  for await (const item of readLine(store, line.links, range)) {
    if (item.kind === 'damage') continue
    const failure = item.kind === 'failed' ? item.failure : room.take(item)
    if (failure !== null || item.kind === 'failed') return { ok: false, why: failure?.message ?? '' }
    const { entry } = item
    const missing = isKnown(entry) ? await supplyMissing(store, line.links, fold, entry.fact, true) : null
    if (missing !== null) return { ok: false, why: missing.message }
    fold.push(entry)
    if (isKnown(entry) && entry.fact.type === 'model-set') inForce = entry.fact.model
    if (!isKnown(entry) || entry.fact.type !== 'boundary') continue
    fold.evict()
    room.clear()
  }
  const view = fold.view()
  const spoken = spokenLast(settings.wire, inForce, last?.sent.model)
  const { wire, quirks } = spoken
  const model = last?.sent.model ?? spoken.model
  const parameters = {
    model,
    maxTokens: 1,
    bindsPrefix: lookUp(settings.models, model)?.capabilities.bindsPrefix ?? false,
    lifetime: last === null ? '5m' : (last.sent.lifetime ?? null),
    thinking: settings.thinking,
    effort: settings.effort,
  } as const
  const tag = taggingOf(view)
  // Sources are told apart in the words of the Messages API; whether it is the request that was sent, its own wire says.
  const outcome = createComposer({ tag }).compose(view, parameters)
  const sent = wire.createComposer({ tag, quirks }).compose(view, parameters)
  if (!outcome.ok || !sent.ok)
    return { ok: false, why: `the session has no request: ${whyNot(outcome, sent)}` }
  const { usage } = last ?? {}
  return {
    ok: true,
    body: outcome.composed.body,
    sentBody: sent.composed.body,
    spoken,
    view,
    model,
    window: windowOf({
      model: wireModelId(settings.model) === model ? settings.model : model,
      table: settings.models,
      override: settings.window,
    }).tokens,
    tokens: usage === undefined ? view.tokens : usage.input + usage.cacheRead + usage.cacheWrite,
    counted: usage === undefined ? 'estimate' : 'provider',
    isExact: sent.composed.hash === last?.sent.hash,
    cache: cacheView(spoken, settings.models, last),
  }
}

const whyNot = (...outcomes: readonly ComposeOutcome[]): string =>
  outcomes.flatMap((each) => (each.ok ? [] : [each.why]))[0] ?? ''
