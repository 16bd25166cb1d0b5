// The port over @opentelemetry/api: for programs that have set up OpenTelemetry themselves. Spans go to their tracer and
// metrics to their meter; ids are then of their making. The package is loaded here and nowhere else.
import type { Attributes as ApiAttributes, Context, Meter, Span, Tracer } from '@opentelemetry/api'
import { instruments, schemaUrl, scopeName, type InstrumentName } from './conventions.ts'
import type { Attributes, TelemetryPort } from './port.ts'

/** How many spans that have ended may still become parents. */
const rememberedSpans = 10_000

/** A port to whatever tracer and meter are registered globally. Rejects where the package is not installed. */
export async function openTelemetryPort(version = '0'): Promise<TelemetryPort> {
  const { context, metrics, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const tracer: Tracer = trace.getTracer(scopeName, version)
  const meter: Meter = metrics.getMeter(scopeName, version, { schemaUrl })
  const spans = new Map<string, Span>()
  const add = addersOf(meter)
  const under = (spanId: string | undefined): Context => {
    const parent = spanId === undefined ? undefined : spans.get(spanId)
    return parent === undefined ? context.active() : trace.setSpan(context.active(), parent)
  }
  const remember = (spanId: string, span: Span): void => {
    spans.set(spanId, span)
    if (spans.size <= rememberedSpans) return
    const [oldest] = spans.keys()
    spans.delete(oldest!)
  }
  return {
    begin: ({ spanId, name, kind, parent, links, at, attributes }) => {
      const known = links.flatMap((link) => spans.get(link.spanId) ?? [])
      const span = tracer.startSpan(
        name,
        {
          kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
          startTime: at,
          attributes: apiAttributes(attributes),
          links: known.map((one) => ({ context: one.spanContext() })),
        },
        under(parent?.spanId),
      )
      remember(spanId, span)
    },
    end: ({ spanId }, { at, attributes, error }) => {
      const span = spans.get(spanId)
      if (span === undefined) return
      span.setAttributes(apiAttributes(attributes))
      if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
      span.end(at)
    },
    count: add,
    record: add,
  }
}

const apiAttributes = (attributes: Attributes): ApiAttributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === 'object' ? [...value] : value]),
  )

/** Instruments are made when they are first used. */
function addersOf(meter: Meter): (name: InstrumentName, value: number, attributes: Attributes) => void {
  const made = new Map<InstrumentName, (value: number, attributes: Attributes) => void>()
  const make = (name: InstrumentName) => {
    const instrument = instruments[name]
    const options = { unit: instrument.unit, description: instrument.about }
    if (instrument.kind === 'histogram') {
      const advice = { explicitBucketBoundaries: [...(instrument.bounds ?? [])] }
      const histogram = meter.createHistogram(name, { ...options, advice })
      return (value: number, attributes: Attributes) => histogram.record(value, apiAttributes(attributes))
    }
    const own = instrument.kind === 'gauge' ? meter.createGauge(name, options) : null
    const counter = own === null ? meter.createCounter(name, options) : null
    return (value: number, attributes: Attributes) => {
      own?.record(value, apiAttributes(attributes))
      counter?.add(value, apiAttributes(attributes))
    }
  }
  return (name, value, attributes) => {
    const add = made.get(name) ?? make(name)
    made.set(name, add)
    add(value, attributes)
  }
}
