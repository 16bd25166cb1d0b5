// The last request of a session, composed again from its transcript. It must have the hash that was written down when it
// was sent; where settings have changed since, it may not, and that is said.
import { lookUp, windowOf, wireModelId, type ModelTable } from '../../model/models.ts'
import type { WireThinking } from '../../model/wire.ts'
import { Fold } from '../../projection/fold.ts'
import { taggingOf } from '../../projection/layers/snip.ts'
import type { View } from '../../projection/view.ts'
import { createComposer } from '../../request/compose.ts'
import { isKnown, type FactOf, type Usage } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { lineageOf, readLine } from '../../transcript/lineage.ts'
import type { Store } from '../../transcript/store.ts'

export interface RequestSettings {
  readonly models: ModelTable
  /** For a session that has sent nothing yet. */
  readonly model: string
  readonly window?: number | undefined
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
}

export interface SentRequest {
  readonly ok: true
  readonly body: string
  readonly view: View
  readonly model: string
  readonly window: number
  /** Size of the prompt. */
  readonly tokens: number
  readonly counted: 'provider' | 'estimate'
  readonly isExact: boolean
}

export async function lastRequest(
  store: Store,
  session: SessionId,
  settings: RequestSettings,
): Promise<SentRequest | { readonly ok: false; readonly why: string }> {
  const line = await lineageOf(store, session)
  if (!line.ok) return { ok: false, why: line.failure.message }
  const last = await lastSent(store, session)
  const fold = new Fold()
  const range = last === null ? {} : { to: last.sent.upTo }
  for await (const item of readLine(store, line.links, range)) {
    if (item.kind === 'failed') return { ok: false, why: item.failure.message }
    if (item.kind === 'entry') fold.push(item.entry)
  }
  const view = fold.view()
  const model = last?.sent.model ?? wireModelId(settings.model)
  const outcome = createComposer({ tag: taggingOf(view) }).compose(view, {
    model,
    maxTokens: 1,
    bindsPrefix: lookUp(settings.models, model)?.capabilities.bindsPrefix ?? false,
    lifetime: last === null ? '5m' : (last.sent.lifetime ?? null),
    thinking: settings.thinking,
    effort: settings.effort,
  })
  if (!outcome.ok) return { ok: false, why: `the session holds no request: ${outcome.why}` }
  const { usage } = last ?? {}
  return {
    ok: true,
    body: outcome.composed.body,
    view,
    model,
    window: windowOf({
      model: wireModelId(settings.model) === model ? settings.model : model,
      table: settings.models,
      override: settings.window,
    }).tokens,
    tokens: usage === undefined ? view.tokens : usage.input + usage.cacheRead + usage.cacheWrite,
    counted: usage === undefined ? 'estimate' : 'provider',
    isExact: outcome.composed.hash === last?.sent.hash,
  }
}

/** The newest request and what its answer reported, read from the end. */
async function lastSent(
  store: Store,
  session: SessionId,
): Promise<{ readonly sent: FactOf<'request-sent'>; readonly usage: Usage | undefined } | null> {
  let usage: Usage | undefined
  for await (const item of store.readBack(session)) {
    if (item.kind === 'failed') return null
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type === 'assistant-message') usage = fact.usage
    if (fact.type === 'request-sent') return { sent: fact, usage }
  }
  return null
}
