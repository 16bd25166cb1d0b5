// How one session tells its spans: with its id on each of them, and on no metric. Ids of spans are by what they are about, not
// by chance: the same session gives the same ids live, after a crash and in a later export, so that a backend that is told twice
// keeps one. Texts go along only where a person has switched content on, without secrets and up to their cap.
import { createHash } from 'node:crypto'
import { forOthers } from '../disk/redact.ts'
import type { ModelTable } from '../model/models.ts'
import { defaults } from '../settings/defaults.ts'
import type { Seq } from '../transcript/ids.ts'
import { type InstrumentName, names, operations } from './conventions.ts'
import type { Attributes, SpanContext, SpanStart, TelemetryPort } from './port.ts'

/** What a reader of facts is given. */
export interface ReaderOptions {
  readonly port: TelemetryPort
  readonly models: ModelTable
  /** Texts go along; left out, none does. */
  readonly content?: boolean | undefined
  /** Whether a path is that of a memory: a call that writes there is one of its operations. */
  readonly isMemory?: ((path: string) => boolean) | undefined
}

/** Where an entry stands. */
export interface Place {
  readonly seq: Seq
  readonly at: number
}

/** How a span ended. */
interface Ending {
  readonly end: number
  readonly attributes: Attributes
  readonly error: string | null
}

interface Moment extends Ending {
  readonly operation: string
}

export const milli = 1000

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

  end({ context, at }: { readonly context: SpanContext; readonly at: number }, ending: Ending): void {
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

const traceBytes = 16
const spanBytes = 8

const hashed = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2)

export const newTrace = (session: string, seq: number): string =>
  hashed(`trace/${session}/${seq}`, traceBytes)

/** A span about the entry at this place; `what` tells several of one entry apart. */
export const spanAt = (traceId: string, session: string, seq: number, what: string): SpanContext => ({
  traceId,
  spanId: hashed(`span/${session}/${seq}/${what}`, spanBytes),
})

/** A short text on a span: well-formed, and never longer than its cap. */
export const short = (text: string): string => text.slice(0, defaults.telemetry.textChars).toWellFormed()

/** Texts and calls of one message, as JSON. Images and documents are named, not sent. */
export const messageJson = (role: string, blocks: readonly { readonly type: string }[]): string =>
  capped(JSON.stringify([{ role, parts: blocks.map(partOf) }]))

export const valueJson = (value: unknown): string => capped(JSON.stringify(value) ?? 'null')

const capped = (json: string): string =>
  forOthers(json.toWellFormed()).slice(0, defaults.telemetry.contentChars).toWellFormed()

function partOf({ type, ...rest }: { readonly type: string }): unknown {
  const { text, id, name, input } = rest as Readonly<Record<string, unknown>>
  if (type === 'text') return { type, content: text }
  return type === 'tool_use' ? { type: 'tool_call', id, name, arguments: input } : { type }
}
