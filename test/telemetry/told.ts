// A port that notes what it is told, and sessions from facts.
import type { InstrumentName } from '../../src/telemetry/conventions.ts'
import type { Attributes, SpanEnd, SpanStart, TelemetryPort } from '../../src/telemetry/port.ts'
import { createTelemetry, type TelemetryOptions } from '../../src/telemetry/telemetry.ts'
import { modelTable } from '../../src/model/models.ts'
import type { Entry, Fact } from '../../src/transcript/fact.ts'
import { seq, uuid } from '../../src/transcript/ids.ts'

export interface ToldSpan extends SpanStart {
  readonly ending: SpanEnd | null
}

export class Told implements TelemetryPort {
  readonly #spans = new Map<string, ToldSpan>()
  readonly values: { name: InstrumentName; value: number; attributes: Attributes }[] = []

  begin(span: SpanStart): void {
    if (this.#spans.has(span.spanId)) throw new Error(`${span.name} began twice`)
    this.#spans.set(span.spanId, { ...span, ending: null })
  }
  end({ spanId }: { spanId: string }, ending: SpanEnd): void {
    const span = this.#spans.get(spanId)
    if (span === undefined || span.ending !== null) throw new Error('ended without a beginning, or twice')
    this.#spans.set(spanId, { ...span, ending })
  }
  count(name: InstrumentName, value: number, attributes: Attributes): void {
    this.values.push({ name, value, attributes })
  }
  record(name: InstrumentName, value: number, attributes: Attributes): void {
    this.values.push({ name, value, attributes })
  }
  spans(): readonly ToldSpan[] {
    return [...this.#spans.values()]
  }
  named(name: string): readonly ToldSpan[] {
    return this.spans().filter((span) => span.name.startsWith(name))
  }
  sum(name: InstrumentName, where: Attributes = {}): number {
    return this.values
      .filter(
        (one) =>
          one.name === name && Object.entries(where).every(([key, value]) => one.attributes[key] === value),
      )
      .reduce((all, { value }) => all + value, 0)
  }
}

const stepMs = 1000

/** Facts as the entries of a session, a second apart. */
export const entriesOf = (facts: readonly Fact[], first = 0): readonly Entry[] =>
  facts.map((fact, at) => ({
    v: 1,
    seq: seq(first + at),
    uuid: uuid(`u${first + at}`),
    parent: null,
    at: 1_700_000_000_000 + (first + at) * stepMs,
    fact,
  }))

export function toldOf(
  sessions: Readonly<Record<string, readonly Entry[]>>,
  more: Partial<TelemetryOptions> = {},
): Told {
  const port = new Told()
  const telemetry = createTelemetry({ port, models: modelTable(), ...more })
  for (const [session, entries] of Object.entries(sessions))
    for (const entry of entries) telemetry.take(session, entry)
  return port
}
