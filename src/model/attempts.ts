// One request of any adapter: attempts, the waits between them, silence and abort. The adapter says how bytes are sent and
// how events are read; everything that the port promises about time and endings is kept here.
//
// Retries are ours, not an SDK's, so that each is seen before it is waited for. They stop as soon as content has been
// passed on, since what was shown cannot be taken back.
import { setTimeout as setTimer } from 'node:timers/promises'
import type { Clock } from '../transcript/ids.ts'
import {
  verdictOnBreak,
  waitBefore,
  type ModelSettings,
  type ServerRefusal,
  type Verdict,
} from './failure.ts'
import type { ModelEvent, ModelFailure, ModelMessage, ModelRequest, WireName } from './model.ts'

/** From the events of one streamed answer to a message. Knows no network: it is fed, and can be asked at any time. */
export interface AnswerReader {
  /** All of it came. */
  readonly complete: boolean
  /** The server has said its last word; it need not be waited for. */
  readonly stopped: boolean
  /** Something was passed on that cannot be taken back. */
  readonly hasContent: boolean
  feed(event: unknown): readonly ModelEvent[]
  /** What has come so far; null before the message began. */
  message(): ModelMessage | null
  /** An error that came inside the stream, as the server said it; null or unset where none did. */
  readonly refusal?: ServerRefusal | null
}

export type Received =
  | { readonly event: unknown }
  | { readonly refusal: ServerRefusal }
  | { readonly verdict: Verdict }

export interface Connection {
  send(request: ModelRequest, guard: Guard): AsyncIterable<Received>
  /** Posts a body to where the provider counts, and gives the answer; throws as its SDK does. Unset where there is no such place. */
  count?(body: string, request: ModelRequest, guard: Guard): Promise<unknown>
}

export interface AttemptPorts {
  /** The wire whose bodies are sent. */
  readonly wire: WireName
  readonly connect: () => Promise<Connection>
  readonly reader: (request: ModelRequest) => AnswerReader
  /** What a refusal means on this wire. */
  readonly failureOf: (refusal: ServerRefusal, now: number) => Verdict
  readonly settings: ModelSettings
  readonly clock: Clock
  readonly random: () => number
}

type Ending =
  | { readonly ok: true; readonly message: ModelMessage }
  | { readonly ok: false; readonly verdict: Verdict; readonly partial: ModelMessage | null }

/** The events of one request, over as many attempts as it takes. */
export async function* streamAttempts(
  ports: AttemptPorts,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const { wire = ports.wire } = request
  if (wire !== ports.wire)
    return yield { type: 'failed', failure: otherWire(wire, ports.wire), partial: null }
  for (let attempt = 1; ; attempt++) {
    const ending = yield* runAttempt(ports, request, signal)
    if (ending.ok) return yield { type: 'end', message: ending.message }
    const { verdict, partial } = ending
    if (signal.aborted) return yield { type: 'failed', failure: aborted, partial }
    const mayRetry = verdict.retry && !(verdict.once === true && attempt > 1)
    const waitMs = mayRetry ? waitBefore(attempt + 1, verdict.failure, ports.random, ports.settings) : null
    if (waitMs === null) return yield { type: 'failed', failure: verdict.failure, partial }
    yield { type: 'retry', attempt: attempt + 1, waitMs, failure: verdict.failure }
    if (!(await waited(waitMs, signal))) return yield { type: 'failed', failure: aborted, partial: null }
  }
}

async function* runAttempt(
  ports: AttemptPorts,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, Ending> {
  const { settings } = ports
  const reader = ports.reader(request)
  const guard = new Guard(signal, settings.idleMs)
  let verdict: Verdict | null = null
  try {
    const connection = await ports.connect()
    for await (const received of connection.send(request, guard)) {
      verdict = verdictOnReceived(received, ports)
      if (verdict !== null || !('event' in received)) break
      guard.pause()
      yield* reader.feed(received.event)
      const refusal = reader.refusal ?? null
      if (refusal !== null) {
        verdict = ports.failureOf(refusal, ports.clock.now())
        break
      }
      guard.resume(reader.stopped ? settings.drainMs : settings.idleMs)
    }
  } catch (error) {
    verdict = verdictOnError(error, guard, reader, ports)
  } finally {
    guard.release()
  }
  const message = reader.message()
  if (reader.complete && message !== null) return { ok: true, message }
  verdict ??= verdictOnBreak(
    'cut-short',
    message === null ? 'the answer was empty' : 'the answer was cut short',
  )
  return { ok: false, verdict: { ...verdict, retry: verdict.retry && !reader.hasContent }, partial: message }
}

/** An engine and its model that were not made for each other: its server would only say that it knows no such field. */
const otherWire = (written: WireName, spoken: WireName): ModelFailure => ({
  code: 'invalid',
  message: `the request is written for the wire ${written}, and this model speaks ${spoken}: hand createEngine the wire of its model`,
  status: null,
})

const aborted: ModelFailure = { code: 'aborted', message: 'aborted by the caller', status: null }

function verdictOnReceived(received: Received, { failureOf, clock }: AttemptPorts): Verdict | null {
  if ('verdict' in received) return received.verdict
  return 'refusal' in received ? failureOf(received.refusal, clock.now()) : null
}

function verdictOnError(
  error: unknown,
  guard: Guard,
  reader: AnswerReader,
  { failureOf, clock }: AttemptPorts,
): Verdict {
  if (error instanceof NotReady) return finalVerdict(error.code, error.message)
  const refusal = refusalIn(error)
  if (refusal !== null) return failureOf(refusal, clock.now())
  const why = guard.expired ? 'nothing came for too long' : reasonOf(error)
  return verdictOnBreak(reader.message() === null ? 'network' : 'cut-short', why)
}

export const finalVerdict = (code: 'unauthorized' | 'invalid', message: string): Verdict => ({
  failure: { code, message, status: null },
  retry: false,
})

/** The SDK throws an answer of the server as an error with a status; everything else never got an answer. */
export function refusalIn(error: unknown): ServerRefusal | null {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return null
  const { status } = error
  const body = 'error' in error ? error.error : undefined
  const headers = 'headers' in error && error.headers instanceof Headers ? error.headers : null
  // Without a JSON body the SDK writes the status and then the text into its message.
  const said = error.message.replace(`${status} `, '').replace('status code (no body)', '')
  return {
    status,
    text: body === undefined ? said : JSON.stringify(body),
    header: (name) => headers?.get(name) ?? null,
  }
}

/** "fetch failed" says nothing: what stands behind it does. */
export function reasonOf(error: unknown): string {
  const said: string[] = []
  let cause = error
  while (cause instanceof Error && said.length < mostCauses) {
    said.push(cause.message.replace(/\.\s*$/, ''))
    cause = cause.cause
  }
  const telling = said.filter((each, at) => at === said.length - 1 || !saysNothing.test(each))
  return telling.length === 0 ? String(error) : telling.join(': ')
}
const mostCauses = 4
const saysNothing = /^(?:connection error|fetch failed)$/i

/** No request can be made at all. It leaves as a failure. */
export class NotReady extends Error {
  readonly code: 'unauthorized' | 'invalid'
  constructor(code: 'unauthorized' | 'invalid', message: string) {
    super(message)
    this.code = code
  }
}

// ---- time ----
// How long one attempt may take: until the caller aborts, or until nothing has come for too long.

/** Its signal ends the attempt. The time runs only while we wait for the server, not while the caller thinks. */
export class Guard {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal
  readonly #onAbort = (): void => this.#controller.abort()
  #limitMs: number
  #timer: NodeJS.Timeout | null = null
  #lastLook: NodeJS.Immediate | undefined
  #expired = false

  constructor(caller: AbortSignal, idleMs: number) {
    this.#caller = caller
    this.#limitMs = idleMs
    if (caller.aborted) this.#onAbort()
    else caller.addEventListener('abort', this.#onAbort, { once: true })
    this.resume()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** It was silence that ended the attempt. */
  get expired(): boolean {
    return this.#expired
  }

  /** Something came. */
  touch(): void {
    if (this.#timer !== null) this.resume()
  }

  pause(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    clearImmediate(this.#lastLook)
    this.#timer = null
  }

  resume(limitMs = this.#limitMs): void {
    this.pause()
    this.#limitMs = limitMs
    this.#timer = setTimeout(() => {
      // A process that was held up itself first reads what came meanwhile: that was no silence of the server.
      this.#lastLook = setImmediate(() => {
        this.#expired = true
        this.#controller.abort()
      })
    }, limitMs)
  }

  /** Ends what is still under way and lets go of the caller's signal. */
  release(): void {
    this.pause()
    this.#caller.removeEventListener('abort', this.#onAbort)
    this.#controller.abort()
  }
}

/** False when the caller aborted before the time was over. */
const waited = (ms: number, signal: AbortSignal): Promise<boolean> =>
  setTimer(ms, true, { signal }).catch(() => false)
