// The records of the ledger, as schemas: what does not fit them is not believed.
import * as z from 'zod/mini'
import { memoryTypes, sourceKinds, trustLevels } from '../memory.ts'

const texts = z.readonly(z.array(z.string()))
const nullable = z.nullable(z.string())
const provenance = z.object({
  kind: z.enum(sourceKinds),
  trust: z.enum(trustLevels),
  session: nullable,
  message: nullable,
  from: texts,
  at: z.number(),
})
const head = z.object({
  name: z.string(),
  description: z.string(),
  type: z.nullable(z.enum(memoryTypes)),
  triggers: texts,
  supersedes: texts,
  expires: nullable,
})
/** Who made a record: the model in a turn, a job beside the talk, or the user with a command. */
const via = z.enum(['session', 'extraction', 'dream', 'user', 'accept', 'revert'])

const written = z.object({
  at: z.number(),
  do: z.literal('write'),
  file: z.string(),
  sha: z.string(),
  before: nullable,
  head,
  by: provenance,
  via,
})
const removed = z.object({
  at: z.number(),
  do: z.literal('remove'),
  file: z.string(),
  before: z.string(),
  by: provenance,
  via,
})
/** A write that waits for the user; without `sha` it asks for the removal of the file. */
const held = z.object({
  at: z.number(),
  do: z.literal('hold'),
  file: z.string(),
  sha: nullable,
  before: nullable,
  head: z.nullable(head),
  by: provenance,
  why: z.string(),
})
const settled = z.object({
  at: z.number(),
  do: z.literal('settle'),
  held: z.int(),
  how: z.enum(['accepted', 'rejected']),
})
/** Never to be learnt again: sessions, sources, and fingerprints of sentences. */
const forgotten = z.object({
  at: z.number(),
  do: z.literal('forget'),
  sessions: texts,
  sources: texts,
  prints: texts,
})
const place = z.object({ v: z.literal(1), n: z.int() })
const schema = z.intersection(place, z.discriminatedUnion('do', [written, removed, held, settled, forgotten]))

interface Numbered {
  readonly n: number
}
export type Via = z.infer<typeof via>
export type Written = z.infer<typeof written> & Numbered
export type Removed = z.infer<typeof removed> & Numbered
export type Held = z.infer<typeof held> & Numbered
export type Settled = z.infer<typeof settled> & Numbered
export type Forgotten = z.infer<typeof forgotten> & Numbered
export type LedgerRecord = Written | Removed | Held | Settled | Forgotten
export type NewRecord = z.infer<
  typeof written | typeof removed | typeof held | typeof settled | typeof forgotten
>

export const lineOf = (record: LedgerRecord): string => `${JSON.stringify({ v: 1, ...record })}\n`

/** The record of a line, or null when it is none. */
export function recordIn(line: string): LedgerRecord | null {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : null
}
