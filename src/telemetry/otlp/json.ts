// Spans and metrics as OTLP writes them in JSON: ids as hexadecimal digits, times as nanoseconds in text, whole numbers as text.
import { instruments, schemaUrl, scopeName, type InstrumentName } from '../conventions.ts'
import type { Attributes, AttributeValue, SpanEnd, SpanStart } from '../port.ts'

export interface EndedSpan {
  readonly start: SpanStart
  readonly ending: SpanEnd
}

/** One series of an instrument: its attributes and what came together. */
export interface Series {
  readonly attributes: Attributes
  /** Of a counter its sum, of a gauge its last value, of a histogram the sum of its values. */
  value: number
  count: number
  min: number
  max: number
  /** How many values lie in each bucket; of histograms alone. */
  readonly buckets: number[]
  firstAt: number
  lastAt: number
}

export interface Resource {
  readonly service: string
  readonly version: string
  /** Tells processes apart, so that their sums are not taken for one. */
  readonly instance?: string | undefined
  readonly more?: Readonly<Record<string, string>> | undefined
}

const nanos = (ms: number): string => `${BigInt(Math.round(ms * perMilli)) * nanosPerMicro}`
/** Parts of a millisecond are kept to the microsecond. */
const perMilli = 1000
const nanosPerMicro = 1000n

const valueOf = (value: AttributeValue): object => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } }
}

const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))

const resourceOf = ({ service, version, instance, more = {} }: Resource): object => ({
  attributes: attributesOf({
    ...more,
    'service.name': service,
    'service.version': version,
    ...(instance === undefined ? {} : { 'service.instance.id': instance }),
  }),
})

const kinds = { internal: 1, client: 3 } as const
const failed = 2

/** The body of a request to `/v1/traces`. */
export function tracesJson(resource: Resource, spans: readonly EndedSpan[]): string {
  const all = spans.map(({ start, ending }) => ({
    traceId: start.traceId,
    spanId: start.spanId,
    ...(start.parent === null ? {} : { parentSpanId: start.parent.spanId }),
    name: start.name,
    kind: kinds[start.kind],
    startTimeUnixNano: nanos(start.at),
    endTimeUnixNano: nanos(ending.at),
    attributes: attributesOf({ ...start.attributes, ...ending.attributes }),
    ...(start.links.length === 0
      ? {}
      : { links: start.links.map(({ traceId, spanId }) => ({ traceId, spanId })) }),
    ...(ending.error === null ? {} : { status: { code: failed, message: ending.error } }),
  }))
  const scope = { name: scopeName, version: resource.version }
  return JSON.stringify({
    resourceSpans: [
      { resource: resourceOf(resource), scopeSpans: [{ scope, spans: all, schemaUrl }], schemaUrl },
    ],
  })
}

/** Sums since the process began, or of a stretch that is over. */
export type Temporality = 'cumulative' | 'delta'
const temporalities = { delta: 1, cumulative: 2 } as const

export type SeriesByName = ReadonlyMap<InstrumentName, readonly Series[]>

/** The body of a request to `/v1/metrics`. With `since` every series began then, and is as of `now`. */
export function metricsJson(
  resource: Resource,
  all: SeriesByName,
  temporality: Temporality,
  times?: { readonly since: number; readonly now: number },
): string {
  const metrics = [...all].map(([name, series]) => {
    const { kind, unit, about } = instruments[name]
    const aggregationTemporality = temporalities[temporality]
    const points = series.map((one) => pointOf(name, one, times))
    const data =
      kind === 'gauge'
        ? { gauge: { dataPoints: points } }
        : kind === 'counter'
          ? { sum: { dataPoints: points, aggregationTemporality, isMonotonic: true } }
          : { histogram: { dataPoints: points, aggregationTemporality } }
    return { name, unit, description: about, ...data }
  })
  const scope = { name: scopeName, version: resource.version }
  return JSON.stringify({
    resourceMetrics: [
      { resource: resourceOf(resource), scopeMetrics: [{ scope, metrics, schemaUrl }], schemaUrl },
    ],
  })
}

function pointOf(
  name: InstrumentName,
  { attributes, value, count, min, max, buckets, firstAt, lastAt }: Series,
  times: { readonly since: number; readonly now: number } | undefined,
): object {
  const common = {
    attributes: attributesOf(attributes),
    startTimeUnixNano: nanos(times?.since ?? firstAt),
    timeUnixNano: nanos(times?.now ?? lastAt),
  }
  const instrument = instruments[name]
  if (instrument.kind !== 'histogram') return { ...common, asDouble: value }
  return {
    ...common,
    count: String(count),
    sum: value,
    min,
    max,
    bucketCounts: buckets.map(String),
    explicitBounds: instrument.bounds,
  }
}
