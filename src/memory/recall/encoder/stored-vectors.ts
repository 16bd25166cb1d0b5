// The vectors of memories as they lie on disk between processes, beside the index, one for each content.
//
// Format of `recall-vectors` in the state folder: one line of JSON, then the hashes of the texts (32 bytes each), then the
// vectors, scaled to whole numbers of one byte. Those of another encoder, or of a ledger from before something was
// forgotten, count as none, as does a file that is torn.
import { objectIn } from '../../../transcript/json.ts'
import { createHash } from 'node:crypto'
import { join } from 'node:path'

export type Vectors = ReadonlyMap<string, Float32Array>

/** Whose they are: another encoder or ledger makes them worthless. */
export interface VectorsOrigin {
  readonly ledger: string
  readonly encoder: string
}

export const storedVectorsFile = (state: string): string => join(state, 'recall-vectors')

const version = 1
const shaBytes = 32
const top = 127

export function encodeVectors(vectors: Vectors, { ledger, encoder }: VectorsOrigin): Buffer {
  const length = vectors.values().next().value?.length ?? 0
  const all = [...vectors].filter(([, vector]) => vector.length === length)
  const shas = all.map(([sha]) => Buffer.from(sha, 'hex'))
  const rows = all.map(([, vector]) => Buffer.from(scaled(vector).buffer))
  const payload = Buffer.concat([...shas, ...rows])
  const about = { v: version, ledger, encoder, count: all.length, length }
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ ...about, sha: hashOf(about, payload) })}\n`),
    payload,
  ])
}

/** None where the file is damaged or was made with something else. */
export function decodeVectors(bytes: Buffer, origin: VectorsOrigin): Map<string, Float32Array> {
  const end = bytes.indexOf('\n')
  const header = headerIn(bytes.subarray(0, Math.max(0, end)).toString('utf8'))
  const payload = bytes.subarray(end + 1)
  const vectors = new Map<string, Float32Array>()
  if (header === null || header.ledger !== origin.ledger || header.encoder !== origin.encoder) return vectors
  const { v, ledger, encoder, count, length } = header
  if (header.sha !== hashOf({ v, ledger, encoder, count, length }, payload)) return vectors
  const rows = payload.subarray(count * shaBytes)
  for (let at = 0; at < count; at++) {
    const sha = payload.subarray(at * shaBytes, (at + 1) * shaBytes).toString('hex')
    vectors.set(sha, Float32Array.from(new Int8Array(rows.subarray(at * length, (at + 1) * length))))
  }
  return vectors
}

interface About extends VectorsOrigin {
  readonly v: number
  readonly count: number
  readonly length: number
}

function headerIn(text: string): (About & { readonly sha: string }) | null {
  const value: (Partial<About> & { readonly sha?: string }) | null = objectIn(text)
  const isOurs =
    value?.v === version && Number.isSafeInteger(value.count) && Number.isSafeInteger(value.length)
  return isOurs ? (value as About & { readonly sha: string }) : null
}

/** How near two vectors are does not depend on their lengths. */
function scaled(vector: Float32Array): Int8Array {
  const highest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Int8Array.from(vector, (value) => (highest === 0 ? 0 : Math.round((value / highest) * top)))
}

const hashOf = (about: About, payload: Uint8Array): string =>
  createHash('sha256').update(JSON.stringify(about)).update(payload).digest('hex')
