// What a file was before a call changed it, so that a rewind can give it back. Kept beside the session as a blob named
// after the call: {"path", "before": text or null for a file that was not there, "after": sha256 of what was written}.
// A file that holds a secret is not copied: it would lie where it does not belong.
import { jsonIn } from '../../transcript/json.ts'
import * as z from 'zod/mini'
import { redact } from '../../disk/redact.ts'
import type { ToolEnv } from '../tool.ts'

export interface BeforeImage {
  readonly path: string
  readonly before: string | null
  /** Of the bytes that took its place. A file that is no longer those was changed by somebody else since. */
  readonly after: string
}

const shape = z.object({ path: z.string(), before: z.nullable(z.string()), after: z.string() })

export const beforeImageName = (callId: string): string => `before-${callId}`

/** A change is not held up by this: what cannot be kept cannot be given back, and is said then. */
export async function keepBefore(env: ToolEnv, image: BeforeImage): Promise<void> {
  if (env.spill === null || (image.before !== null && redact(image.before).found.length > 0)) return
  await env.spill(beforeImageName(env.callId), Buffer.from(JSON.stringify(image)))
}

/** The image in a blob, or null when it is none. */
export function beforeImageIn(bytes: Uint8Array): BeforeImage | null {
  const read = z.safeParse(shape, jsonIn(Buffer.from(bytes).toString()))
  return read.success ? read.data : null
}
