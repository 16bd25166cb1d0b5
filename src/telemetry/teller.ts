// How one session tells its spans: with its id on each of them, and on no metric.
import type { Seq } from '../transcript/ids.ts'
import { short } from './content.ts'
import { names, operations, type InstrumentName } from './conventions.ts'
import { newTrace, spanAt } from './ids.ts'
import type { Attributes, SpanContext, SpanStart, TelemetryPort } from './port.ts'

/** Where an entry stands. */
export interface Place {
  readonly seq: Seq
  readonly at: number
}

export interface Moment {
  readonly operation: string
  readonly end: number
  readonly attributes: Attributes
  readonly error: string | null
}

const milli = 1000

export class Teller {
  readonly session: string
  readonly port: TelemetryPort
  /** What the session is for: main, agent, summary … */
  purpose = 'main'

  constructor(session: string, port: TelemetryPort) {
    this.session = session
    this.port = port
  }

  begin(context: SpanContext, start: Omit<SpanStart, keyof SpanContext>): void {
    const attributes = { [names.conversation]: this.session, ...start.attributes }
    this.port.begin({ ...context, ...start, attributes })
  }

  end({ context, at }: { readonly context: SpanContext; readonly at: number }, ending: Moment): void {
    const attributes = { ...ending.attributes, ...failedWith(ending.error) }
    this.port.end(context, { at: Math.max(at, ending.end), attributes, error: ending.error })
  }

  /** A span that is known when it has ended; without a turn before it, it stands alone. */
  moment(parent: SpanContext | null, { seq, at }: Place, moment: Moment): void {
    const { operation, attributes } = moment
    const traceId = parent?.traceId ?? newTrace(this.session, seq)
    const context = spanAt(traceId, this.session, seq, operation)
    const { [names.agentName]: agent } = attributes
    const name = operation === operations.agent ? `${operation} ${String(agent)}` : operation
    const own = { [names.place]: seq }
    this.begin(context, { name, kind: 'internal', parent, links: [], at, attributes: own })
    this.end({ context, at }, moment)
  }

  duration(name: InstrumentName, from: number, to: number, attributes: Attributes): void {
    this.port.record(name, Math.max(0, to - from) / milli, attributes, to)
  }

  /** What may stand on a metric: never the name of a session, a person or a file. */
  own(model?: string): Attributes {
    const purpose = { [names.purpose]: short(this.purpose) }
    return model === undefined ? purpose : { ...purpose, [names.requestModel]: short(model) }
  }
}

export const failedWith = (error: string | null): Attributes =>
  error === null ? {} : { [names.errorType]: error }
