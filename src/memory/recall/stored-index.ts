// What recall knows of one folder's memories as it lies on disk between processes, so that it is loaded and not made anew:
// the index, and the vectors. Both files are one line of JSON, then bytes that it speaks of, checked by a hash.
//
// Format of `recall-index` in the state folder:
//
//   {"v":1,"ledger":"…","ledgerBytes":…,"words":"…","order":"LE","sha":"…","sizes":[columns,terms,counts,slots,lengths]}
//   columns: JSON, what is known of each memory, one column a property; the slot is the place in it
//   terms: one a line; then counts, slots, amounts (as many as slots) and lengths as arrays of four-byte numbers
//
// It holds no text. What it says of a memory's worth is what the ledger said when it had so many bytes; who loads it asks the
// ledger for what came behind them (for everything where the index does not hold all), and again for every memory that is shown.
//
// Format of `recall-vectors`, one vector for each content: the line, then the hashes of the texts (32 bytes each), then the
// vectors, scaled to whole numbers of one byte.
//
// A file that is torn, of other tables of words or another encoder, or of a ledger from before something was forgotten
// counts as none.
import { objectIn } from '../../transcript/json.ts'
import { createHash } from 'node:crypto'
import { endianness } from 'node:os'
import { join } from 'node:path'
import type { Memory, MemoryType, Standing } from '../memory.ts'
import type { StoredPostings } from './postings.ts'

/** What ranking asks of a memory. */
export interface StoredMemory extends Pick<
  Memory,
  'file' | 'sha256' | 'bytes' | 'modifiedMs' | 'standing' | 'type' | 'supersedes' | 'expires'
> {
  readonly mark: string
  /** The words of its trigger phrases. */
  readonly triggerWords: readonly (readonly string[])[]
}

export interface StoredIndex {
  /** In the order of the slots. */
  readonly memories: readonly StoredMemory[]
  readonly postings: StoredPostings
}

/** What an index was made with; another one makes it worthless. */
export interface IndexOrigin {
  readonly ledger: string
  readonly words: string
}

export interface DecodedIndex extends StoredIndex {
  /** So many bytes of the ledger were known then, and everything they stand for is in it; 0 where it does not hold all. */
  readonly ledgerBytes: number
}

export const storedIndexFile = (state: string): string => join(state, 'recall-index')

const version = 1
const numberBytes = 4

export function encodeIndex(
  { memories, postings }: StoredIndex,
  origin: IndexOrigin & { readonly ledgerBytes: number },
): Buffer {
  const [listed, terms] = [
    Buffer.from(JSON.stringify(columnsOf(memories))),
    Buffer.from(postings.terms.join('\n')),
  ]
  const { counts, slots, amounts, lengths } = postings
  const payload = Buffer.concat([listed, terms, ...[counts, slots, amounts, lengths].map(bytesOf)])
  const sizes = [listed.length, terms.length, counts.length, slots.length, lengths.length]
  const { ledger, ledgerBytes, words } = origin
  const sha = hashOf([ledger, ledgerBytes, words, sizes], payload)
  return framed({ v: version, ledger, ledgerBytes, words, sizes, order: endianness(), sha }, payload)
}

/** Null where it is no index, is damaged, or was made with something else. */
export function decodeIndex(bytes: Buffer, origin: IndexOrigin): DecodedIndex | null {
  const { header: found, payload } = unframed(bytes)
  const header = found as Header | null
  if (header?.order !== endianness() || !Array.isArray(header.sizes)) return null
  const { ledger, ledgerBytes, words, sizes, sha } = header
  if (ledger !== origin.ledger || words !== origin.words) return null
  if (sha !== hashOf([ledger, ledgerBytes, words, sizes], payload)) return null
  const [listed = 0, termBytes = 0, count = 0, slotCount = 0, lengthCount = 0] = sizes
  const terms = payload.subarray(listed, listed + termBytes).toString('utf8')
  let at = listed + termBytes
  const numbers = (many: number): ArrayBuffer => {
    const from = payload.byteOffset + at
    at += many * numberBytes
    // A copy: the bytes of a file do not lie where an array of numbers may begin.
    return new Uint8Array(payload.buffer, from, many * numberBytes).slice().buffer
  }
  const postings: StoredPostings = {
    terms: terms === '' ? [] : terms.split('\n'),
    counts: new Uint32Array(numbers(count)),
    slots: new Uint32Array(numbers(slotCount)),
    amounts: new Float32Array(numbers(slotCount)),
    lengths: new Uint32Array(numbers(lengthCount)),
  }
  const memories = memoriesIn(JSON.parse(payload.subarray(0, listed).toString('utf8')) as Columns)
  return { memories, postings, ledgerBytes }
}

interface Header extends IndexOrigin {
  readonly order: string
  readonly ledgerBytes: number
  readonly sha: string
  readonly sizes: readonly number[]
}

/** Few long texts are read much faster than many short ones. */
interface Columns {
  readonly files: string
  readonly marks: string
  readonly shas: string
  readonly bytes: readonly number[]
  readonly modified: readonly number[]
  /** Of each its standing and its type, a letter each. */
  readonly kinds: string
  readonly more: readonly (readonly [
    slot: number,
    triggerWords: StoredMemory['triggerWords'],
    supersedes: readonly string[],
    expires: string | null,
  ])[]
}

const standings: Readonly<Record<string, Standing>> = { o: 'open', f: 'fenced', h: 'held' }
const types: Readonly<Record<string, MemoryType | null>> = {
  u: 'user',
  f: 'feedback',
  p: 'project',
  r: 'reference',
  '-': null,
}
const shaChars = 64

const columnsOf = (memories: readonly StoredMemory[]): Columns => ({
  files: memories.map(({ file }) => file).join('\n'),
  marks: memories.map(({ mark }) => mark).join('\n'),
  shas: memories.map(({ sha256 }) => sha256).join(''),
  bytes: memories.map(({ bytes }) => bytes),
  modified: memories.map(({ modifiedMs }) => modifiedMs),
  kinds: memories.map(({ standing, type }) => `${standing[0]}${type?.[0] ?? '-'}`).join(''),
  more: memories.flatMap(({ triggerWords, supersedes, expires }, slot) =>
    triggerWords.length === 0 && supersedes.length === 0 && expires === null
      ? []
      : [[slot, triggerWords, supersedes, expires] as const],
  ),
})

/** What the hash has vouched for is as it was written. */
function memoriesIn({ files, marks, shas, bytes, modified, kinds, more }: Columns): readonly StoredMemory[] {
  if (bytes.length === 0) return []
  const marked = marks.split('\n')
  const rare = new Map(more.map((one) => [one[0], one]))
  return files.split('\n').map((file, at) => {
    const [, triggerWords = none, supersedes = none, expires = null] = rare.get(at) ?? []
    return {
      file,
      mark: marked[at]!,
      sha256: shas.slice(at * shaChars, (at + 1) * shaChars),
      bytes: bytes[at]!,
      modifiedMs: modified[at]!,
      standing: standings[kinds[2 * at]!] ?? 'held',
      type: types[kinds[2 * at + 1]!] ?? null,
      triggerWords,
      supersedes,
      expires,
    }
  })
}
const none: readonly never[] = []

const bytesOf = (numbers: Uint32Array | Float32Array): Buffer =>
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)

export type Vectors = ReadonlyMap<string, Float32Array>

/** Whose they are: another encoder or ledger makes them worthless. */
export interface VectorsOrigin {
  readonly ledger: string
  readonly encoder: string
}

export const storedVectorsFile = (state: string): string => join(state, 'recall-vectors')

const shaBytes = 32
const top = 127

export function encodeVectors(vectors: Vectors, { ledger, encoder }: VectorsOrigin): Buffer {
  const length = vectors.values().next().value?.length ?? 0
  const all = [...vectors].filter(([, vector]) => vector.length === length)
  const shas = all.map(([sha]) => Buffer.from(sha, 'hex'))
  const rows = all.map(([, vector]) => Buffer.from(scaled(vector).buffer))
  const payload = Buffer.concat([...shas, ...rows])
  const about = { v: version, ledger, encoder, count: all.length, length }
  return framed({ ...about, sha: hashOf(about, payload) }, payload)
}

/** None where the file is damaged or was made with something else. */
export function decodeVectors(bytes: Buffer, origin: VectorsOrigin): Map<string, Float32Array> {
  const { header: found, payload } = unframed(bytes)
  const header = found as (About & { readonly sha: string }) | null
  const vectors = new Map<string, Float32Array>()
  if (header?.ledger !== origin.ledger || header.encoder !== origin.encoder) return vectors
  const { v, ledger, encoder, count, length, sha: named } = header
  const isWhole = Number.isSafeInteger(count) && Number.isSafeInteger(length)
  if (!isWhole || named !== hashOf({ v, ledger, encoder, count, length }, payload)) return vectors
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

/** How near two vectors are does not depend on their lengths. */
function scaled(vector: Float32Array): Int8Array {
  const highest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Int8Array.from(vector, (value) => (highest === 0 ? 0 : Math.round((value / highest) * top)))
}

const framed = (header: object, payload: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload])

/** The line and the bytes behind it; no header where it is not of this version. */
function unframed(bytes: Buffer): { readonly header: object | null; readonly payload: Buffer } {
  const end = bytes.indexOf('\n')
  const header = objectIn(bytes.subarray(0, Math.max(0, end)).toString('utf8'))
  return { header: header?.['v'] === version ? header : null, payload: bytes.subarray(end + 1) }
}

const hashOf = (about: unknown, payload: Uint8Array): string =>
  createHash('sha256').update(JSON.stringify(about)).update(payload).digest('hex')
