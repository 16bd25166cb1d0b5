// Sends what a recorder keeps to an OTLP collector: in the background, a batch at a time, and never so that anybody waits.
// A collector that does not answer is said once; what could not be sent waits for the next time, as far as there is room.
import { defaults } from '../settings/defaults.ts'
import { metricsJson, Recorder, tracesJson, type Resource } from './otlp.ts'

export interface Posting {
  /** The address of the collector; `/v1/traces` and `/v1/metrics` are added. A user in it is sent as a header. */
  readonly endpoint: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
}

export type Posted = { readonly ok: true } | { readonly ok: false; readonly why: string }

/** Where a collector is, for a screen or a log: neither who asks nor a key in the address. */
export function collectorName(endpoint: string): string {
  if (!URL.canParse(endpoint)) return 'an address that cannot be read'
  const { protocol, host, pathname } = new URL(endpoint)
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
}

/** The address without the user in it, whom `fetch` refuses there. */
function signalUrl(endpoint: string, signal: 'traces' | 'metrics'): string {
  const url = new URL(endpoint)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`
  url.username = ''
  url.password = ''
  return url.href
}

/** Those that were given, and one for the user in the address; a name of one that is none. */
function headersFor({ endpoint, headers = {} }: Posting): Headers | string {
  const made = new Headers()
  for (const [name, value] of Object.entries(headers))
    try {
      made.append(name, value)
    } catch {
      return name
    }
  const { username, password } = new URL(endpoint)
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  if (user !== ':' && !made.has('authorization'))
    made.set('authorization', `Basic ${Buffer.from(user).toString('base64')}`)
  made.set('content-type', 'application/json')
  return made
}

/** One body to the collector. Never throws. */
export async function post(
  posting: Posting,
  signal: 'traces' | 'metrics',
  body: string,
  within: AbortSignal,
): Promise<Posted> {
  const { endpoint, fetch = globalThis.fetch } = posting
  const name = `${collectorName(endpoint)}/v1/${signal}`
  try {
    const headers = headersFor(posting)
    if (typeof headers === 'string')
      return {
        ok: false,
        why: `${name} is not asked: the header ${JSON.stringify(headers)} cannot be sent; look at OTEL_EXPORTER_OTLP_HEADERS`,
      }
    const response = await fetch(signalUrl(endpoint, signal), {
      method: 'POST',
      headers,
      body,
      redirect: 'error',
      signal: within,
    })
    // Read to its end, so that the connection is free for the next one.
    const text = await response.text()
    if (response.ok) return rejectedIn(text)
    return { ok: false, why: `${name} answered ${response.status} ${response.statusText}`.trim() }
  } catch (error) {
    return { ok: false, why: `${name} cannot be reached (${reasonOf(error)})` }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}

/** A collector may take a part of it and say what it left. */
function rejectedIn(text: string): Posted {
  try {
    const { partialSuccess } = JSON.parse(text) as {
      partialSuccess?: { rejectedSpans?: unknown; rejectedDataPoints?: unknown; errorMessage?: unknown }
    }
    const rejected = Number(partialSuccess?.rejectedSpans ?? partialSuccess?.rejectedDataPoints ?? 0)
    if (rejected > 0)
      return { ok: false, why: `the collector left out ${rejected}: ${String(partialSuccess?.errorMessage)}` }
  } catch {
    // An empty answer is as good as one that says nothing was left.
  }
  return { ok: true }
}

export interface SenderOptions extends Posting {
  readonly resource: Resource
  readonly now: () => number
  /** Hears once that the collector cannot be reached, and at the end what was not sent. */
  readonly tell: (message: string) => void
  readonly flushMs?: number | undefined
  readonly requestMs?: number | undefined
  readonly closeMs?: number | undefined
}

export interface Sender {
  readonly recorder: Recorder
  /** Sends what waits now. */
  flush(): Promise<void>
  /** Sends the last of it, within a short time, and stops. */
  close(): Promise<void>
}

/** Sends spans and metrics to a collector, in batches and within bounds; what cannot be sent is said once. */
export function createSender(options: SenderOptions): Sender {
  return new BackgroundSender(options)
}

class BackgroundSender implements Sender {
  readonly recorder = new Recorder()
  readonly #options: SenderOptions
  readonly #since: number
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> = Promise.resolve()
  #metricsAt = -Infinity
  #hasNews = false
  #isSaid = false
  #isClosed = false
  readonly #ending = new AbortController()

  constructor(options: SenderOptions) {
    this.#options = options
    this.#since = options.now()
    this.recorder.onChange = () => this.#wake()
  }

  /** A timer only while there is something to send; it keeps no process alive. */
  #wake(): void {
    this.#hasNews = true
    if (this.#timer !== null || this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      void this.flush().then(() => {
        if (this.recorder.waiting > 0) this.#wake()
      })
    }, this.#options.flushMs ?? defaults.telemetry.flushMs)
    this.#timer.unref()
  }

  flush(): Promise<void> {
    return this.#send(false)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const limit = setTimeout(() => this.#ending.abort(), this.#options.closeMs ?? defaults.telemetry.closeMs)
    await this.#send(true)
    clearTimeout(limit)
    const lost = this.recorder.waiting + this.recorder.dropped
    if (lost > 0)
      this.#options.tell(
        `${lost} spans of this run were not sent to ${collectorName(this.#options.endpoint)}; pal sessions export --otlp sends those of a session again`,
      )
  }

  #send(isLast: boolean): Promise<void> {
    this.#sending = this.#sending.then(() => this.#sendAll(isLast))
    return this.#sending
  }

  async #sendAll(isLast: boolean): Promise<void> {
    const { resource, now } = this.#options
    while (this.recorder.waiting > 0) {
      const spans = this.recorder.take(defaults.telemetry.batchSpans)
      if (await this.#post('traces', tracesJson(resource, spans))) continue
      this.recorder.keep(spans)
      break
    }
    const isDue = isLast || now() - this.#metricsAt >= defaults.telemetry.metricsMs
    if (!this.#hasNews || !isDue) return
    const times = { since: this.#since, now: now() }
    if (!(await this.#post('metrics', metricsJson(resource, this.recorder.series(), 'cumulative', times))))
      return
    this.#metricsAt = now()
    this.#hasNews = false
  }

  async #post(signal: 'traces' | 'metrics', body: string): Promise<boolean> {
    if (this.#ending.signal.aborted) return false
    const { requestMs = defaults.telemetry.requestMs } = this.#options
    const within = AbortSignal.any([AbortSignal.timeout(requestMs), this.#ending.signal])
    const posted = await post(this.#options, signal, body, within)
    if (posted.ok) return true
    if (!this.#isSaid) this.#options.tell(`telemetry is not sent: ${posted.why}. Sessions go on without it`)
    this.#isSaid = true
    return false
  }
}
