// The port over OpenTelemetry's API, with its real SDK behind it.
import { metrics, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { afterEach, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { modelTable } from '../../src/model/models.ts'
import { call, text } from '../../src/simulator/index.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import { observed, openTelemetryPort } from '../../src/telemetry/index.ts'
import { modelId, simulated, tool, turn } from '../e2e/simulated.ts'

afterEach(() => {
  trace.disable()
  metrics.disable()
})

it('[TM13] spans and metrics reach what the program has set up, children below their parents', async () => {
  const spans = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 1_000_000 })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))

  const { model } = await simulated([[call('Echo', {})], [text('done')]])
  const port = await openTelemetryPort('1.2.3')
  const { store } = observed(inMemoryStore(), { port, models: modelTable(), now: () => Date.now() })
  const session = await createEngine({ store, modelId, model, tools: [tool('Echo', () => 'x')] }).open()
  expect((await turn(session.send('go'))).outcome).toBe('done')
  await session.close()
  await reader.forceFlush()

  const got = spans.getFinishedSpans()
  const [agent] = got.filter(({ name }) => name === 'invoke_agent main')
  expect(got.map(({ name }) => name).sort()).toEqual([
    `chat ${modelId}`,
    `chat ${modelId}`,
    'execute_tool Echo',
    'invoke_agent main',
  ])
  for (const span of got.filter((one) => one !== agent))
    expect(span.parentSpanContext?.spanId).toBe(agent?.spanContext().spanId)
  expect(agent?.instrumentationScope).toMatchObject({ name: 'palimpsest', version: '1.2.3' })
  const all = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics))
  const sum = (name: string): number =>
    all
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }) =>
        dataPoints.map(({ value }) =>
          typeof value === 'number' ? value : ((value as { sum?: number }).sum ?? 0),
        ),
      )
      .reduce((left, right) => left + right, 0)
  const spent = session.spent()
  expect(sum('palimpsest.request.tokens')).toBe(
    spent.input + spent.cacheRead + spent.cacheWrite + spent.output,
  )
  expect(sum('gen_ai.client.token.usage')).toBe(sum('palimpsest.request.tokens'))
  expect(sum('palimpsest.request.cost')).toBeCloseTo(spent.dollars, 12)
})
