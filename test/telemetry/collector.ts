// A stand-in for an OTLP collector: takes JSON over real HTTP, refuses what the protocol does not allow, and keeps the rest.
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { later } from '../e2e/simulated.ts'

type Value = {
  stringValue?: string
  intValue?: string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: unknown
}
export type Flat = Readonly<Record<string, string | number | boolean>>

export interface GotSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Flat
  readonly error: string | null
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
}

export interface GotPoint {
  readonly name: string
  readonly attributes: Flat
  /** Of a counter or gauge its value, of a histogram the sum. */
  readonly value: number
  readonly count: number
  readonly temporality: number
  readonly instance: string
}

export interface Collector {
  readonly url: string
  /** By their id: what was sent twice is there once. */
  readonly spans: () => readonly GotSpan[]
  /** The newest of each cumulative series; those of finished stretches each. */
  readonly points: () => readonly GotPoint[]
  /** Everything that came, as text. */
  readonly raw: readonly string[]
  readonly requests: () => number
  readonly headers: readonly http.IncomingHttpHeaders[]
  readonly stop: () => Promise<void>
}

const flat = (attributes: readonly { key: string; value: Value }[]): Flat =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue, arrayValue } }) => [
      key,
      stringValue ??
        boolValue ??
        doubleValue ??
        (intValue === undefined ? JSON.stringify(arrayValue) : Number(intValue)),
    ]),
  )
const ms = (nanos: string): number => Number(BigInt(nanos) / 1000n) / 1000

/* oxlint-disable typescript/no-explicit-any */
export async function collector(
  answer: { status?: number; hang?: boolean; afterMs?: number } = {},
): Promise<Collector> {
  const spans = new Map<string, GotSpan>()
  const points = new Map<string, GotPoint>()
  const raw: string[] = []
  const headers: http.IncomingHttpHeaders[] = []
  const takeSpan = (span: any): void => {
    if (!/^[0-9a-f]{32}$/.test(span.traceId) || !/^[0-9a-f]{16}$/.test(span.spanId))
      throw new Error('bad ids')
    if (
      !/^\d+$/.test(span.startTimeUnixNano) ||
      BigInt(span.endTimeUnixNano) < BigInt(span.startTimeUnixNano)
    )
      throw new Error('bad times')
    spans.set(span.spanId, {
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId ?? null,
      name: span.name,
      startMs: ms(span.startTimeUnixNano),
      endMs: ms(span.endTimeUnixNano),
      attributes: flat(span.attributes),
      error: span.status?.message ?? null,
      links: span.links ?? [],
    })
  }
  const takeMetric = (metric: any, instance: string): void => {
    const data = metric.sum ?? metric.gauge ?? metric.histogram
    for (const point of data.dataPoints) {
      if (metric.histogram !== undefined) {
        const inBuckets = point.bucketCounts.reduce((all: number, one: string) => all + Number(one), 0)
        if (
          inBuckets !== Number(point.count) ||
          point.bucketCounts.length !== point.explicitBounds.length + 1
        )
          throw new Error(`${metric.name}: buckets do not add up`)
      }
      const temporality = data.aggregationTemporality ?? 0
      const attributes = flat(point.attributes)
      const key = JSON.stringify([
        metric.name,
        attributes,
        instance,
        temporality === 1 ? point.timeUnixNano : null,
      ])
      points.set(key, {
        name: metric.name,
        attributes,
        value: point.asDouble ?? point.sum,
        count: Number(point.count ?? 0),
        temporality,
        instance,
      })
    }
  }
  const take = (path: string, body: any): void => {
    if (path === '/v1/traces')
      for (const { scopeSpans, schemaUrl } of body.resourceSpans)
        for (const scope of scopeSpans) {
          if (schemaUrl !== scope.schemaUrl) throw new Error('no schema')
          for (const span of scope.spans) takeSpan(span)
        }
    else if (path === '/v1/metrics')
      for (const { resource, scopeMetrics } of body.resourceMetrics)
        for (const { metrics } of scopeMetrics)
          for (const metric of metrics)
            takeMetric(metric, String(flat(resource.attributes)['service.instance.id'] ?? ''))
    else throw new Error(`no such path ${path}`)
  }
  let requests = 0
  const server = http.createServer((request, response) => {
    requests++
    headers.push(request.headers)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (answer.hang === true) return
      const text = Buffer.concat(chunks).toString('utf8')
      try {
        if (request.headers['content-type'] !== 'application/json') throw new Error('not JSON')
        if (answer.status === undefined) {
          take(request.url ?? '', JSON.parse(text))
          raw.push(text)
        }
        const reply = (): void =>
          void response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' }).end('{}')
        setTimeout(reply, answer.afterMs ?? 0)
      } catch (error) {
        response.writeHead(400).end(String(error))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  later(async () => {
    if (server.listening) await stop()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => [...spans.values()],
    points: () => [...points.values()],
    raw,
    requests: () => requests,
    headers,
    stop,
  }
}

/** For commands against a collector that answers: how busy the machine is must not decide what arrives. */
export const patient = { OTEL_EXPORTER_OTLP_TIMEOUT: '120000' }

export const sumOf = (points: readonly GotPoint[], name: string, where: Flat = {}): number =>
  points
    .filter(
      (point) =>
        point.name === name && Object.entries(where).every(([key, value]) => point.attributes[key] === value),
    )
    .reduce((all, { value }) => all + value, 0)
