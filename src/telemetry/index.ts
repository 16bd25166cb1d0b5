// `palimpsest/otel`: spans and metrics of sessions. `observed` attaches it to whatever is written through a store; the port is
// OpenTelemetry's own API, or a sender that needs no further package; `otlpOf` reads an old session.
export { openTelemetryPort } from './api-port.ts'
export { instruments, names, operations, schemaUrl, scopeName } from './conventions.ts'
export type { Instrument, InstrumentName, Operation } from './conventions.ts'
export { otlpOf, type Exported, type OtlpBody, type TelemetryExport } from './export.ts'
export { observed, type Observed, type ObserveOptions } from './observe.ts'
export type { Resource } from './otlp.ts'
export {
  collectorName,
  createSender,
  post as postOtlp,
  type Posted,
  type Posting,
  type Sender,
  type SenderOptions,
} from './sender.ts'
export type { Attributes, AttributeValue, SpanContext, SpanEnd, SpanStart, TelemetryPort } from './port.ts'
export type { ReaderOptions } from './teller.ts'
export { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.ts'
