// The simulator as a server on this machine: POST /v1/messages, /v1/messages/count_tokens, GET /v1/models, and the paths of other
// vendors (../dialects). It routes on the path alone, but for the lists of models, which two vendors keep under one. Faults strike after the key has been checked and before the rules are asked. Everything that happens
// to a request is in the log.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WireError } from '../../model/wire.ts'
import { messageBill } from '../bill.ts'
import { dialectModels, type DialectModel } from '../dialects/models.ts'
import type { ServerName } from '../dialects/openai/quirks.ts'
import { dialectRoute } from '../dialects/routes.ts'
import {
  createExchange,
  DEFAULT_SECRET,
  type Clock,
  type Exchange,
  type ExchangeOptions,
} from '../exchange.ts'
import { createLog, loggedPrompt, type LoggedRequest, type LogLimits, type RequestLog } from '../log.ts'
import { findModel, simulatedModels, type SimulatedModel } from '../models.ts'
import { invalid, problem, statusOf } from '../rules/problem.ts'
import { isRecord } from '../rules/shape.ts'
import {
  checkAccess,
  createRateWindow,
  MAX_BODY_BYTES,
  newRecord,
  plainHeaders,
  readBody,
  type RateWindow,
} from './arrival.ts'
import { createDialects, handleDialect, type DialectArrival, type Dialects } from './dialects.ts'
import { createFaults, faultText, type Fault, type Faults, type ScheduledFault } from './faults.ts'
import { sendableMessage } from './message-frames.ts'
import { answererFailed, deliver, retryAfter, sendJson, strikeEarly } from './sending.ts'

export interface SimulatorOptions extends Omit<ExchangeOptions, 'clock'> {
  /** Time as the cache sees it; the machine's where absent. */
  readonly clock?: Clock
  readonly faults?: readonly ScheduledFault[]
  /** Only these keys are let in; any where absent. */
  readonly keys?: readonly string[]
  readonly port?: number
  /** Between two events of a stream, in real time. */
  readonly eventDelayMs?: number
  readonly log?: LogLimits
  /** Largest request that is taken; the API's own where absent. */
  readonly maxBodyBytes?: number
  /** Models of other vendors, for their wires. */
  readonly dialectModels?: readonly DialectModel[]
  /** Which server that speaks like OpenAI is meant by plain paths; others are reached below `/<server>/`. */
  readonly server?: ServerName
  /** How Responses refuses a prompt over the window on a stream: at once, or after the stream has begun. */
  readonly overflow?: 'refused' | 'in-stream'
  /** How often Gemini's cache hits, from 0 to 1, and the seed of its draws. */
  readonly luck?: { readonly chance?: number; readonly seed?: number }
  /** Told of each request when its response has ended or was cut. */
  readonly heard?: (request: LoggedRequest) => void
}

export interface Simulator {
  start(): Promise<{ readonly url: string; readonly port: number }>
  /** Lets running responses end for a moment, then cuts them. */
  stop(): Promise<void>
  readonly log: RequestLog
  readonly faults: Faults
  readonly clock: Clock
}

interface Room {
  readonly options: SimulatorOptions
  readonly exchange: Exchange
  readonly dialects: Dialects
  readonly models: readonly SimulatedModel[]
  readonly log: ReturnType<typeof createLog>
  readonly faults: Faults
  readonly rates: RateWindow
  readonly clock: Clock
  readonly numbers: Map<string, number>
}

const HOST = '127.0.0.1'
const STOP_GRACE_MS = 500
const SWEEP_MS = 10
/** How often a cache without promises hits where nobody said. */
const USUAL_CHANCE = 1
const MESSAGES = '/v1/messages'
const COUNT = '/v1/messages/count_tokens'
const MODELS = '/v1/models'

/** A server that speaks the Messages API: `start` says where. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const clock = options.clock ?? { now: () => Date.now() }
  const room: Room = {
    options,
    clock,
    exchange: createExchange({ ...options, clock }),
    dialects: createDialects({
      answerer: options.answerer,
      clock,
      secret: options.secret ?? DEFAULT_SECRET,
      models: options.dialectModels ?? dialectModels,
      overflow: options.overflow ?? 'refused',
      luck: { chance: options.luck?.chance ?? USUAL_CHANCE, seed: options.luck?.seed ?? 1 },
    }),
    models: options.models ?? simulatedModels,
    log: createLog(options.log),
    faults: createFaults(options.faults),
    rates: createRateWindow(() => clock.now()),
    numbers: new Map(),
  }
  const server = createServer((incoming, response) => {
    // A fault of the judge itself must not look like a verdict: the connection breaks, and the process hears of it.
    handle(room, incoming, response).catch((error: unknown) => {
      response.destroy()
      throw error
    })
  })
  return {
    log: room.log,
    faults: room.faults,
    clock,
    start: () => listen(server, options),
    stop: () => close(server),
  }
}

function listen(server: Server, { port = 0 }: SimulatorOptions): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, () => {
      const { port: actual } = server.address() as AddressInfo
      resolve({ url: `http://${HOST}:${actual}`, port: actual })
    })
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS)
    // A connection that is kept alive becomes idle when its response ends, and then holds the server open.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
    server.close(() => {
      clearTimeout(cut)
      clearInterval(sweep)
      resolve()
    })
    server.closeIdleConnections()
  })
}

async function handle(room: Room, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(incoming.url ?? '/', 'http://simulator')
  const path = url.pathname
  const number = (room.numbers.get(path) ?? 0) + 1
  room.numbers.set(path, number)
  const headers = plainHeaders(incoming)
  const read = await readBody(incoming, room.options.maxBodyBytes ?? MAX_BODY_BYTES)
  if (read.kind === 'gone') return
  const logged = newRecord({ path, number, headers, at: room.clock.now(), read })
  room.log.add(logged)
  const { heard } = room.options
  if (heard !== undefined) response.once('close', () => heard(logged))
  const route = dialectRoute(url, headers, room.options.server ?? 'openai')
  if (route !== null) return answerDialect(room, { route, url, headers, read, logged, response }, incoming)
  const refuse = (error: WireError, more: Readonly<Record<string, string>> = {}): void => {
    logged.error = error.error
    logged.status = logged.status ?? statusOf(error)
    room.rates.spend(null)
    sendJson(
      response,
      logged.status,
      { ...standardHeaders(room, logged), ...more },
      { ...error, request_id: logged.id },
    )
  }
  if (read.kind === 'too-large') return refuseTooLarge(room, logged, response)
  if (incoming.method === 'HEAD') return void response.writeHead(200, standardHeaders(room, logged)).end()
  // A path that is not served is said before what every served path wants.
  if (!path.startsWith(MODELS) && path !== MESSAGES && path !== COUNT)
    return refuse(problem('not_found_error', `${path}: Not Found`))
  const denied = checkAccess(headers, room.options.keys ?? null)
  if (denied !== null) return refuse(denied)
  if (incoming.method === 'GET' && path.startsWith(MODELS)) return listModels(room, logged, response, refuse)
  if (incoming.method !== 'POST' || (path !== MESSAGES && path !== COUNT)) {
    return refuse(problem('not_found_error', `${path}: Not Found`))
  }
  if (read.kind === 'not-json') return refuse(invalid(`The request body is not valid JSON: ${read.why}`))
  if (path === COUNT) {
    const counted = room.exchange.count(read.body, headers)
    if (!counted.ok) return refuse(counted.error)
    logged.status = 200
    return sendJson(response, 200, standardHeaders(room, logged), counted.body)
  }
  const fault = room.faults.take({ number, body: read.body, headers })
  logged.fault = fault?.kind ?? null
  if (fault?.kind === 'status') return strikeStatus(fault, logged, refuse)
  if (await strikeEarly(response, fault)) return
  await answer(room, { logged, response, headers, body: read.body, fault, refuse })
}

type ForDialect = Pick<DialectArrival, 'route' | 'url' | 'headers' | 'read' | 'logged' | 'response'>

function answerDialect(room: Room, arrival: ForDialect, incoming: IncomingMessage): Promise<void> {
  return handleDialect(room.dialects, {
    ...arrival,
    method: incoming.method ?? 'GET',
    keys: room.options.keys ?? null,
    faults: room.faults,
    delayMs: room.options.eventDelayMs ?? 0,
    maxBodyBytes: room.options.maxBodyBytes ?? MAX_BODY_BYTES,
    now: () => room.clock.now(),
  })
}

type Refuse = (error: WireError, more?: Readonly<Record<string, string>>) => void

interface Asked {
  readonly logged: LoggedRequest
  readonly response: ServerResponse
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly fault: Fault | null
  readonly refuse: Refuse
}

async function answer(room: Room, { logged, response, headers, body, fault, refuse }: Asked): Promise<void> {
  const outcome = await room.exchange.create(body, headers).catch((error: unknown) => ({
    ok: false as const,
    error: problem('api_error', answererFailed(error)),
  }))
  if (!outcome.ok) return refuse(outcome.error)
  const { response: message, reading } = outcome.reply
  logged.prompt = loggedPrompt(reading)
  logged.usage = message.usage
  logged.bill = messageBill(findModel(room.models, message.model)?.id ?? message.model, message.usage)
  logged.messageId = message.id
  logged.stopReason = message.stop_reason
  logged.appliedEdits = message.context_management?.applied_edits ?? []
  logged.inputTransformations = message.input_transformations ?? []
  logged.diagnostics = message.diagnostics
  room.rates.spend(message.usage)
  const reply = sendableMessage(outcome.reply)
  const isStream = isRecord(body) && body['stream'] === true
  const delayMs = room.options.eventDelayMs ?? 0
  const sending = { response, reply, fault, delayMs, headers: standardHeaders(room, logged) }
  await deliver(sending, isStream, logged, () => room.clock.now())
}

function strikeStatus(
  fault: Extract<Fault, { kind: 'status' }>,
  logged: LoggedRequest,
  refuse: Refuse,
): void {
  const { type, message } = faultText(fault)
  logged.status = fault.status
  refuse(problem(type, message), retryAfter(fault.retryAfterSeconds))
}

/** The edge answers this one: no request id, and the rest of the body is not read. */
function refuseTooLarge(room: Room, logged: LoggedRequest, response: ServerResponse): void {
  const error = { type: 'request_too_large', message: 'Request exceeds the maximum size' }
  logged.status = 413
  logged.error = error
  room.rates.spend(null)
  sendJson(response, 413, { connection: 'close' }, { error })
}

function listModels(room: Room, logged: LoggedRequest, response: ServerResponse, refuse: Refuse): void {
  const id = decodeURIComponent(logged.path.slice(MODELS.length + 1))
  const one = id === '' ? null : findModel(room.models, id)
  if (id !== '' && one === null) return refuse(problem('not_found_error', `model: ${id}`))
  const data = room.models.map(modelRecord)
  const page = { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
  logged.status = 200
  sendJson(response, 200, standardHeaders(room, logged), one === null ? page : modelRecord(one))
}

function standardHeaders(room: Room, logged: LoggedRequest): Readonly<Record<string, string>> {
  return { 'request-id': logged.id, 'anthropic-organization-id': 'org-simulator', ...room.rates.headers() }
}

// What GET /v1/models says about a model: the limits and capabilities a client should prefer to its own table.

const CREATED_AT = '2026-01-01T00:00:00Z'

interface ModelRecord {
  readonly type: 'model'
  readonly id: string
  readonly display_name: string
  readonly created_at: string
  readonly max_input_tokens: number
  readonly max_tokens: number
  readonly capabilities: Readonly<Record<string, unknown>>
}

function modelRecord(model: SimulatedModel): ModelRecord {
  return {
    type: 'model',
    id: model.id,
    display_name: model.id,
    created_at: CREATED_AT,
    max_input_tokens: model.window,
    max_tokens: model.maxOutput,
    capabilities: {
      thinking: {
        supported: true,
        types: Object.fromEntries(model.thinking.map((each) => [each, { supported: true }])),
      },
      context_management: {
        supported: true,
        clear_tool_uses_20250919: { supported: true },
        clear_thinking_20251015: { supported: true },
      },
    },
  }
}
