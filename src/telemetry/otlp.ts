// OTLP: a port that keeps what it is told until somebody sends it (spans that have ended, and sums by instrument and attributes;
// both are bounded, and what does not fit is counted), and the JSON in which it is sent: ids as hexadecimal digits, times as
// nanoseconds in text, whole numbers as text.
import { defaults } from '../settings/defaults.ts'
import {
  instruments,
  names,
  schemaUrl,
  scopeName,
  type Instrument,
  type InstrumentName,
} from './conventions.ts'
import type { Attributes, AttributeValue, SpanContext, SpanEnd, SpanStart, TelemetryPort } from './port.ts'

const unfinished = 'unfinished'

export class Recorder implements TelemetryPort {
  readonly #open = new Map<string, SpanStart>()
  readonly #series = new Map<InstrumentName, Map<string, Series>>()
  readonly #most: number
  #ended: EndedSpan[] = []
  #dropped = 0
  /** Told when something has come. */
  onChange: (() => void) | null = null

  constructor(most: number = defaults.telemetry.waitingSpans) {
    this.#most = most
  }

  begin(span: SpanStart): void {
    this.#open.set(span.spanId, span)
  }

  end({ spanId }: SpanContext, ending: SpanEnd): void {
    const start = this.#open.get(spanId)
    if (start === undefined) return
    this.#open.delete(spanId)
    this.keep([{ start, ending }])
    this.onChange?.()
  }

  /** Of a session that broke off: what is still open ends with its last entry, and says so. */
  endOpen(last: number): void {
    const attributes = { [names.errorType]: unfinished }
    for (const { spanId, traceId, at } of this.#open.values())
      this.end({ spanId, traceId }, { at: Math.max(at, last), attributes, error: unfinished })
  }

  count(name: InstrumentName, value: number, attributes: Attributes, at: number): void {
    const series = this.#seriesOf(name, attributes, at)
    series.value = instruments[name].kind === 'gauge' ? value : series.value + value
    series.lastAt = Math.max(series.lastAt, at)
    this.onChange?.()
  }

  record(name: InstrumentName, value: number, attributes: Attributes, at: number): void {
    const series = this.#seriesOf(name, attributes, at)
    series.value += value
    series.count++
    series.min = Math.min(series.min, value)
    series.max = Math.max(series.max, value)
    const bounds = boundsOf(name)
    const bucket = bounds.findIndex((bound) => value <= bound)
    series.buckets[bucket < 0 ? bounds.length : bucket]!++
    series.lastAt = Math.max(series.lastAt, at)
    this.onChange?.()
  }

  /** Puts spans at the end of what waits; those for which there is no room are counted. */
  keep(spans: readonly EndedSpan[]): void {
    const fit = spans.slice(0, Math.max(0, this.#most - this.#ended.length))
    this.#ended.push(...fit)
    this.#dropped += spans.length - fit.length
  }

  /** Takes up to so many spans out of what waits. */
  take(most: number): readonly EndedSpan[] {
    const taken = this.#ended.slice(0, most)
    this.#ended = this.#ended.slice(taken.length)
    return taken
  }

  get waiting(): number {
    return this.#ended.length
  }

  get dropped(): number {
    return this.#dropped
  }

  /** Sums so far. */
  series(): SeriesByName {
    return new Map([...this.#series].map(([name, series]) => [name, [...series.values()]]))
  }

  #seriesOf(name: InstrumentName, attributes: Attributes, at: number): Series {
    const all = this.#series.get(name) ?? new Map<string, Series>()
    this.#series.set(name, all)
    const key = JSON.stringify(attributes)
    const known = all.get(key)
    if (known !== undefined) return known
    const buckets = boundsOf(name).length === 0 ? [] : Array<number>(boundsOf(name).length + 1).fill(0)
    const fresh: Series = {
      attributes,
      value: 0,
      count: 0,
      min: Infinity,
      max: -Infinity,
      buckets,
      firstAt: at,
      lastAt: at,
    }
    all.set(key, fresh)
    return fresh
  }
}

const boundsOf = (name: InstrumentName): readonly number[] => {
  const { bounds = [] }: Instrument = instruments[name]
  return bounds
}

interface EndedSpan {
  readonly start: SpanStart
  readonly ending: SpanEnd
}

/** One series of an instrument: its attributes and what came together. */
interface Series {
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
type Temporality = 'cumulative' | 'delta'
const temporalities = { delta: 1, cumulative: 2 } as const

type SeriesByName = ReadonlyMap<InstrumentName, readonly Series[]>

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
