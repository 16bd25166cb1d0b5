// One exchange: the body goes to the upstream, the answer comes back byte for byte and is heard on its way. What the upstream
// says, errors included, reaches the client unchanged; an edited request that is refused is sent once as the client made it.
import type { Agent as PlainAgent, IncomingMessage, ServerResponse } from 'node:http'
import type { Agent as SecureAgent } from 'node:https'
import { endToEnd, forward } from './forward.ts'
import { hearAnswer, type HeardAnswer } from './hearing.ts'
import type { ForeignRequest } from './layouts.ts'
import type { Level, Plan } from './plan.ts'
import type { Answered, Recorder } from './recorder.ts'
import type { Route } from './routes.ts'
import type { Savings } from './savings.ts'

/** What exchanges share. */
export interface RelayContext {
  readonly options: {
    readonly level: Level
    readonly limits: { readonly pingMs: number }
    readonly recorder: Recorder | null
    readonly tell: (line: string) => void
  }
  readonly agents: { readonly plain: PlainAgent; readonly secure: SecureAgent }
  readonly savings: Savings
  /** Sessions whose requests are not changed any more. */
  readonly off: Set<string>
}

/** A request and where its answer goes. */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly upstream: URL
  readonly route: Exclude<Route, { readonly kind: 'hello' | 'status' }>
}

/** What was decided about a request that could be read. */
export interface Sent {
  readonly plan: Plan
  readonly request: ForeignRequest
}

/** Forwards a body and relays the answer. An edited request that is refused is sent once more as the client made it. */
export async function relay(
  context: RelayContext,
  exchange: Exchange,
  sent: Sent | null,
  body: Uint8Array | AsyncIterable<Uint8Array>,
  unchanged: string | null,
): Promise<void> {
  const { options } = context
  const { incoming, response, upstream } = exchange
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const send = (bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<IncomingMessage> =>
    forward(
      {
        upstream,
        method: incoming.method ?? 'GET',
        path: exchange.path,
        rawHeaders: incoming.rawHeaders,
        agent: upstream.protocol === 'https:' ? context.agents.secure : context.agents.plain,
        signal: gone.signal,
      },
      bytes,
    )
  let answer = await send(body)
  let note = unchanged === null ? noteOf(options.level, sent?.plan ?? null) : `unchanged; why=${unchanged}`
  if (answer.statusCode === 400 && sent !== null && sent.plan.edited > 0) {
    answer.resume()
    answer = await send(sent.request.bytes)
    if (answer.statusCode === 200 && sent.plan.place !== null) {
      context.off.add(sent.plan.place.session)
      options.tell(
        `session ${sent.plan.place.session}: an edited request was refused and the original was not; it is only watched from now on`,
      )
    }
    note = 'unchanged; why=the edited request was refused'
  }
  const heard =
    sent === null || exchange.route.kind !== 'answer'
      ? null
      : hearAnswer(sent.request.wire, answer, sent.request.model ?? '')
  pass(context, exchange, answer, heard, note, sent?.plan.place?.session ?? null)
  await ended(answer, response)
  const message = (await heard?.end()) ?? null
  if (sent !== null && message !== null) count(context, sent, message)
}

function noteOf(level: Level, plan: Plan | null): string {
  if (plan === null || plan.edited === 0) return `${level}; blocks=0`
  return `${level}; blocks=${plan.edited}; characters=-${plan.savedChars}`
}

function pass(
  { options }: RelayContext,
  { response }: Exchange,
  answer: IncomingMessage,
  heard: HeardAnswer | null,
  note: string,
  session: string | null,
): void {
  const own = [
    'x-palimpsest',
    note.replace(/[^\x20-\x7e]/gu, '?'),
    ...(session === null ? [] : ['x-palimpsest-session', session]),
  ]
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [
    ...endToEnd(answer.rawHeaders).flat(),
    ...own,
  ])
  const isStream =
    (answer.headers['content-type'] ?? '').includes('text/event-stream') &&
    answer.headers['content-encoding'] === undefined
  const ping = isStream ? setInterval(() => quiet(), options.limits.pingMs) : null
  let endsEvent = true
  const quiet = (): void => {
    // Never inside an event: a client's reader would take it for a part of it.
    if (endsEvent) response.write(heard?.ping ?? ': ping\n\n')
  }
  answer.on('data', (bytes: Buffer) => {
    ping?.refresh()
    endsEvent = bytes.at(-1) === 0x0a && bytes.at(-2) === 0x0a
    if (!response.write(bytes)) {
      answer.pause()
      response.once('drain', () => answer.resume())
    }
    heard?.write(bytes)
  })
  answer.once('close', () => clearInterval(ping ?? undefined))
}

/** The answer came whole, or one side went away. */
function ended(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    answer.once('end', () => response.end(() => resolve()))
    answer.once('error', () => {
      response.destroy()
      resolve()
    })
    response.once('close', () => {
      answer.destroy()
      resolve()
    })
  })
}

function count({ options, savings }: RelayContext, { plan, request }: Sent, message: Answered): void {
  savings.add({
    session: plan.place?.session ?? null,
    model: message.model === '' ? (request.model ?? 'unknown') : message.model,
    usage: message.usage,
    savedChars: plan.savedChars,
    newSavedChars: plan.newSavedChars,
    sentBytes: plan.body.length,
  })
  if (plan.place !== null) options.recorder?.answered(plan.place.session, message)
}
