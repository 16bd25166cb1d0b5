// Signatures of reasoning blocks. A seal says which model made the block, over which visible text, after which prefix
// and after which other reasoning block. Format: base64 of a JSON array whose last item is an HMAC over the others;
// the HMAC is also the block's name in the chain. Readable without the secret, so that hidden reasoning can be counted.
import { createHmac, hash } from 'node:crypto'
import type { WireBlock } from '../../model/wire.ts'
import { stringOf } from './blocks.ts'
import { jsonIn } from './shape.ts'

interface Seal {
  readonly model: string
  /** Of the text as the client sees it, which is empty where the response leaves it out. */
  readonly textDigest: string
  readonly prefix: string
  readonly previous: string | null
  /** Tokens of the reasoning itself, shown or not. */
  readonly tokens: number
}

interface OpenedSeal extends Seal {
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
  const fields = fieldsIn(signature, VERSION)
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
  const fields = fieldsIn(signatureOf(block), VERSION)
  return fields === null ? null : Number(fields[5])
}

export function signatureOf(block: WireBlock): string {
  return stringOf(block.type === 'thinking' ? block['signature'] : block['data'])
}

export function visibleDigest(block: WireBlock): string {
  return hash('sha1', stringOf(block['thinking']))
}

function fieldsIn(value: string, version: string): readonly unknown[] | null {
  const fields = jsonIn(Buffer.from(value, 'base64').toString('utf8'))
  return Array.isArray(fields) && fields.length === 7 && fields[0] === version ? fields : null
}

function hmacOf(secret: string, fields: readonly unknown[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(fields)).digest('hex')
}

/**
 * Content of other vendors that only its maker reads: encrypted reasoning, compactions, thought signatures. It is signed, not
 * encrypted: the simulator has nothing to hide, and a test may look inside.
 */
interface SealedContent {
  readonly kind: 'reasoning' | 'compaction' | 'thought'
  readonly model: string
  /** Null where the maker does not bind to a tenant. */
  readonly tenant: string | null
  readonly tokens: number
  readonly text: string
}

const CONTENT_VERSION = 'palimpsest-seal-2'
const PREFIX = 'gAAAAA'

export function sealContent(secret: string, content: SealedContent): string {
  const fields = [CONTENT_VERSION, content.kind, content.model, content.tenant, content.tokens, content.text]
  const value = Buffer.from(JSON.stringify([...fields, hmacOf(secret, fields)])).toString('base64')
  return `${PREFIX}${value}`
}

/** What such content says, genuine or not. */
export function readContent(value: string): SealedContent | null {
  const fields = value.startsWith(PREFIX) ? fieldsIn(value.slice(PREFIX.length), CONTENT_VERSION) : null
  if (fields === null) return null
  const [, kind, model, tenant, tokens, text] = fields
  return { kind, model, tenant, tokens, text } as SealedContent
}

/** Null for anything this secret did not seal. */
export function openContent(secret: string, value: string): SealedContent | null {
  const content = readContent(value)
  return content !== null && sealContent(secret, content) === value ? content : null
}

/** A tenant by its credential, which is not kept. */
export function tenantOf(secret: string, credential: string): string {
  return createHmac('sha256', secret).update(`tenant|${credential}`).digest('hex').slice(0, 16)
}
