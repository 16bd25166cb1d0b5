// Reading a request body under the size limit of the API. A body that is too large is not kept.
import type { IncomingMessage } from 'node:http'

export type Incoming =
  | { readonly kind: 'json'; readonly bytes: number; readonly body: unknown }
  | { readonly kind: 'not-json'; readonly bytes: number; readonly why: string }
  | { readonly kind: 'too-large'; readonly bytes: number }
  /** The client left before its request was complete. */
  | { readonly kind: 'gone'; readonly bytes: number }

const MAX_BODY_BYTES = 32 * 1024 * 1024

export async function readBody(incoming: IncomingMessage): Promise<Incoming> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of incoming) {
      bytes += (chunk as Buffer).length
      // Read on without keeping it: a client that is still sending would see a reset instead of the answer.
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk as Buffer)
    }
  } catch {
    return { kind: 'gone', bytes }
  }
  if (bytes > MAX_BODY_BYTES) return { kind: 'too-large', bytes }
  if (bytes === 0) return { kind: 'not-json', bytes, why: 'the body is empty' }
  try {
    return { kind: 'json', bytes, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) }
  } catch (error) {
    return { kind: 'not-json', bytes, why: error instanceof Error ? error.message : String(error) }
  }
}
