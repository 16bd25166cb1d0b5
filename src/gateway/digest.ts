// What a server has of its own: the hash by which a gateway names beginnings (nobody who sends through it can make two that
// are named alike), and a search of bytes.
import { hash } from 'node:crypto'
import type { Digest } from '../fit/chain.ts'
import type { FindWord } from '../fit/layouts.ts'

/** 128 bits, as text. */
const short = 22

export const sha256: Digest = (value) => hash('sha256', value, 'base64url').slice(0, short)

export const findBytes: FindWord = (bytes, word) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const places: number[] = []
  for (let at = buffer.indexOf(word); at >= 0; at = buffer.indexOf(word, at + 1)) places.push(at)
  return places
}
