// One request to the upstream that was fixed at the start: its headers as they came, its body as it is given, no redirects.
import { request as plainRequest, type Agent, type IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'

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
/** Ours: never seen by anybody else. */
const isOurs = (name: string): boolean => name.startsWith('x-palimpsest')

/** Name and value in turn, as node has them. */
export type RawHeaders = readonly string[]

export function pairsOf(raw: RawHeaders): readonly (readonly [name: string, value: string])[] {
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
  readonly agent: Agent
  readonly signal: AbortSignal
}

/** The upstream's answer as soon as its head is there. Rejects with the system's error, or when the client is gone. */
export function forward(
  { upstream, method, path, rawHeaders, agent, signal }: Forwarded,
  body: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<IncomingMessage> {
  const send = upstream.protocol === 'https:' ? secureRequest : plainRequest
  const isWhole = body instanceof Uint8Array
  const headers = [
    'host',
    upstream.host,
    ...endToEnd(rawHeaders, isWhole ? ['host', 'content-length'] : ['host']).flat(),
    ...(isWhole && (body.length > 0 || method === 'POST') ? ['content-length', String(body.length)] : []),
  ]
  return new Promise((resolve, reject) => {
    const outgoing = send(
      { host: upstream.hostname, port: upstream.port, method, path, headers, agent, signal },
      resolve,
    )
    outgoing.once('error', reject)
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
