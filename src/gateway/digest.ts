// The hash by which a gateway names beginnings: nobody who sends through it can make two that are named alike.
import { hash } from 'node:crypto'
import type { Digest } from '../fit/chain.ts'

/** 128 bits, as text. */
const short = 22

export const sha256: Digest = (bytes) => hash('sha256', bytes, 'base64url').slice(0, short)
