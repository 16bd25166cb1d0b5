// Content only its maker reads: encrypted reasoning, compactions, thought signatures. A seal says which model made it for which
// tenant and what it holds. It is signed, not encrypted: the simulator has nothing to hide, and a test may look inside.
import { createHmac } from 'node:crypto'
import { hmacOf } from '../rules/seal.ts'
import { jsonIn } from '../rules/shape.ts'

export interface SealedContent {
  readonly kind: 'reasoning' | 'compaction' | 'thought'
  readonly model: string
  /** Null where the maker does not bind to a tenant. */
  readonly tenant: string | null
  readonly tokens: number
  readonly text: string
}

const VERSION = 'palimpsest-seal-2'
const PREFIX = 'gAAAAA'

export function sealContent(secret: string, content: SealedContent): string {
  const fields = [VERSION, content.kind, content.model, content.tenant, content.tokens, content.text]
  const value = Buffer.from(JSON.stringify([...fields, hmacOf(secret, fields)])).toString('base64')
  return `${PREFIX}${value}`
}

/** Null for anything this secret did not seal. */
export function openContent(secret: string, value: string): SealedContent | null {
  if (!value.startsWith(PREFIX)) return null
  const fields = jsonIn(Buffer.from(value.slice(PREFIX.length), 'base64').toString('utf8'))
  if (!Array.isArray(fields) || fields.length !== 7 || fields[0] !== VERSION) return null
  if (fields[6] !== hmacOf(secret, fields.slice(0, -1))) return null
  const [, kind, model, tenant, tokens, text] = fields as [
    string,
    SealedContent['kind'],
    string,
    string | null,
    number,
    string,
  ]
  return { kind, model, tenant, tokens, text }
}

/** A tenant by its credential, which is not kept. */
export function tenantOf(secret: string, credential: string): string {
  return createHmac('sha256', secret).update(`tenant|${credential}`).digest('hex').slice(0, 16)
}
