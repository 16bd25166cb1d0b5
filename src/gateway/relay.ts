// One exchange: the body goes to the upstream, the answer comes back byte for byte and is heard on its way. What the upstream
// says, errors included, reaches the client unchanged; an edited request that is refused is sent once as the client made it.
import type { Agent as PlainAgent, IncomingMessage, ServerResponse } from 'node:http'
import type { Agent as SecureAgent } from 'node:https'
import { type BreakList, snapshotOf, type CacheWatch } from './breaks.ts'
import {
  endedEarly,
  isDelayed,
  isEventStream,
  wholeOf,
  type EndedEarly,
  hearAnswer,
  type HeardAnswer,
  unpacked,
} from './hearing.ts'
import { single } from './access.ts'
import { endToEnd, forward } from './forward.ts'
import { wires } from '../wires/routing.ts'
import { paceAfter, type Pace } from '../fit/pace.ts'
import { promptTokens } from '../model/usage.ts'
import type { ServerRefusal } from '../model/failure.ts'
import type { WireName } from '../model/model.ts'
import type { ModelTable } from '../model/models.ts'
import type { Clock } from '../transcript/ids.ts'
import { type ForeignRequest, readRequest } from '../fit/layouts.ts'
import { untouched } from './plan.ts'
import type { Level, Plan } from './plan-types.ts'
import type { Answered, Recorder } from './recorder.ts'
import type { Recent } from './recent.ts'
import type { Route } from './identity.ts'
import type { Savings } from './savings.ts'
import { splicesWithout } from '../fit/applying.ts'
import { isReasoningUnit } from '../fit/compaction.ts'
import { spliced } from '../fit/json-spans.ts'
import { findBytes } from './digest.ts'

/** What exchanges share. */
export interface RelayContext {
  readonly options: {
    readonly level: Level
    readonly limits: { readonly pingMs: number; readonly bodyBytes: number }
    readonly recorder: Recorder | null
    readonly tell: (line: string) => void
    readonly clock: Clock
    readonly models: ModelTable
    /** Where the whole of what is left out is kept. */
    readonly keptFolder: string
  }
  readonly agents: { readonly plain: PlainAgent; readonly secure: SecureAgent }
  readonly savings: Savings
  /** Sessions whose requests are not changed any more. */
  readonly off: Set<string>
  /** Sessions in which nothing further is changed; what was sent is sent the same. */
  readonly frozen: Set<string>
  /** How each conversation goes. */
  readonly paces: Recent<Pace>
  readonly watch: CacheWatch
  readonly breaks: BreakList
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
  /** The request again, smaller; null where the level does not compact. */
  readonly afterOverflow: (() => Promise<Plan | null>) | null
  /** Reasoning that is refused may be left out: not at a level that changes nothing, nor for a client that does so itself. */
  readonly mayLeaveReasoning: boolean
  /** Told the name of the answer: a client may go on from it by that alone. */
  readonly answered: (name: string) => void
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
  if (response.closed) return
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
  const first = await send(body)
  const outcome = sent === null ? { ...plainly(first), sent } : await secondTry(context, first, sent, send)
  const note =
    (outcome.why ?? unchanged) === null
      ? noteOf(options.level, outcome.sent?.plan ?? null)
      : `unchanged; why=${outcome.why ?? unchanged}`
  const { answer, early } = outcome
  const heard =
    outcome.sent === null || exchange.route.kind !== 'answer'
      ? null
      : heardBy(context, answer, outcome.sent.request)
  begin(exchange, answer, note, sent?.plan.place?.session ?? null)
  if (early === null) {
    pass(context, exchange, answer, heard)
    await ended(answer, response)
  } else {
    heard?.write(early)
    response.end(early)
  }
  const message = (await heard?.end()) ?? null
  if (outcome.sent !== null && message !== null) count(context, outcome.sent, message)
}

interface Outcome {
  readonly answer: IncomingMessage
  /** The whole of a refusal that was read to be understood. */
  readonly early: Buffer | null
  readonly sent: Sent | null
  readonly why: string | null
}
const plainly = (answer: IncomingMessage): Omit<Outcome, 'sent'> => ({ answer, early: null, why: null })

/** A refusal for length is answered by a compaction, one of an edited request by the original; each once. */
async function secondTry(
  context: RelayContext,
  answer: IncomingMessage,
  sent: Sent,
  send: (body: Uint8Array) => Promise<IncomingMessage>,
): Promise<Outcome> {
  const { statusCode: status = 0 } = answer
  const late = await lateRefusal(context, answer, sent)
  const isRefused = late !== null || (status >= 400 && status < 500)
  const mayHelp = sent.plan.edited > 0 || sent.afterOverflow !== null || sent.mayLeaveReasoning
  if (!isRefused || !mayHelp) return { ...plainly(answer), sent }
  const most = context.options.limits.bodyBytes
  const early = late?.bytes ?? (await wholeOf(answer, most))
  // More than any refusal takes: it is not understood, and passes as it comes.
  if (early === null) return { ...plainly(answer), sent }
  const refused: Outcome = { answer, early, sent, why: null }
  const code = codeOf(context, sent.request.wire, late?.refusal ?? refusalIn(answer, early, most))
  if (code === 'overflow') {
    const plan = (await sent.afterOverflow?.()) ?? null
    if (plan === null) return refused
    const again = await send(plan.body).catch(() => null)
    if (again?.statusCode === 200 && (await lateRefusal(context, again, sent)) === null)
      return { ...plainly(again), sent: { ...sent, plan } }
    again?.resume()
    return refused
  }
  if (code === 'reasoning-invalid' && sent.mayLeaveReasoning) {
    const body = withoutReasoning(sent.request.wire, sent.plan.body)
    const again = body === null ? null : await send(body).catch(() => null)
    if (body !== null && again?.statusCode === 200) {
      const plan = { ...sent.plan, body, edited: sent.plan.edited + 1 }
      return { ...plainly(again), sent: { ...sent, plan } }
    }
    again?.resume()
  }
  if (status !== 400 || sent.plan.edited === 0) return refused
  const again = await send(sent.request.bytes).catch(() => null)
  if (again === null) return refused
  const place = sent.plan.place
  if (again.statusCode === 200 && place !== null) {
    context.off.add(place.session)
    context.options.tell(
      `session ${place.session}: an edited request was refused and the original was not; it is only watched from now on`,
    )
  }
  const plan = untouched(sent.request, place, 'the edited request was refused')
  return { ...plainly(again), sent: { ...sent, plan }, why: plan.unchanged }
}

const heardBy = (
  { options }: RelayContext,
  answer: IncomingMessage,
  { wire, model }: ForeignRequest,
): HeardAnswer | null => hearAnswer(wire, answer, model ?? '', options.limits.bodyBytes)

/** What a stream that ended without a word says was wrong; null for any other answer. */
async function lateRefusal(
  context: RelayContext,
  answer: IncomingMessage,
  { request, afterOverflow }: Sent,
): Promise<EndedEarly | null> {
  if (afterOverflow === null || !isDelayed(request.wire, answer)) return null
  const heard = heardBy(context, answer, request)
  return heard === null ? null : endedEarly(answer, heard, context.options.limits.pingMs)
}

function refusalIn({ statusCode, headers }: IncomingMessage, body: Buffer, most: number): ServerRefusal {
  return {
    status: statusCode ?? null,
    text: unpacked(headers['content-encoding'], body, most),
    header: (name) => single(headers[name]) ?? null,
  }
}

/** What a refusal means; null where there is none. */
const codeOf = ({ options }: RelayContext, wire: WireName, refusal: ServerRefusal | null): string | null =>
  refusal === null ? null : wires[wire].failureOf(refusal, options.clock.now()).failure.code

function noteOf(level: Level, plan: Plan | null): string {
  if (plan === null || plan.edited === 0) return `${level}; blocks=0`
  return `${level}; blocks=${plan.edited}; characters=-${plan.savedChars}`
}

function begin({ response }: Exchange, answer: IncomingMessage, note: string, session: string | null): void {
  const own = [
    'x-palimpsest',
    note.replace(/[^\x20-\x7e]/gu, '?'),
    ...(session === null ? [] : ['x-palimpsest-session', session]),
  ]
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [
    ...endToEnd(answer.rawHeaders).flat(),
    ...own,
  ])
}

function pass(
  { options }: RelayContext,
  { response }: Exchange,
  answer: IncomingMessage,
  heard: HeardAnswer | null,
): void {
  // Nothing can be added to what is encoded, or has said its length: the client would take the rest for its next answer.
  const isStream =
    isEventStream(answer.headers) &&
    answer.headers['content-encoding'] === undefined &&
    answer.headers['content-length'] === undefined
  const ping = isStream ? setInterval(() => quiet(), options.limits.pingMs) : null
  let last = '\n\n'
  const quiet = (): void => {
    // Never inside an event: a client's reader would take it for a part of it.
    if (/\n\r?\n$/u.test(last)) response.write(heard?.ping ?? ': ping\n\n')
  }
  answer.on('data', (bytes: Buffer) => {
    ping?.refresh()
    last = (last + bytes.subarray(-blankBytes).toString('latin1')).slice(-blankBytes)
    if (!response.write(bytes)) {
      answer.pause()
      response.once('drain', () => answer.resume())
    }
    heard?.write(bytes)
  })
  answer.once('close', () => clearInterval(ping ?? undefined))
  answer.resume()
}

/** The longest blank line that ends an event, with the line end before it. */
const blankBytes = 3

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

function count(context: RelayContext, { plan, request, answered }: Sent, message: Answered): void {
  const { options, savings, paces, watch } = context
  const { place, boundary } = plan
  const now = options.clock.now()
  // An answer that was cut off, or is of a server that reports nothing, tells neither of the cache nor how the conversation goes.
  const isReported = promptTokens(message.usage) > 0
  const heard =
    place === null || place.isKeptThere || !isReported
      ? null
      : watch.heard(place.session, request, snapshotOf(request, plan, options.models), message.usage, now)
  savings.add({
    session: place?.session ?? null,
    model: message.model === '' ? (request.model ?? 'unknown') : message.model,
    usage: message.usage,
    savedChars: plan.savedChars,
    sentBytes: place?.isKeptThere === true ? null : plan.body.length,
    heard,
    isReadBack: plan.edited > 0 && readsBack(message, options.keptFolder),
  })
  if (place === null) return
  answered(message.messageId)
  const before = boundary === null ? paces.get(place.session) : undefined
  if (isReported && !place.isKeptThere)
    paces.set(place.session, paceAfter(before, message.usage, plan.body.length, now))
  if (boundary !== null) options.recorder?.compacted(place.session, boundary)
  options.recorder?.answered(place.session, message)
  if (heard?.cacheBreak !== null && heard?.cacheBreak !== undefined) {
    context.breaks.add(place.session, heard.cacheBreak)
    options.recorder?.broke(place.session, heard.cacheBreak)
  }
  freezeWhereCostly(context, place.session)
}

/** Every call of an answer reads what the gateway has left out. */
function readsBack({ content }: Answered, keptFolder: string): boolean {
  const calls = content.filter((block) => block.type === 'tool_use')
  return calls.length > 0 && calls.every((block) => JSON.stringify(block).includes(keptFolder))
}

/** What proves more expensive than the untouched requests is not done any further; what was sent is sent the same. */
function freezeWhereCostly({ options, savings, frozen }: RelayContext, session: string): void {
  if (frozen.has(session) || !savings.costsMore(session)) return
  frozen.add(session)
  const why =
    'what the gateway changed has cost more than it saved; nothing further is changed in this session'
  options.tell(`session ${session}: ${why}`)
  options.recorder?.frozen(session, why)
}

// Some models bind their reasoning to the exact bytes before it. Where a client's own bytes follow bytes of ours (what was
// remembered is lost, a session is not changed any more), that reasoning is refused; what was said and called goes out without it.

/** The body without any reasoning; null where it has none. */
function withoutReasoning(wire: WireName, body: Uint8Array): Uint8Array | null {
  const request = readRequest(wire, body, '', findBytes)
  if (request === null) return null
  const names = request.units.map((_, at) => String(at))
  const reasoning = names.filter((_, at) => isReasoningUnit(request, request.units[at]!))
  if (reasoning.length === 0) return null
  return spliced(body, splicesWithout(request, new Set(reasoning), names))
}
