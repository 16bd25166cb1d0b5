// Ids of spans by what they are about, not by chance: the same session gives the same ids live, after a crash and in a later
// export, so that a backend that is told twice keeps one.
import { createHash } from 'node:crypto'
import type { SpanContext } from './port.ts'

const traceBytes = 16
const spanBytes = 8

const hashed = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2)

export const newTrace = (session: string, seq: number): string =>
  hashed(`trace/${session}/${seq}`, traceBytes)

/** A span about the entry at this place; `what` tells several of one entry apart. */
export const spanAt = (traceId: string, session: string, seq: number, what: string): SpanContext => ({
  traceId,
  spanId: hashed(`span/${session}/${seq}/${what}`, spanBytes),
})
