// A port that keeps what it is told until somebody sends it: spans that have ended, and sums by instrument and attributes.
// Both are bounded; what does not fit is counted.
import { defaults } from '../../settings/defaults.ts'
import { instruments, names, type Instrument, type InstrumentName } from '../conventions.ts'
import type { Attributes, SpanContext, SpanEnd, SpanStart, TelemetryPort } from '../port.ts'
import type { EndedSpan, Series, SeriesByName } from './json.ts'

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
