// A request as it arrives: its body under the size limit, its headers in one form, its place in the log, its key and version; and
// the limits every response reports. Limits are reported, not enforced: a refusal is a fault to be scripted.
import type { IncomingMessage } from 'node:http'
import type { WireError, WireUsage } from '../../model/wire.ts'
import type { LoggedRequest } from '../log.ts'
import { invalid, problem } from '../rules/problem.ts'
import { VERSIONS } from '../rules/request-shape.ts'
import { isRecord } from '../rules/shape.ts'

/** Who asks, for the log. */
export const SOURCE_HEADER = 'x-palimpsest-source'

interface Arrival {
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

const MINUTE_MS = 60_000
const LIMITS = [
  ['requests', 4000],
  ['input-tokens', 2_000_000],
  ['output-tokens', 400_000],
  ['tokens', 2_400_000],
] as const

/** Any key will do unless keys are named; `x-api-key` wins over a bearer token. */
export function checkAccess(
  headers: Readonly<Record<string, string>>,
  keys: readonly string[] | null,
): WireError | null {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers['authorization'] ?? '')?.[1]
  const key = headers['x-api-key'] ?? bearer ?? ''
  if (key === '') return problem('authentication_error', 'x-api-key header is required')
  if (keys !== null && !keys.includes(key)) return problem('authentication_error', 'invalid x-api-key')
  const version = headers['anthropic-version']
  if (version === undefined) return invalid('anthropic-version: header is required')
  return VERSIONS.includes(version) ? null : invalid(`anthropic-version: "${version}" is not a valid version`)
}

export interface RateWindow {
  spend(usage: WireUsage | null): void
  headers(): Readonly<Record<string, string>>
}

/** Cache reads do not count against the input limit. */
export function createRateWindow(now: () => number): RateWindow {
  const none = { requests: 0, 'input-tokens': 0, 'output-tokens': 0, tokens: 0 }
  let used = none
  let minute = 0
  const turnOver = (): void => {
    const current = Math.floor(now() / MINUTE_MS)
    if (current !== minute) used = none
    minute = current
  }
  return {
    spend: (usage) => {
      turnOver()
      const input = (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0)
      const output = usage?.output_tokens ?? 0
      used = {
        requests: used.requests + 1,
        'input-tokens': used['input-tokens'] + input,
        'output-tokens': used['output-tokens'] + output,
        tokens: used.tokens + input + output,
      }
    },
    headers: () => {
      turnOver()
      const reset = new Date((minute + 1) * MINUTE_MS).toISOString()
      return Object.fromEntries(
        LIMITS.flatMap(([name, limit]) => [
          [`anthropic-ratelimit-${name}-limit`, String(limit)],
          [`anthropic-ratelimit-${name}-remaining`, String(Math.max(0, limit - used[name]))],
          [`anthropic-ratelimit-${name}-reset`, reset],
        ]),
      )
    },
  }
}
