// The index as bytes: sixteen for each entry, in columns, so that a hundred thousand entries are a megabyte and a half and
// a browser reads them without making an object for each. Little endian, whatever the machine.
//   "PIX1" · length of the header · header as JSON, filled up to four · bytes · delta · tokens · label · kind · flags
import { jsonIn } from '../transcript/json.ts'
import type { EntryFlags, IndexChunk } from './protocol.ts'

export const entryFlags: EntryFlags = {
  visible: 1,
  stubbed: 2,
  summarised: 4,
  isError: 8,
  spilled: 16,
  pinned: 32,
  onHold: 64,
  rewound: 128,
}
export const missingKind = 255
export const noLabel = 65_535

/** Of so many that rise, the first that is not below what is looked for. */
export function firstFrom(length: number, isBelow: (at: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}

const magic = 0x31_58_49_50
const frameBytes = 8
const bytesPerEntry = 16

type Header = Pick<IndexChunk, 'from' | 'to' | 'at' | 'head' | 'before' | 'kinds' | 'labels'>

export function encodeChunk(chunk: IndexChunk): Uint8Array {
  const { from, to, at, head, before, kinds, labels } = chunk
  const header: Header = { from, to, at, head, before, kinds, labels }
  const text = new TextEncoder().encode(JSON.stringify(header))
  const padded = Math.ceil(text.length / 4) * 4
  const count = chunk.kind.length
  const bytes = new Uint8Array(frameBytes + padded + count * bytesPerEntry).fill(0x20, frameBytes)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, magic, true)
  view.setUint32(4, padded, true)
  bytes.set(text, frameBytes)
  let offset = frameBytes + padded
  for (let row = 0; row < count; row++) {
    view.setUint32(offset + row * 4, chunk.bytes[row]!, true)
    view.setInt32(offset + (count + row) * 4, chunk.delta[row]!, true)
    view.setUint32(offset + (2 * count + row) * 4, chunk.tokens[row]!, true)
    view.setUint16(offset + 12 * count + row * 2, chunk.label[row]!, true)
  }
  offset += 14 * count
  bytes.set(chunk.kind, offset)
  bytes.set(chunk.flags, offset + count)
  return bytes
}

/** Null where the bytes are no chunk. */
export function decodeChunk(bytes: Uint8Array): IndexChunk | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < frameBytes || view.getUint32(0, true) !== magic) return null
  const padded = view.getUint32(4, true)
  const text = new TextDecoder().decode(bytes.subarray(frameBytes, frameBytes + padded))
  const header = jsonIn(text) as Header | undefined
  const offset = frameBytes + padded
  const count = (bytes.length - offset) / bytesPerEntry
  if (header === undefined || !Number.isInteger(count) || count < 0) return null
  const column = <T>(
    make: (count: number) => T & { [row: number]: number },
    read: (row: number) => number,
  ) => {
    const values = make(count)
    for (let row = 0; row < count; row++) values[row] = read(row)
    return values
  }
  return {
    ...header,
    bytes: column(
      (n) => new Uint32Array(n),
      (row) => view.getUint32(offset + row * 4, true),
    ),
    delta: column(
      (n) => new Int32Array(n),
      (row) => view.getInt32(offset + (count + row) * 4, true),
    ),
    tokens: column(
      (n) => new Uint32Array(n),
      (row) => view.getUint32(offset + (2 * count + row) * 4, true),
    ),
    label: column(
      (n) => new Uint16Array(n),
      (row) => view.getUint16(offset + 12 * count + row * 2, true),
    ),
    kind: bytes.slice(offset + 14 * count, offset + 15 * count),
    flags: bytes.slice(offset + 15 * count),
  }
}
