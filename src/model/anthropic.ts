// The adapter to the Messages API, on the official SDK. It sends the body it is given, byte for byte: the SDK passes
// a string through untouched when its content type is set, and adds its headers (version, authorisation, agent).
// It keeps the law of the port: nothing is thrown, and the last event is `end` or `failed`, once.
//
// Retries are ours, not the SDK's, so that each is seen before it is waited for. They stop as soon as content has
// been passed on, since what was shown cannot be taken back. The SDK is loaded with the first request.
import type { BaseAnthropic } from '@anthropic-ai/sdk'
import { defaults } from '../settings/defaults.ts'
import { systemClock, type Clock } from '../transcript/ids.ts'
import { MessageReader } from './anthropic-stream.ts'
import {
  verdictOn,
  verdictOnBreak,
  waitBefore,
  type ModelSettings,
  type ServerRefusal,
  type Verdict,
} from './failure.ts'
import type { Model, ModelEvent, ModelFailure, ModelMessage, ModelRequest } from './model.ts'
import { errorBody } from './overflow.ts'

export interface AnthropicOptions {
  /** One of the two is needed. The key wins when both are given. Nothing is looked for elsewhere. */
  readonly apiKey?: string | undefined
  readonly authToken?: string | undefined
  /** Null or absent: the public API. */
  readonly baseUrl?: string | null | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly clock?: Clock | undefined
  /** Between 0 and 1, for the spread of waits. */
  readonly random?: (() => number) | undefined
  readonly settings?: Partial<ModelSettings> | undefined
}

/** The Messages API as a model: streaming, retries, refusals in words. Without a key its first answer is a failure that says so. */
export function anthropicModel(options: AnthropicOptions): Model {
  const settings: ModelSettings = { ...defaults.model, ...options.settings }
  const { clock = systemClock, random = Math.random } = options
  let connection: Promise<Connection> | null = null
  return {
    stream: (request, signal) => {
      const connect = (): Promise<Connection> => (connection ??= openConnection({ ...options, clock }))
      return stream({ connect, settings, clock, random }, request, signal)
    },
  }
}

interface Ports {
  readonly connect: () => Promise<Connection>
  readonly settings: ModelSettings
  readonly clock: Clock
  readonly random: () => number
}

type Ending =
  | { readonly ok: true; readonly message: ModelMessage }
  | { readonly ok: false; readonly verdict: Verdict; readonly partial: ModelMessage | null }

async function* stream(
  ports: Ports,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  for (let attempt = 1; ; attempt++) {
    const ending = yield* runAttempt(ports, request, signal)
    if (ending.ok) return yield { type: 'end', message: ending.message }
    const { verdict, partial } = ending
    if (signal.aborted) return yield { type: 'failed', failure: aborted, partial }
    const waitMs = verdict.retry
      ? waitBefore(attempt + 1, verdict.failure, ports.random, ports.settings)
      : null
    if (waitMs === null) return yield { type: 'failed', failure: verdict.failure, partial }
    yield { type: 'retry', attempt: attempt + 1, waitMs, failure: verdict.failure }
    if (!(await waited(waitMs, signal))) return yield { type: 'failed', failure: aborted, partial: null }
  }
}

async function* runAttempt(
  ports: Ports,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, Ending> {
  const { settings } = ports
  const reader = new MessageReader()
  const guard = new Guard(signal, settings.idleMs)
  let verdict: Verdict | null = null
  try {
    const connection = await ports.connect()
    for await (const received of connection.send(request, guard)) {
      if ('verdict' in received) {
        verdict = received.verdict
        break
      }
      guard.pause()
      yield* reader.feed(received.event)
      guard.resume(reader.stopped ? settings.drainMs : settings.idleMs)
    }
  } catch (error) {
    verdict = verdictOnError(error, guard, reader, ports.clock.now())
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

const aborted: ModelFailure = { code: 'aborted', message: 'aborted by the caller', status: null }

function verdictOnError(error: unknown, guard: Guard, reader: MessageReader, now: number): Verdict {
  if (error instanceof NotReady) return final(error.code, error.message)
  const refusal = refusalIn(error)
  if (refusal !== null) return verdictOn(refusal, now)
  const why = guard.expired ? 'nothing came for too long' : reasonOf(error)
  return verdictOnBreak(reader.message() === null ? 'network' : 'cut-short', why)
}

const final = (code: 'unauthorized' | 'invalid', message: string): Verdict => ({
  failure: { code, message, status: null },
  retry: false,
})

/** The SDK throws an answer of the server as an error with a status; everything else never got an answer. */
function refusalIn(error: unknown): ServerRefusal | null {
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
function reasonOf(error: unknown): string {
  const said: string[] = []
  let cause = error
  while (cause instanceof Error && said.length < mostCauses) {
    said.push(cause.message)
    cause = cause.cause
  }
  return said.length === 0 ? String(error) : said.join(': ')
}
const mostCauses = 4

// ---- one connection ----

type Received = { readonly event: unknown } | { readonly verdict: Verdict }

interface Connection {
  send(request: ModelRequest, guard: Guard): AsyncIterable<Received>
}

/** No request can be made at all. Kept inside this file: it leaves as a failure. */
class NotReady extends Error {
  readonly code: 'unauthorized' | 'invalid'
  constructor(code: 'unauthorized' | 'invalid', message: string) {
    super(message)
    this.code = code
  }
}

async function openConnection(options: AnthropicOptions & { readonly clock: Clock }): Promise<Connection> {
  const { apiKey, authToken, baseUrl = null } = options
  if (!apiKey && !authToken) throw new NotReady('unauthorized', 'neither an API key nor a token was given')
  if (baseUrl !== null && !URL.canParse(baseUrl)) throw new NotReady('invalid', `no base URL: ${baseUrl}`)
  const { BaseAnthropic, Stream } = await import('./sdk.ts').catch((error: unknown) => {
    throw new NotReady('invalid', `the SDK could not be loaded: ${reasonOf(error)}`)
  })
  const client = new BaseAnthropic({
    ...(apiKey ? { apiKey } : { authToken: authToken ?? null }),
    // Null, not undefined: for undefined the SDK would look into the environment.
    baseURL: baseUrl,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
  })
  return {
    async *send(request, guard) {
      const response = await post(client, request, guard.signal)
      const header = (name: string): string | null => response.headers.get(name)
      if (response.body === null || /json|html/.test(header('content-type') ?? '')) {
        yield { verdict: verdictOnText(await response.text(), header, options.clock.now()) }
        return
      }
      // Every byte counts as life, also one that completes no event.
      const transform = (chunk: Uint8Array, out: TransformStreamDefaultController<Uint8Array>): void => {
        guard.touch()
        out.enqueue(chunk)
      }
      const body = response.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ transform }))
      for await (const { event: name, data } of Stream.rawEvents(new Response(body))) {
        const event = eventOf(name, data)
        if (isError(name, event)) {
          yield { verdict: verdictOn({ status: null, text: data, header }, options.clock.now()) }
          return
        }
        if (event !== null) yield { event }
      }
    },
  }
}

function post(client: BaseAnthropic, request: ModelRequest, signal: AbortSignal): Promise<Response> {
  const betas = request.betas.length === 0 ? {} : { 'anthropic-beta': request.betas.join(',') }
  const headers = {
    'content-type': 'application/json',
    'x-palimpsest-source': encodeURIComponent(request.source),
    ...betas,
  }
  return client.post('/v1/messages', { body: request.body, headers, stream: true, signal }).asResponse()
}

/** An answer that is no stream: an error a gateway has passed on with a good status, or no answer of this API. */
function verdictOnText(text: string, header: ServerRefusal['header'], now: number): Verdict {
  const { type, code } = errorBody(text)
  const isRefusal = (type !== null && type !== 'message') || code !== null
  return isRefusal
    ? verdictOn({ status: null, text, header }, now)
    : final('invalid', 'the answer is not an event stream')
}

const spoken = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
])

/** The data of an event. What cannot be read matters only where it is an event we know. */
function eventOf(name: string | null, data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (error) {
    if (name === null || !spoken.has(name)) return null
    throw new Error(`an event of the stream could not be read (${name})`, { cause: error })
  }
}

/** The name of an event is a hint: gateways leave it out. */
const isError = (name: string | null, event: unknown): boolean =>
  name === 'error' ||
  (typeof event === 'object' && event !== null && 'type' in event && event.type === 'error')

// ---- time ----
// How long one attempt may take: until the caller aborts, or until nothing has come for too long.

/** Its signal ends the attempt. The time runs only while we wait for the server, not while the caller thinks. */
class Guard {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal
  readonly #onAbort = (): void => this.#controller.abort()
  #limitMs: number
  #timer: NodeJS.Timeout | null = null
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
    this.#timer = null
  }

  resume(limitMs = this.#limitMs): void {
    this.pause()
    this.#limitMs = limitMs
    this.#timer = setTimeout(() => {
      this.#expired = true
      this.#controller.abort()
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
function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const end = (ok: boolean): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(ok)
    }
    const onAbort = (): void => end(false)
    const timer = setTimeout(() => end(true), ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
