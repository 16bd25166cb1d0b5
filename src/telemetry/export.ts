// An old session as OTLP: read from the store with the times it has, with everything it started, and sent in batches. Ids are
// made of the entries, so sending it again changes nothing where spans are kept by their id.
import { defaults } from '../settings/defaults.ts'
import { isKnown } from '../transcript/fact.ts'
import type { SessionId } from '../transcript/ids.ts'
import type { Failure, Store } from '../transcript/store.ts'
import { metricsJson, Recorder, tracesJson, type Resource } from './otlp.ts'
import { createTelemetry } from './telemetry.ts'
import type { ReaderOptions } from './teller.ts'

export interface TelemetryExport extends Omit<ReaderOptions, 'port'> {
  readonly resource: Resource
}

/** One body for the collector. */
export interface OtlpBody {
  readonly signal: 'traces' | 'metrics'
  readonly body: string
  readonly spans: number
}

export type Exported =
  | { readonly ok: true; readonly body: OtlpBody }
  | { readonly ok: false; readonly failure: Failure }
  | { readonly ok: true; readonly body: null; readonly damage: string }

/** The bodies for a session and all it started, in order: spans in batches, then the sums of the whole. */
export async function* otlpOf(
  store: Store,
  session: SessionId,
  { resource, ...options }: TelemetryExport,
): AsyncGenerator<Exported> {
  const family = await familyOf(store, session)
  const recorder = new Recorder(Infinity)
  const telemetry = createTelemetry({ ...options, port: recorder, read: new Set(family) })
  for (const member of family) {
    let last = 0
    for await (const item of store.read(member)) {
      if (item.kind === 'failed') return yield { ok: false, failure: item.failure }
      if (item.kind === 'damage') {
        yield { ok: true, body: null, damage: `${item.damage.where}: ${item.damage.what}` }
        continue
      }
      telemetry.take(member, item.entry)
      if (isKnown(item.entry)) last = item.entry.at
      while (recorder.waiting >= defaults.telemetry.batchSpans) yield traces(recorder, resource)
    }
    recorder.endOpen(last)
  }
  while (recorder.waiting > 0) yield traces(recorder, resource)
  const series = recorder.series()
  if (series.size > 0)
    yield { ok: true, body: { signal: 'metrics', body: metricsJson(resource, series, 'delta'), spans: 0 } }
}

function traces(recorder: Recorder, resource: Resource): Exported {
  const spans = recorder.take(defaults.telemetry.batchSpans)
  return { ok: true, body: { signal: 'traces', body: tracesJson(resource, spans), spans: spans.length } }
}

/** The session, then what it started, each after the one that started it. Branches are conversations of their own. */
async function familyOf(store: Store, session: SessionId): Promise<readonly SessionId[]> {
  const children = new Map<string, SessionId[]>()
  for await (const info of store.list()) {
    if (!info.ok) continue
    const above = await starterOf(store, info.session)
    if (above !== null) children.set(above, [...(children.get(above) ?? []), info.session])
  }
  const family = [session]
  for (const member of family)
    for (const child of children.get(member)?.toReversed() ?? [])
      if (!family.includes(child)) family.push(child)
  return family
}

/** Who started a session that is no conversation of its own. */
async function starterOf(store: Store, session: SessionId): Promise<string | null> {
  for await (const item of store.read(session)) {
    if (item.kind !== 'entry') return null
    const fact = isKnown(item.entry) ? item.entry.fact : null
    if (fact?.type !== 'session-start' || fact.purpose === 'main') return null
    return fact.startedBy ?? fact.parent?.session ?? null
  }
  return null
}
