// The fleet over HTTP: send input, follow a session, answer a question. Every request needs the token of a tenant; a page in a
// browser must not speak to it whatever it is called, and nothing is changed by a GET.
import { figuresJson, jsonIn } from '../transcript/json.ts'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import * as z from 'zod/mini'
import { errorText, type Failure } from '../disk/failure.ts'
import { closeServer, inUrl, listening, pageRefusal, portOf } from '../gateway/access.ts'
import type { Connection } from '../postgres/connection.ts'
import { Queue } from '../postgres/queue.ts'
import { postgresStore } from '../postgres/store.ts'
import { tenantOf } from '../postgres/tokens.ts'
import { follow } from './following.ts'

export interface FleetServerOptions {
  readonly connection: Connection
  readonly host: string
  readonly port: number
  /** Most readers that follow sessions of one tenant at once. */
  readonly followers?: number | undefined
  readonly bodyBytes?: number | undefined
}

export interface FleetServer {
  readonly url: string
  stop(): Promise<void>
}

const serverDefaults = { followers: 100, bodyBytes: 1024 * 1024 }

/** The HTTP server of a fleet: input goes in, events come out, with a token for each tenant. */
export async function startFleetServer(options: FleetServerOptions): Promise<FleetServer> {
  const followers = new Map<string, number>()
  const ending = new AbortController()
  const server: Server = createServer((request, response) => {
    serve({ ...options, port: portOf(server) }, request, response, followers, ending.signal).catch(
      (error: unknown) => refuse(response, 500, `this request failed: ${errorText(error)}`),
    )
  })
  await listening(server, options)
  return {
    url: `http://${inUrl(options.host)}:${portOf(server)}`,
    stop: () => {
      ending.abort()
      return closeServer(server)
    },
  }
}

const inputBody = z.object({
  text: z.string(),
  id: z.optional(z.string()),
  team: z.optional(z.string()),
  project: z.optional(z.string()),
})
const answerBody = z.object({
  question: z.string(),
  answer: z.enum(['allow', 'deny']),
  why: z.optional(z.string()),
})

const route = /^\/v1\/sessions(?:\/([^/?]{1,300})(?:\/(input|answer|events))?)?$/u

async function serve(
  options: FleetServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  followers: Map<string, number>,
  ending: AbortSignal,
): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-content-type-options', 'nosniff')
  const page = pageRefusal(request.headers, options)
  if (page !== null) return refuse(response, page.status, page.why)
  const given = /^Bearer (\S{1,200})$/u.exec(request.headers.authorization ?? '')?.[1]
  const known = given === undefined ? null : await tenantOf(options.connection, given)
  if (known !== null && !known.ok) return refuse(response, 503, known.failure.message)
  const tenant = known?.tenant ?? null
  if (tenant === null)
    return refuse(response, 401, 'a token of a tenant is needed: Authorization: Bearer TOKEN')
  const url = new URL(request.url ?? '/', 'http://fleet')
  const found = route.exec(url.pathname)
  if (found === null) return refuse(response, 404, 'there is no such path; see docs/fleet.md')
  const session = found[1] === undefined ? null : decoded(found[1])
  if (found[1] !== undefined && session === null)
    return refuse(response, 400, 'the id of the session cannot be read')
  const queue = new Queue(options.connection, tenant)
  const verb = found[2] ?? null
  if (request.method === 'POST' && session !== null && (verb === 'input' || verb === 'answer'))
    return posted(options, request, response, queue, session, verb)
  if (request.method !== 'GET' || verb === 'input' || verb === 'answer')
    return refuse(response, 405, 'this path is not asked in this way')
  if (verb === 'events')
    return followed(options, request, response, { tenant, session: session!, url, followers, ending })
  return listed(response, queue, session)
}

async function listed(response: ServerResponse, queue: Queue, session: string | null): Promise<void> {
  const rows = await queue.rows(session)
  if (!rows.ok) return failed(response, rows.failure)
  if (session === null) return send(response, 200, { sessions: rows.rows })
  const questions = await queue.questions(session)
  if (!questions.ok) return failed(response, questions.failure)
  const row = rows.rows[0]
  if (row === undefined) return refuse(response, 404, `there is no session ${session}`)
  return send(response, 200, { ...row, questions: questions.questions })
}

async function posted(
  { bodyBytes = serverDefaults.bodyBytes }: FleetServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  queue: Queue,
  session: string,
  verb: 'input' | 'answer',
): Promise<void> {
  if (!/^application\/json(?:;|$)/u.test(request.headers['content-type'] ?? ''))
    return refuse(response, 415, 'the body must be JSON: Content-Type: application/json')
  const body = await readJson(request, bodyBytes)
  if (body === null) return refuse(response, 413, `the body must be JSON of at most ${bodyBytes} bytes`)
  if (verb === 'answer') {
    const answer = answerBody.safeParse(body.value)
    if (!answer.success)
      return refuse(response, 400, 'expected {"question": "…", "answer": "allow" or "deny", "why"?: "…"}')
    const { question, why } = answer.data
    const text = answer.data.answer === 'deny' && why !== undefined ? `deny: ${why}` : answer.data.answer
    const done = await queue.answer(session, question, text)
    return done.ok ? send(response, 200, { session, question, answer: text }) : failed(response, done.failure)
  }
  const input = inputBody.safeParse(body.value)
  if (!input.success || input.data.text.trim() === '')
    return refuse(response, 400, 'expected {"text": "…", "id"?: "…", "team"?: "…", "project"?: "…"}')
  const { text, id = randomUUID(), team, project } = input.data
  const trace = request.headers['traceparent']
  const sent = await queue.send({
    session,
    id,
    kind: 'input',
    body: text,
    team,
    project,
    trace: typeof trace === 'string' ? trace : undefined,
  })
  if (!sent.ok) return failed(response, sent.failure)
  return send(response, sent.isNew ? 202 : 200, { session, id, isNew: sent.isNew, parked: sent.parked })
}

async function followed(
  { connection, followers: most = serverDefaults.followers }: FleetServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  about: {
    readonly tenant: string
    readonly session: string
    readonly url: URL
    readonly followers: Map<string, number>
    readonly ending: AbortSignal
  },
): Promise<void> {
  const { tenant, session, url, followers, ending } = about
  const count = followers.get(tenant) ?? 0
  if (count >= most) return refuse(response, 429, `${most} readers follow sessions of this tenant already`)
  const from = request.headers['last-event-id'] ?? url.searchParams.get('after') ?? '-1'
  const after = Number(from)
  if (!Number.isSafeInteger(after) || after < -1)
    return refuse(response, 400, 'after must be the number of an entry')
  followers.set(tenant, count + 1)
  try {
    await follow(postgresStore({ connection, tenant }), session, after, response, ending)
  } finally {
    followers.set(tenant, (followers.get(tenant) ?? 1) - 1)
  }
}

async function readJson(request: IncomingMessage, most: number): Promise<{ readonly value: unknown } | null> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.byteLength
    // Read to its end all the same: who is cut off while sending does not hear the answer.
    if (size <= most) parts.push(part)
    else parts.length = 0
  }
  if (size > most) return null
  const value = jsonIn(Buffer.concat(parts).toString('utf8'))
  return value === undefined ? null : { value }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

const statuses: Readonly<Partial<Record<Failure['code'], number>>> = {
  'not-found': 404,
  'no-such-session': 404,
  'bad-name': 400,
  exists: 409,
  'disk-full': 507,
  network: 503,
}

const failed = (response: ServerResponse, { code, message }: Failure): void =>
  refuse(response, statuses[code] ?? 500, message)

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.end()
  send(response, status, { error: message })
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${figuresJson(value)}\n`)
}
