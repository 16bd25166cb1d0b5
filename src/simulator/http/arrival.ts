// A request as it arrives: its body under the size limit, its headers in one form, its place in the log.
import type { IncomingMessage } from 'node:http'
import type { LoggedRequest } from '../log.ts'
import { isRecord } from '../rules/shape.ts'

/** Who asks, for the log. */
export const SOURCE_HEADER = 'x-palimpsest-source'

export interface Arrival {
  readonly path: string
  readonly number: number
  readonly headers: Readonly<Record<string, string>>
  readonly at: number
  readonly read: { readonly bytes: number; readonly body?: unknown }
}

export function newRecord({ path, number, headers, at, read }: Arrival): LoggedRequest {
  const model = isRecord(read.body) && typeof read.body['model'] === 'string' ? read.body['model'] : null
  const kind = path === '/v1/messages' ? 'm' : 'o'
  return {
    id: `req_sim_${kind}${String(number).padStart(6, '0')}`,
    number,
    path,
    at,
    source: headers[SOURCE_HEADER] ?? null,
    model,
    bytes: read.bytes,
    headers: withoutKeys(headers),
    body: read.body ?? null,
    status: null,
    error: null,
    fault: null,
    prompt: null,
    usage: null,
    messageId: null,
    stopReason: null,
    appliedEdits: [],
    inputTransformations: [],
    diagnostics: null,
    firstByteAt: null,
    bill: null,
    endedAt: null,
  }
}

const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'])

/** A key that reaches the log reaches a failing test's output. */
function withoutKeys(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !KEY_HEADERS.has(name)))
}

// Reading a request body under the size limit of the API. A body that is too large is not kept.

export type Incoming =
  | { readonly kind: 'json'; readonly bytes: number; readonly body: unknown }
  | { readonly kind: 'not-json'; readonly bytes: number; readonly why: string }
  | { readonly kind: 'too-large'; readonly bytes: number }
  /** The client left before its request was complete. */
  | { readonly kind: 'gone'; readonly bytes: number }

export const MAX_BODY_BYTES = 32 * 1024 * 1024

export async function readBody(incoming: IncomingMessage, most: number): Promise<Incoming> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of incoming) {
      bytes += (chunk as Buffer).length
      // Read on without keeping it: a client that is still sending would see a reset instead of the answer.
      if (bytes <= most) chunks.push(chunk as Buffer)
    }
  } catch {
    return { kind: 'gone', bytes }
  }
  if (bytes > most) return { kind: 'too-large', bytes }
  if (bytes === 0) return { kind: 'not-json', bytes, why: 'the body is empty' }
  try {
    return { kind: 'json', bytes, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) }
  } catch (error) {
    return { kind: 'not-json', bytes, why: error instanceof Error ? error.message : String(error) }
  }
}

export function plainHeaders(incoming: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(incoming.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}
