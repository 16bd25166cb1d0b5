// Tokens by which programs outside speak for a tenant. Only their hashes are kept: who reads the table can use none of them.
import { createHash, randomBytes } from 'node:crypto'
import type { Result } from '../disk/failure.ts'
import { callsOf, type Connection } from './connection.ts'

const tokenBytes = 24

/** A new token, shown once. Only the owner of the tables may make one. */
export async function makeToken(
  connection: Connection,
  tenant: string,
  label: string,
): Promise<Result<{ readonly token: string }>> {
  const token = `pal_${randomBytes(tokenBytes).toString('base64url')}`
  const made = await callsOf(connection, tenant).done('add_token', [hashOf(token), label])
  return made.ok ? { ok: true, token } : made
}

/** Those of this label are known no longer. */
export async function removeTokens(
  connection: Connection,
  tenant: string,
  label: string,
): Promise<Result<{ readonly count: number }>> {
  const done = await callsOf(connection, tenant).value('remove_tokens', [label])
  return done.ok ? { ok: true, count: Number(done.value) } : done
}

/** Null where nobody knows it. */
export async function tenantOf(
  connection: Connection,
  token: string,
): Promise<Result<{ readonly tenant: string | null }>> {
  const found = await connection.query('select pal.tenant_of($1) as tenant', [hashOf(token)])
  return found.ok ? { ok: true, tenant: found.rows[0]!['tenant'] as string | null } : found
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
