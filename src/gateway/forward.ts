// One request to the upstream that was fixed at the start: its headers as they came, but for codings of an answer that could not be
// heard on its way; its body as it is given, no redirects.
import { request as plainRequest, type Agent, type IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'
import { heardCodings } from './hearing.ts'

/** Headers that belong to one connection and not to the message. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])
/** Of a request and of an answer: clients and vendors send more than the 16 KB that are usual here. */
export const maxHeaderSize = 256 * 1024

const isCut = (error: Error): boolean =>
  'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** Ours: never seen by anybody else. */
const isOurs = (name: string): boolean => name.startsWith('x-palimpsest')

/** Name and value in turn, as node has them. */
export type RawHeaders = readonly string[]

function pairsOf(raw: RawHeaders): readonly (readonly [name: string, value: string])[] {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at]!, raw[at + 1]!])
  return pairs
}

/** The headers of a message without those of its connection. */
export function endToEnd(
  raw: RawHeaders,
  without: readonly string[] = [],
): readonly (readonly [string, string])[] {
  const named = pairsOf(raw)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(',')
        .map((name) => name.trim()),
    )
  return pairsOf(raw).filter(([name]) => {
    const small = name.toLowerCase()
    return !hopByHop.has(small) && !named.includes(small) && !isOurs(small) && !without.includes(small)
  })
}

export interface Forwarded {
  readonly upstream: URL
  readonly method: string
  /** Path and query as the client sent them. */
  readonly path: string
  readonly rawHeaders: RawHeaders
  /** Who keeps connections; `false` for one of its own. */
  readonly agent: Agent | false
  readonly signal: AbortSignal
}

/** Below the upstream's own path. Clients say the version as well as many an address does: it is said once. */
function pathBelow({ pathname }: URL, path: string): string {
  const base = pathname.replace(/\/+$/u, '')
  const version = /\/v\d+(?:beta)?$/u.exec(base)?.[0]
  return version !== undefined && path.startsWith(`${version}/`)
    ? base.slice(0, -version.length) + path
    : base + path
}

/** The upstream's answer as soon as its head is there. Rejects with the system's error, or when the client is gone. */
export async function forward(
  forwarded: Forwarded,
  body: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<IncomingMessage> {
  const first = await sent(forwarded, body)
  if (first.ok) return first.answer
  // A kept connection that the upstream closed while it was idle: nobody has read the request. It goes out on a new one: others that
  // were kept may be as old.
  if (!first.isStale || !(body instanceof Uint8Array)) throw first.error
  const again = await sent({ ...forwarded, agent: false }, body)
  if (again.ok) return again.answer
  throw again.error
}

type Tried =
  | { readonly ok: true; readonly answer: IncomingMessage }
  | { readonly ok: false; readonly error: Error; readonly isStale: boolean }

function sent(
  { upstream, method, path, rawHeaders, agent, signal }: Forwarded,
  body: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<Tried> {
  const send = upstream.protocol === 'https:' ? secureRequest : plainRequest
  const isWhole = body instanceof Uint8Array
  const headers = [
    'host',
    upstream.host,
    ...endToEnd(rawHeaders, isWhole ? ['host', 'content-length'] : ['host']).flatMap(([name, value]) => [
      name,
      name.toLowerCase() === 'accept-encoding' ? heardCodings(value) : value,
    ]),
    ...(isWhole && (body.length > 0 || method === 'POST') ? ['content-length', String(body.length)] : []),
  ]
  return new Promise((resolve) => {
    const outgoing = send(
      {
        host: upstream.hostname.replace(/^\[|\]$/gu, ''),
        port: upstream.port,
        method,
        path: pathBelow(upstream, path),
        headers,
        agent,
        signal,
        maxHeaderSize,
      },
      (answer) => resolve({ ok: true, answer }),
    )
    outgoing.once('error', (error) =>
      resolve({ ok: false, error, isStale: outgoing.reusedSocket && isCut(error) }),
    )
    if (isWhole) {
      outgoing.end(body)
      return
    }
    const pass = async (): Promise<void> => {
      for await (const piece of body)
        if (!outgoing.write(piece)) await new Promise((drained) => outgoing.once('drain', drained))
      outgoing.end()
    }
    pass().catch((error: unknown) =>
      outgoing.destroy(error instanceof Error ? error : new Error(String(error))),
    )
  })
}
