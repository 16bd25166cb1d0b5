// The gateway as a server: takes a client's request, decides what is sent for it (`plan`) and relays it. It fails open:
// whatever goes wrong on our side, the client's own bytes go out and the reason stands in a header.
import { randomUUID } from 'node:crypto'
import { Agent as PlainAgent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { figuresJson } from '../transcript/json.ts'
import { errorText } from '../disk/failure.ts'
import { BreakList, CacheWatch } from './breaks.ts'
import { closeServer, inUrl, isAllowed, isLoopback, listening, portOf, type AccessRules } from './access.ts'
import { maxHeaderSize } from './forward.ts'
import { findBytes } from './digest.ts'
import { clientOf, hiderOf, routeOf, type HeaderOf } from './identity.ts'
import { readRequest, type ForeignRequest } from '../fit/layouts.ts'
import type { WireName } from '../model/model.ts'
import { compactedPlan, planFor, untouched, type PlanLimits, type PlanOptions } from './plan.ts'
import type { Level, Plan } from './plan-types.ts'
import type { Recorder } from './recorder.ts'
import type { KeptLimits } from './segments.ts'
import { Recent, rememberedSessions } from './recent.ts'
import { relay, type Exchange, type RelayContext } from './relay.ts'
import { Savings } from './savings.ts'
import { Senders } from './senders.ts'
import type { ModelTable } from '../model/models.ts'
import type { Clock } from '../transcript/ids.ts'
import type { Tenants } from './tenant.ts'

export interface GatewayOptions {
  readonly level: Level
  /** Where each wire's requests go; fixed for the life of the gateway. */
  readonly upstreams: Readonly<Record<WireName, URL>>
  readonly listen: { readonly host: string; readonly port: number }
  /** Needed for status, and for everything where the gateway listens beyond this machine. */
  readonly token: string
  readonly salt: string
  readonly limits: GatewayLimits
  readonly tenants: Tenants
  /** Where the whole of what is left out is kept. */
  readonly keptFolder: string
  readonly recorder: Recorder | null
  readonly models: ModelTable
  readonly clock: Clock
  readonly tell: (line: string) => void
}
export interface GatewayLimits extends PlanLimits, KeptLimits {
  /** A larger body is forwarded without being read. */
  readonly bodyBytes: number
  /** Silence on an open stream after which the client is told that it still lives. */
  readonly pingMs: number
  /** Requests at once. */
  readonly requests: number
}

export interface Gateway {
  readonly url: string
  readonly savings: Savings
  readonly breaks: BreakList
  stop(): Promise<void>
}

interface Context extends RelayContext {
  readonly options: GatewayOptions
  readonly rules: () => AccessRules
  readonly senders: Senders
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const agents = { plain: new PlainAgent({ keepAlive: true }), secure: new SecureAgent({ keepAlive: true }) }
  const server = createServer({ maxHeaderSize, keepAliveTimeout: keptAliveMs })
  const context: Context = {
    options,
    agents,
    savings: new Savings(options.models),
    off: new Set(),
    frozen: new Set(),
    paces: new Recent(rememberedSessions),
    watch: new CacheWatch(options.models),
    breaks: new BreakList(),
    senders: new Senders(options.salt, isLoopback(options.listen.host)),
    rules: () => ({ ...options.listen, port: portOf(server), token: options.token }),
  }
  let active = 0
  server.on('request', (incoming, response) => {
    if (active >= options.limits.requests) {
      response.setHeader('retry-after', '1')
      refuse(response, 429, 'the gateway is at its limit of requests at once; try again')
      return
    }
    active++
    response.once('close', () => active--)
    handle(context, incoming, response).catch((error: unknown) => fail(context, response, error))
  })
  await listening(server, options.listen)
  // Nobody waits for it; a gateway that stays does it again.
  let pruning = options.tenants.prune(options.limits)
  const daily = setInterval(() => (pruning = options.tenants.prune(options.limits)), dayMs)
  daily.unref()
  return {
    url: `http://${inUrl(options.listen.host)}:${portOf(server)}`,
    savings: context.savings,
    breaks: context.breaks,
    stop: async () => {
      clearInterval(daily)
      await pruning
      const ended = closeServer(server)
      agents.plain.destroy()
      agents.secure.destroy()
      await ended
      await options.recorder?.close()
      await options.tenants.close()
    },
  }
}

async function handle(context: Context, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const access = isAllowed(incoming, context.rules())
  if (!access.ok) return refuse(response, access.status, access.why)
  const url = partsOf(access.path)
  const place = { pathname: url.pathname, hasKey: url.searchParams.has('key') }
  const route = routeOf(incoming.method ?? 'GET', place, headerOf(incoming))
  if (route.kind === 'hello') return void response.writeHead(200).end()
  if (route.kind === 'status') return sendStatus(context, response, access.hasToken)
  const body = await bodyOf(incoming, context.options.limits.bodyBytes)
  const upstream = context.options.upstreams[route.wire]
  const exchange: Exchange = { incoming, response, path: access.path, upstream, route }
  if (!body.isWhole) return relay(context, exchange, null, body.rest, 'body is too large to be read')
  const read = route.kind === 'other' ? null : requestIn(route.wire, incoming, body.bytes, url.pathname)
  if (read === null)
    return relay(
      context,
      exchange,
      null,
      body.bytes,
      route.kind === 'other' ? null : 'request could not be read',
    )
  const planned = await planOf(context, exchange, read, url).catch((error: unknown) => {
    context.options.tell(`a request is forwarded as it is: ${errorText(error)}`)
    return null
  })
  if (planned === null) return relay(context, exchange, null, body.bytes, 'the gateway failed')
  return sendPlan(context, exchange, read, planned)
}

interface PathParts {
  readonly pathname: string
  readonly searchParams: URLSearchParams
}
/** Not every path that clients send makes a URL. */
function partsOf(path: string): PathParts {
  const at = path.indexOf('?')
  return at < 0
    ? { pathname: path, searchParams: new URLSearchParams() }
    : { pathname: path.slice(0, at), searchParams: new URLSearchParams(path.slice(at)) }
}

const headerOf =
  ({ headers }: IncomingMessage): HeaderOf =>
  (name) => {
    const value = headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

function requestIn(
  wire: WireName,
  { headers }: IncomingMessage,
  bytes: Uint8Array,
  path: string,
): ForeignRequest | null {
  const isJson = (headers['content-type'] ?? '').toLowerCase().includes('json')
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
  return isJson && isPlain ? readRequest(wire, bytes, path, findBytes) : null
}

interface Planned {
  readonly plan: Plan
  /** Takes the credential of the request out of a text. */
  readonly hide: (text: string) => string
  /** The request again, smaller, once the upstream has refused it for its length. */
  readonly afterOverflow: (() => Promise<Plan | null>) | null
  readonly answered: (name: string) => void
}

async function planOf(
  context: Context,
  { incoming, route }: Exchange,
  request: ForeignRequest,
  { searchParams }: PathParts,
): Promise<Planned> {
  const { options, off, frozen, paces } = context
  const header = headerOf(incoming)
  const tenantName = context.senders.tenantOf(header, searchParams, request)
  const hide = hiderOf(header, searchParams)
  const opened = await options.tenants.named(tenantName)
  if (!opened.ok) {
    const plan = untouched(request, null, opened.failure.message)
    return { plan, hide, afterOverflow: null, answered: () => undefined }
  }
  const { tenant } = opened
  const asked: PlanOptions = {
    tenantName,
    level: options.level,
    limits: options.limits,
    newSession: () => randomUUID(),
    isOff: (session) => off.has(session),
    isFrozen: (session) => frozen.has(session),
    models: options.models,
    pace: (session) => paces.get(session),
    now: options.clock.now(),
    isAnswered: route.kind === 'answer',
    hide,
  }
  const plan = await planFor(request, header, tenant, asked)
  const { place } = plan
  const afterOverflow =
    options.level === 'compact' && route.kind === 'answer' && place !== null && !off.has(place.session)
      ? () => compactedPlan(request, place, tenant, asked, afterOverflowShare)
      : null
  const answered = (name: string): void => {
    if (place !== null) tenant.noteAnswer(name, place.session)
  }
  return { plan, hide, afterOverflow, answered }
}

const dayMs = 24 * 60 * 60_000

/** How long a client's connection is kept between two requests: longer than clients keep theirs, so that none closes under one. */
const keptAliveMs = 120_000

/** A request that did not fit leaves this part of the usual newest messages. */
const afterOverflowShare = 0.5

async function sendPlan(
  context: Context,
  exchange: Exchange,
  request: ForeignRequest,
  { plan, hide, afterOverflow, answered }: Planned,
): Promise<void> {
  const { place } = plan
  const client = clientOf(headerOf(exchange.incoming))
  if (exchange.route.kind === 'answer' && place !== null)
    context.options.recorder?.sent({
      session: place.session,
      request,
      client,
      from: place.from,
      restarts: place.match === 'restart',
      hash: place.chain.links.at(-1) ?? place.chain.head,
      edits: plan.shown,
      hide,
    })
  // Claude Code leaves out itself what is refused, once for all that follows.
  const mayLeaveReasoning = context.options.level !== 'watch' && client !== 'claude-code'
  const sent = { plan, request, afterOverflow, mayLeaveReasoning, answered }
  await relay(context, exchange, sent, plan.body, plan.unchanged)
}

function sendStatus(
  { savings, breaks, options }: Context,
  response: ServerResponse,
  hasToken: boolean,
): void {
  if (!hasToken)
    return refuse(response, 401, 'the status needs the token of the gateway (x-palimpsest-token)')
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(
    figuresJson({
      level: options.level,
      all: savings.all,
      breaks: { count: breaks.count, cost: breaks.cost, newest: breaks.newest },
      sessions: Object.fromEntries(savings.sessions()),
    }),
  )
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      type: 'error',
      error: { type: 'palimpsest_gateway', message: `palimpsest gateway: ${why}` },
    }),
  )
}

function fail({ options }: Context, response: ServerResponse, error: unknown): void {
  // The client has gone away: nobody is left to be told.
  if (response.closed) return
  const why = errorText(error)
  options.tell(`a request failed: ${why}`)
  if (response.headersSent) response.destroy()
  else refuse(response, 502, `the upstream could not be reached (${why})`)
}

// The body of a request: whole where it is small enough to be read, else what has come and the rest as it comes.

type Body =
  | { readonly isWhole: true; readonly bytes: Uint8Array }
  | { readonly isWhole: false; readonly rest: AsyncIterable<Uint8Array> }

/** All of a body, or what has come and the rest of it where that is more than is read. */
async function bodyOf(incoming: IncomingMessage, most: number): Promise<Body> {
  const pieces: Buffer[] = []
  let length = 0
  const iterator = incoming[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  for (;;) {
    const next = await iterator.next()
    if (next.done === true) return { isWhole: true, bytes: Buffer.concat(pieces) }
    pieces.push(next.value)
    length += next.value.length
    if (length > most) return { isWhole: false, rest: both(pieces, iterator) }
  }
}

async function* both(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Uint8Array> {
  yield* first
  for (;;) {
    const next = await rest.next()
    if (next.done === true) return
    yield next.value
  }
}
