// The server on HTTP, for this machine alone: it listens on the loopback address, asks for a token, and refuses requests that
// a page of another origin or another name for this machine would make.
import { timingSafeEqual, createHash } from 'node:crypto'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { errorText } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'

export interface HttpOptions {
  readonly port: number
  readonly token: string
  readonly server: () => McpServer
  readonly problem: (why: string) => void
}

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

export async function listen({ port, token, server, problem }: HttpOptions): Promise<Listening> {
  const handler = createMcpHandler(server, {
    maxRequestBodySize: defaults.serving.requestBytes,
    onerror: (error) => problem(error.message),
  })
  const listening = http.createServer((request, response) => {
    const refused = refusal(request, token, (listening.address() as AddressInfo).port)
    if (refused !== null) {
      response.writeHead(refused.status, { 'content-type': 'text/plain' }).end(`${refused.why}\n`)
      return
    }
    serve(handler.fetch, request, response).catch((error: unknown) => {
      problem(errorText(error))
      response.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    listening.once('error', reject)
    listening.listen(port, loopback, resolve)
  })
  const close = async (): Promise<void> => {
    await handler.close()
    listening.closeAllConnections()
    await new Promise<void>((resolve) => void listening.close(() => resolve()))
  }
  return { url: `http://${loopback}:${(listening.address() as AddressInfo).port}/mcp`, close }
}

const loopback = '127.0.0.1'

interface Refused {
  readonly status: number
  readonly why: string
}

function refusal(request: http.IncomingMessage, token: string, port: number): Refused | null {
  const hosts = [loopback, 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  // A name that another site chose for this address would let its pages in.
  if (!hosts.includes(request.headers.host ?? '')) return { status: 403, why: 'this host is not served' }
  const { origin } = request.headers
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`))
    return { status: 403, why: 'pages of other origins are not served' }
  const given = /^Bearer (.+)$/u.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (!timingSafeEqual(digest(given), digest(token)))
    return { status: 401, why: 'the token is missing or wrong; pal mcp serve-memory prints it' }
  // Not every path that is sent makes a URL.
  return request.url?.split('?')[0] === '/mcp' ? null : { status: 404, why: 'the server is at /mcp' }
}

const digest = (secret: string): Buffer => createHash('sha256').update(secret).digest()

async function serve(
  answer: (request: Request) => Promise<Response>,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const stop = new AbortController()
  response.once('close', () => stop.abort())
  const headers = new Headers(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [[name, Array.isArray(value) ? value.join(', ') : value] as [string, string]],
    ),
  )
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const made = await answer(
    new Request(`http://${loopback}${request.url ?? '/'}`, {
      method: request.method ?? 'GET',
      headers,
      signal: stop.signal,
      ...(hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' } : {}),
    }),
  )
  response.writeHead(made.status, Object.fromEntries(made.headers))
  if (made.body === null) response.end()
  else for await (const part of made.body) response.write(part)
  response.end()
}
