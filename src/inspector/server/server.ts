// Listens, judges every request, and answers. It never becomes the writer of a session by itself.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { errorText } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Inspection } from '../inspection.ts'
import type { About } from '../protocol.ts'
import type { Replays } from '../replays.ts'
import { type Asset, jsonBody, send, sendProblem } from './http.ts'
import { answerGet, answerPost, segmentsOf } from './routes.ts'
import { judge, type GuardRules } from './guard.ts'
import { Live } from './live.ts'
import { closeServer, inUrl, listening, portOf } from '../../gateway/access.ts'

export interface ServerOptions {
  readonly inspection: Inspection
  readonly replays: Replays | null
  /** By path; empty: the page is not there, the routes are. */
  readonly assets: ReadonlyMap<string, Asset>
  readonly about: Pick<About, 'version' | 'session'>
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Needed beyond this machine. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  readonly token?: string | undefined
  readonly tell?: ((line: string) => void) | undefined
}

export interface InspectorServer {
  /** With the token in its fragment, which is sent to no server. */
  readonly url: string
  readonly token: string
  readonly port: number
  readonly stop: () => Promise<void>
}

const tokenBytes = 16

export async function startServer(options: ServerOptions): Promise<InspectorServer> {
  const { inspection, tls, host } = options
  const token = options.token ?? randomBytes(tokenBytes).toString('base64url')
  const live = new Live(inspection)
  const { clientMs, connections } = defaults.inspector
  const timeouts = {
    headersTimeout: clientMs,
    requestTimeout: clientMs,
    connectionsCheckingInterval: clientMs / 4,
  }
  const server = tls === undefined ? createServer(timeouts) : createSecureServer({ ...timeouts, ...tls })
  server.maxConnections = connections
  const rules = (): GuardRules => ({ host, port: portOf(server), token, isSecure: tls !== undefined })
  server.on('request', (incoming, response) => {
    letGoOfStalled(response)
    answer({ ...options, live, rules }, incoming, response).catch((error: unknown) => {
      options.tell?.(errorText(error))
      if (response.headersSent) response.destroy()
      else sendProblem(response, 500, 'this could not be answered; the terminal says why')
    })
  })
  await listening(server, { host, port: options.port })
  const port = portOf(server)
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${inUrl(host)}:${port}/#t=${token}`,
    token,
    port,
    stop: async () => {
      live.close()
      await closeServer(server)
      await options.replays?.close()
    },
  }
}

/** A client that reads nothing keeps its answer in memory: after a while it is let go. One that waits for its answer waits: the first index of a gigabyte takes minutes. */
function letGoOfStalled(response: ServerResponse): void {
  response.setTimeout(defaults.inspector.stalledMs, () => {
    if (response.writableLength > 0) response.destroy()
  })
}

interface Context extends ServerOptions {
  readonly live: Live
  readonly rules: () => GuardRules
}

async function answer(context: Context, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const judged = judge(incoming, context.rules())
  if (!judged.ok) {
    const allow = judged.allow === undefined ? undefined : { allow: judged.allow }
    return sendProblem(response, judged.status, judged.problem, allow)
  }
  const { url, method } = judged
  if (!url.pathname.startsWith('/api/')) return answerAsset(context.assets, url.pathname, response)
  if (method === 'POST') {
    const path = segmentsOf(url.pathname)
    const body = await jsonBody(incoming)
    if (path === null) return sendProblem(response, 400, 'this path cannot be read')
    return body.ok
      ? answerPost(context, path, body.value, response)
      : sendProblem(response, body.status, body.problem)
  }
  if (url.pathname === '/api/live') return answerLive(context, url.searchParams.get('session'), response)
  const { inspection, about } = context
  const canChange = (inspection.options.changes ?? null) !== null
  return answerGet({ inspection, about: { ...about, protocol: 1, canChange } }, url, response)
}

async function answerLive(
  { inspection, live }: Context,
  session: string | null,
  response: ServerResponse,
): Promise<void> {
  if (session !== null && !(await inspection.has(session)))
    return sendProblem(response, 404, 'there is no such session')
  if (live.pages >= mostPages) return sendProblem(response, 429, 'too many pages are open')
  live.open(response, session)
}
/** Fewer than connections, so that open pages never keep others out. */
const mostPages = 24

function answerAsset(assets: ReadonlyMap<string, Asset>, path: string, response: ServerResponse): void {
  const asset = assets.get(path)
  if (asset !== undefined) return send(response, 200, asset.type, asset.bytes)
  if (path === '/')
    return sendProblem(response, 404, 'the page is not part of this build; the routes below /api/ are')
  return sendProblem(response, 404, 'there is nothing here')
}
