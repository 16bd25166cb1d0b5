// Telemetry of sessions while they run: a store around another one, which hands on what was written once it is written.
// Nobody waits for it, and nothing it does can fail an append. Without it the store is the store.
import { isKnown, type StoredEntry } from '../transcript/fact.ts'
import { seq, type SessionId } from '../transcript/ids.ts'
import { storeWith, type Store } from '../transcript/store.ts'
import type { SpanContext, SpanEnd, SpanStart, TelemetryPort } from './port.ts'
import { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.ts'
import { milli } from './teller.ts'

export interface ObserveOptions extends Omit<TelemetryOptions, 'read'> {
  /** Milliseconds, for how long an append took. */
  readonly now: () => number
}

export interface Observed {
  /** The same store, with its appends told to the port. */
  readonly store: Store
  /** Waits until sessions that were opened again have been read from their beginning. */
  settled(): Promise<void>
}

/** Attaches telemetry to every session that is written through a store: hand the store it gives to an engine. */
export function observed(store: Store, options: ObserveOptions): Observed {
  const { port, now } = options
  const watch = new Watch(store, options)
  const appended: Store['append'] = async (lease, entries, expected, durability) => {
    const began = now()
    const outcome = await store.append(lease, entries, expected, durability)
    port.record('palimpsest.store.append.duration', (now() - began) / milli, {}, now())
    if (outcome.ok) watch.take(lease.session, entries)
    else if (outcome.why === 'fenced') port.count('palimpsest.lease.fenced', 1, {}, now())
    return outcome
  }
  const released: Store['release'] = (lease) => {
    watch.forget(lease.session)
    return store.release(lease)
  }
  return {
    settled: () => watch.settled(),
    store: storeWith(store, { append: appended, release: released }),
  }
}

/**
 * A session that is opened again has a past: it is read once, quietly, so that what is open in it and whether it was compacted
 * is known. What is written meanwhile waits for that.
 */
class Watch {
  readonly #store: Store
  readonly #past: PastPort
  readonly #telemetry: Telemetry
  readonly #waiting = new Map<SessionId, StoredEntry[]>()
  readonly #reading = new Set<Promise<void>>()
  readonly #released = new Set<SessionId>()

  constructor(store: Store, options: ObserveOptions) {
    this.#store = store
    this.#past = new PastPort(options.port)
    this.#telemetry = createTelemetry({ ...options, port: this.#past })
  }

  take(session: SessionId, entries: readonly StoredEntry[]): void {
    const [first] = entries
    if (first === undefined) return
    this.#released.delete(session)
    const waiting = this.#waiting.get(session)
    if (waiting !== undefined) return void waiting.push(...entries)
    if (this.#telemetry.knows(session) || isBeginning(first)) return this.#tell(session, entries)
    this.#waiting.set(session, [...entries])
    const reading = this.#catchUp(session, first.seq)
    this.#reading.add(reading)
    void reading.finally(() => this.#reading.delete(reading))
  }

  forget(session: SessionId): void {
    if (this.#waiting.has(session)) this.#released.add(session)
    else this.#telemetry.forget(session)
  }

  async settled(): Promise<void> {
    while (this.#reading.size > 0) await Promise.all(this.#reading)
  }

  #tell(session: SessionId, entries: readonly StoredEntry[]): void {
    for (const entry of entries) this.#telemetry.take(session, entry)
  }

  async #catchUp(session: SessionId, next: number): Promise<void> {
    for await (const item of this.#store.read(session, { to: seq(next - 1) }))
      if (item.kind === 'entry') this.#past.quietly(session, () => this.#telemetry.take(session, item.entry))
    this.#past.goOn(session)
    this.#tell(session, this.#waiting.get(session) ?? [])
    this.#waiting.delete(session)
    if (this.#released.delete(session)) this.#telemetry.forget(session)
  }
}

const isBeginning = (entry: StoredEntry): boolean => isKnown(entry) && entry.fact.type === 'session-start'

/** Says nothing of the past of a session but what is still open in it. Several may be read at once. */
class PastPort implements TelemetryPort {
  readonly #port: TelemetryPort
  readonly #open = new Map<SessionId, Map<string, SpanStart>>()
  /** What is open in the past that is being told now; null where it is no past. */
  #past: Map<string, SpanStart> | null = null

  constructor(port: TelemetryPort) {
    this.#port = port
  }

  quietly(session: SessionId, work: () => void): void {
    const open = this.#open.get(session) ?? new Map<string, SpanStart>()
    this.#open.set(session, open)
    this.#past = open
    work()
    this.#past = null
  }

  goOn(session: SessionId): void {
    for (const span of this.#open.get(session)?.values() ?? []) this.#port.begin(span)
    this.#open.delete(session)
  }

  begin(span: SpanStart): void {
    if (this.#past === null) this.#port.begin(span)
    else this.#past.set(span.spanId, span)
  }

  end(span: SpanContext, ending: SpanEnd): void {
    if (this.#past === null) this.#port.end(span, ending)
    else this.#past.delete(span.spanId)
  }

  count(...given: Parameters<TelemetryPort['count']>): void {
    if (this.#past === null) this.#port.count(...given)
  }

  record(...given: Parameters<TelemetryPort['record']>): void {
    if (this.#past === null) this.#port.record(...given)
  }
}
