// Signatures of reasoning blocks. A seal says which model made the block, over which visible text, after which prefix
// and after which other reasoning block. Format: base64 of a JSON array whose last item is an HMAC over the others;
// the HMAC is also the block's name in the chain. Readable without the secret, so that hidden reasoning can be counted.
import { createHmac, hash } from 'node:crypto'
import { stringOf } from './blocks.ts'
import { jsonIn } from './shape.ts'
import type { WireBlock } from '../../model/wire.ts'

export interface Seal {
  readonly model: string
  /** Of the text as the client sees it, which is empty where the response leaves it out. */
  readonly textDigest: string
  readonly prefix: string
  readonly previous: string | null
  /** Tokens of the reasoning itself, shown or not. */
  readonly tokens: number
}

export interface OpenedSeal extends Seal {
  readonly id: string
}

const VERSION = 'palimpsest-seal-1'

export function sealed(secret: string, seal: Seal): { readonly signature: string; readonly id: string } {
  const fields = [VERSION, seal.model, seal.textDigest, seal.prefix, seal.previous, seal.tokens]
  const id = hmacOf(secret, fields)
  return { signature: Buffer.from(JSON.stringify([...fields, id])).toString('base64'), id }
}

/** Null for anything this secret did not sign, altered or foreign. */
export function openSeal(secret: string, signature: string): OpenedSeal | null {
  const fields = parts(signature)
  if (fields === null) return null
  const [, model, textDigest, prefix, previous, tokens, id] = fields
  if (id !== hmacOf(secret, fields.slice(0, -1))) return null
  return {
    model: stringOf(model),
    textDigest: stringOf(textDigest),
    prefix: stringOf(prefix),
    previous: typeof previous === 'string' ? previous : null,
    tokens: Number(tokens),
    id: stringOf(id),
  }
}

/** What a block weighs by its own word; null where the signature is not ours. */
export function sealedTokens(block: WireBlock): number | null {
  const fields = parts(signatureOf(block))
  return fields === null ? null : Number(fields[5])
}

export function signatureOf(block: WireBlock): string {
  return stringOf(block.type === 'thinking' ? block['signature'] : block['data'])
}

export function visibleDigest(block: WireBlock): string {
  return hash('sha1', stringOf(block['thinking']))
}

function parts(signature: string): readonly unknown[] | null {
  const value = jsonIn(Buffer.from(signature, 'base64').toString('utf8'))
  return Array.isArray(value) && value.length === 7 && value[0] === VERSION ? value : null
}

export function hmacOf(secret: string, fields: readonly unknown[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(fields)).digest('hex')
}
