// The port through which spans and metrics leave: four verbs, none of which waits, throws or answers. A span is told when
// it begins and when it ends, with the times of the facts, so that it can be told years later as well as now.
import type { InstrumentName } from './conventions.ts'

export type AttributeValue = string | number | boolean | readonly string[]
export type Attributes = Readonly<Record<string, AttributeValue>>

/** Names a span, the same whenever it is read: 16 and 8 bytes as hexadecimal digits. */
export interface SpanContext {
  readonly traceId: string
  readonly spanId: string
}

export interface SpanStart extends SpanContext {
  readonly name: string
  readonly kind: 'internal' | 'client'
  readonly parent: SpanContext | null
  /** Spans of other traces it goes on from. */
  readonly links: readonly SpanContext[]
  /** Milliseconds. */
  readonly at: number
  readonly attributes: Attributes
}

export interface SpanEnd {
  readonly at: number
  readonly attributes: Attributes
  /** What it ended with, where it failed. */
  readonly error: string | null
}

export interface TelemetryPort {
  begin(span: SpanStart): void
  end(span: SpanContext, ending: SpanEnd): void
  /** Adds to a counter, or sets a gauge. */
  count(name: InstrumentName, value: number, attributes: Attributes, at: number): void
  /** One value of a histogram. */
  record(name: InstrumentName, value: number, attributes: Attributes, at: number): void
}
