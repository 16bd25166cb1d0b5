// Requests in the words of another vendor over HTTP: key, method, content type, faults, answer, log; each in its vendor's form.
import type { ServerResponse } from 'node:http'
import { createResponseStore, type ResponseStore } from '../dialects/openai/responses/store.ts'
import {
  createBench,
  type DialectBench,
  type DialectOptions,
  type DialectReply,
  type Json,
  type Refused,
} from '../dialects/front.ts'
import {
  checkGeminiKey,
  countGemini,
  createGemini,
  geminiModel,
  geminiModelRecord,
  noSuchGemini,
} from '../dialects/gemini/exchange.ts'
import { createChat, noSuchModel } from '../dialects/openai/chat/exchange.ts'
import { checkKey, credentialOf, fault as apiFault, refusedBy } from '../dialects/openai/errors.ts'
import type { Quirks } from '../dialects/openai/quirks.ts'
import { compactResponse, countResponse, createResponse } from '../dialects/openai/responses/exchange.ts'
import type { DialectRoute } from '../dialects/routes.ts'
import { tenantOf } from '../rules/seal.ts'
import { geminiSpeech, openaiSpeech, type Speech } from '../dialects/speech.ts'
import type { LoggedRequest } from '../log.ts'
import { isRecord } from '../rules/shape.ts'
import type { Incoming } from './arrival.ts'
import type { Fault, Faults } from './faults.ts'
import { answererFailed, deliver, retryAfter, sendJson, strikeEarly, type Sendable } from './sending.ts'

export interface Dialects {
  readonly bench: DialectBench
  readonly store: ResponseStore
}

export function createDialects(options: DialectOptions): Dialects {
  return { bench: createBench(options), store: createResponseStore() }
}

export interface DialectArrival {
  readonly route: DialectRoute
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly read: Exclude<Incoming, { kind: 'gone' }>
  readonly logged: LoggedRequest
  readonly response: ServerResponse
  readonly keys: readonly string[] | null
  readonly faults: Faults
  readonly delayMs: number
  readonly maxBodyBytes: number
  readonly now: () => number
}

/** Answers one request of a vendor that is not the simulator's own. */
export async function handleDialect(dialects: Dialects, arrival: DialectArrival): Promise<void> {
  const { route, method, url, read, logged, response, headers } = arrival
  const speech = speechOf(route)
  const standard = standardHeaders(route, logged)
  const refuse = (refused: Refused, more: Readonly<Record<string, string>> = {}): void => {
    logged.status = refused.status
    logged.error = { type: refused.type, message: refused.message }
    sendJson(response, refused.status, { ...standard, ...more }, refused.body)
  }
  const give = (body: unknown): void => {
    logged.status = 200
    logged.endedAt = arrival.now()
    sendJson(response, 200, standard, body)
  }
  if (read.kind === 'too-large') return refuse(speech.tooLarge(arrival.maxBodyBytes), { connection: 'close' })
  if (route.front === 'unknown') return refuse(speech.notFound(method, url.pathname))
  const key = keyOf(arrival)
  if (key.refused !== null) return refuse(key.refused)
  const tenant = tenantOf(dialects.bench.options.secret, key.credential)
  const listed = listedBody(dialects, route, method, tenant)
  if (listed !== null) return 'status' in listed ? refuse(listed) : give(listed.body)
  if (method !== 'POST') return refuse(speech.wrongMethod(method, url.pathname))
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const mistyped = type === 'application/json' ? null : speech.wrongType(type)
  if (mistyped !== null) return refuse(mistyped)
  if (read.kind === 'not-json') return refuse(speech.notJson(read.why))
  const fault = arrival.faults.take({ number: logged.number, body: read.body, headers })
  logged.fault = fault?.kind ?? null
  if (fault?.kind === 'status') return refuse(speech.struck(fault), retryAfter(fault.retryAfterSeconds))
  if (await strikeEarly(response, fault)) return
  const outcome = await asked(dialects, arrival, read.body, tenant).catch((error: unknown) => ({
    ok: false as const,
    refused: speech.failure(answererFailed(error)),
  }))
  if (!outcome.ok) return refuse(outcome.refused)
  if ('body' in outcome) return give(outcome.body)
  await deliverReply(arrival, outcome.reply, { fault, speech, standard, body: read.body })
}

interface Delivered {
  readonly fault: Fault | null
  readonly speech: Speech
  readonly standard: Readonly<Record<string, string>>
  readonly body: unknown
}

async function deliverReply(
  { route, logged, response, delayMs, now }: DialectArrival,
  reply: DialectReply,
  { fault, speech, standard, body }: Delivered,
): Promise<void> {
  logged.model = reply.model.id
  logged.usage = reply.usage
  logged.bill = reply.bill
  logged.messageId = reply.id
  logged.stopReason = reply.stopReason
  logged.prompt = {
    totalTokens: reply.reading.totalTokens,
    deletedTokens: 0,
    positions: reply.reading.steps.length,
    breakpoints: [],
    hit: null,
  }
  const isList = route.front === 'gemini' && !route.asEvents
  const sendable: Sendable = {
    whole: () => reply.body(),
    frames: () => reply.frames(),
    begin: () => reply.begin(),
    failed: (struck) => speech.failed(struck),
    malformed: speech.malformed,
    ...(isList ? { contentType: 'application/json; charset=UTF-8' } : {}),
  }
  const isStream =
    route.front === 'gemini'
      ? route.action === 'stream'
      : !(route.front === 'responses' && route.action === 'compact') &&
        isRecord(body) &&
        body['stream'] === true
  await deliver({ response, reply: sendable, fault, delayMs, headers: standard }, isStream, logged, now)
}

function speechOf(route: DialectRoute): Speech {
  return route.front === 'gemini' ? geminiSpeech() : openaiSpeech(route.quirks, route.front === 'responses')
}

function keyOf({ route, headers, url, keys }: DialectArrival): {
  readonly credential: string
  readonly refused: Refused | null
} {
  if (route.front === 'gemini') {
    const credential = headers['x-goog-api-key'] ?? url.searchParams.get('key') ?? ''
    return { credential, refused: checkGeminiKey(credential, keys) }
  }
  const wrong = checkKey(headers, keys, route.quirks)
  return {
    credential: credentialOf(headers, route.quirks),
    refused: wrong === null ? null : refusedBy(route.quirks, wrong),
  }
}

function asked(dialects: Dialects, { route, headers }: DialectArrival, body: unknown, tenant: string) {
  const { bench, store } = dialects
  if (route.front === 'gemini') {
    const ask = { body, model: route.model, headers, tenant, asEvents: route.asEvents }
    return route.action === 'count' ? Promise.resolve(countGemini(bench, ask)) : createGemini(bench, ask)
  }
  if (route.front === 'responses') {
    const ask = { body, headers, tenant, quirks: route.quirks, store }
    if (route.action === 'count') return Promise.resolve(countResponse(bench, ask))
    return route.action === 'compact' ? compactResponse(bench, ask) : createResponse(bench, ask)
  }
  const { quirks } = route
  const named = 'deployment' in route ? withDeployment(body, route.deployment) : body
  return createChat(bench, { body: named, headers, tenant, quirks })
}

/** A deployment in the path is the model. */
function withDeployment(body: unknown, deployment: string | null): unknown {
  return deployment === null || !isRecord(body) ? body : { ...body, model: deployment }
}

/** What is read rather than asked: lists of models, responses that were kept. Null where the request is neither. */
function listedBody(
  { bench, store }: Dialects,
  route: DialectRoute,
  method: string,
  tenant: string,
): Refused | { readonly body: unknown } | null {
  const { models } = bench.options
  if (route.front === 'gemini') {
    if (route.action === 'list')
      return { body: { models: models.filter((each) => each.vendor === 'google').map(geminiModelRecord) } }
    if (route.action !== 'model') return null
    const model = geminiModel(route.model, models)
    return model === null ? noSuchGemini(route.model) : { body: geminiModelRecord(model) }
  }
  if (route.front === 'models') {
    const data = models.filter((each) => each.vendor === 'openai').map((each) => modelRecord(each.id))
    if (route.id === null) return { body: { object: 'list', data } }
    const found = data.find((each) => each['id'] === route.id)
    return found === undefined ? refusedBy(route.quirks, noSuchModel(route.id)) : { body: found }
  }
  if (route.front !== 'responses' || route.id === null) return null
  const stored = store.find(route.id, tenant)
  if (stored === null) return notKept(route.id, route.quirks)
  if (method === 'DELETE') {
    store.remove(route.id, tenant)
    return { body: { id: route.id, object: 'response', deleted: true } }
  }
  if (method !== 'GET') return null
  if (route.action !== 'items') return { body: stored.response }
  const data = stored.input
  return {
    body: {
      object: 'list',
      data,
      first_id: data[0]?.['id'] ?? null,
      last_id: data.at(-1)?.['id'] ?? null,
      has_more: false,
    },
  }
}

function notKept(id: string, quirks: Quirks): Refused {
  return refusedBy(quirks, { ...apiFault(`Response with id '${id}' not found.`), status: 404 })
}

const CREATED_AT = 1_767_225_600

function modelRecord(id: string): Json {
  return { id, object: 'model', created: CREATED_AT, owned_by: 'simulator' }
}

function standardHeaders(route: DialectRoute, logged: LoggedRequest): Readonly<Record<string, string>> {
  if (route.front === 'gemini') return { 'x-request-id': logged.id }
  return {
    'x-request-id': logged.id,
    'openai-organization': 'org-simulator',
    'openai-version': '2020-10-01',
    'openai-processing-ms': '1',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': '2000000',
    'x-ratelimit-remaining-tokens': '1999000',
    'x-ratelimit-reset-tokens': '30ms',
  }
}
