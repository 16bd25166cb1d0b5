// What a request says of itself: who sends it, what the client calls the conversation, and what its path asks for. The
// credential is never kept: a salted hash of it is the tenant, and no lookup crosses that. A label is a claim, used to group
// and never believed over the content.
import { objectIn } from '../transcript/json.ts'
import { hash, randomBytes, randomUUID } from 'node:crypto'
import { isRecord } from '../transcript/content.ts'
import { parameter, type ForeignRequest } from '../fit/layouts.ts'
import { join } from 'node:path'
import { attempt, makeFolders, type FileSystem, type Result } from '../disk/fs.ts'
import { replaceFile } from '../disk/replace.ts'
import { fileMode, folderMode } from './segments.ts'
import { readSmall } from '../disk/small-file.ts'
import type { WireName } from '../model/model.ts'

/** A header by its name in small letters. */
export type HeaderOf = (name: string) => string | undefined

const credentialHeaders = ['x-api-key', 'authorization', 'x-goog-api-key', 'api-key']

/** Everything of a request that says who pays for it. */
export const credentialOf = (header: HeaderOf, query: URLSearchParams): string =>
  [...credentialHeaders.map((name) => header(name) ?? ''), query.get('key') ?? ''].join('\n')

/** Names whoever holds the credential, for this installation alone. */
export const tenantOf = (credential: string, salt: string): string =>
  hash('sha256', `${salt}\n${credential}`, 'base64url').slice(0, 22)

/** Shorter ones are words of any text. */
const leastSecret = 8

/** Takes the credential of a request out of a text, wherever a client has it there: what is kept never holds it. */
export function hiderOf(header: HeaderOf, query: URLSearchParams): (text: string) => string {
  const secrets = [...credentialHeaders.map((name) => header(name)), query.get('key')].flatMap((value) => {
    const secret = value?.replace(/^(?:Bearer|Basic)\s+/iu, '').trim()
    return secret === undefined || secret.length < leastSecret ? [] : [secret]
  })
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[key removed]'), text)
}

const labelHeaders = ['session-id', 'thread-id', 'session_id', 'x-session-id', 'x-session-affinity']
const labelParameters = ['prompt_cache_key', 'conversation']
/** Printable ASCII and not too long; anything else is ignored. */
const labelPattern = /^[\x21-\x7e]{1,256}$/u

const usable = (label: unknown): string | undefined =>
  typeof label === 'string' && labelPattern.test(label) ? label : undefined

/** What the client calls this conversation, or the empty text. */
export function labelOf(header: HeaderOf, request: ForeignRequest): string {
  const own = usable(header('x-palimpsest-session'))
  if (own !== undefined) return own
  const claude = usable(header('x-claude-code-session-id'))
  if (claude !== undefined) return [claude, usable(header('x-claude-code-agent-id')) ?? ''].join('/')
  for (const name of labelHeaders) {
    const label = usable(header(name))
    if (label !== undefined) return label
  }
  for (const name of labelParameters) {
    const label = usable(parameter(request, name))
    if (label !== undefined) return label
  }
  return usable(sessionIn(parameter(request, 'metadata'))) ?? ''
}

function sessionIn(metadata: unknown): unknown {
  const user = isRecord(metadata) ? metadata['user_id'] : undefined
  return typeof user === 'string' ? objectIn(user)?.['session_id'] : undefined
}

const clients: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^claude-cli|claude-code/iu, 'claude-code'],
  [/opencode/iu, 'opencode'],
  [/^pi\b|pi-coding-agent/iu, 'pi'],
  [/codex/iu, 'codex'],
  [/gemini-?cli/iu, 'gemini-cli'],
  [/qwen/iu, 'qwen-code'],
  [/cline/iu, 'cline'],
]

/** The program that sends, as its user agent says; for figures alone. */
export function clientOf(header: HeaderOf): string {
  const agent = header('user-agent') ?? ''
  return clients.find(([pattern]) => pattern.test(agent))?.[1] ?? 'unknown'
}

/** Asked beside the conversation (a title, a probe): counted, never edited, and no conversation begins with it. */
export function isSideRequest(header: HeaderOf, request: ForeignRequest): boolean {
  const kind = header('x-claude-code-request-class')
  const most = parameter(request, 'max_tokens')
  return (
    kind === 'auxiliary' ||
    (!request.hasTools && request.messages <= 1) ||
    (typeof most === 'number' && most <= 1)
  )
}

const saltBytes = 32

/** The salt of this installation: with it a credential becomes the name of a tenant, and cannot be guessed back from that. */
export async function readOrMakeSalt(fs: FileSystem, folder: string): Promise<Result<{ salt: string }>> {
  const made = await attempt(`making ${folder}`, async () => ({
    done: await makeFolders(fs, folder, folderMode),
  }))
  if (!made.ok) return made
  const path = join(folder, 'salt')
  // Written once: of two gateways that start together the second reads what the first has made.
  const written = await replaceFile(fs, path, randomBytes(saltBytes), {
    mode: fileMode,
    unique: () => randomUUID(),
    existing: 'refuse',
  })
  if (!written.ok && written.failure.code !== 'exists') return written
  const read = await readSmall(fs, path, saltBytes)
  return read.ok ? { ok: true, salt: read.bytes.toString('base64url') } : read
}

/** What a path means: which wire it speaks and what is asked. Paths are the upstream's own; nothing is renamed. */
export type Route =
  | { readonly kind: 'answer' | 'count'; readonly wire: WireName }
  /** Anything else: forwarded as it is. */
  | { readonly kind: 'other'; readonly wire: WireName }
  | { readonly kind: 'hello' }
  | { readonly kind: 'status' }

const patterns: readonly (readonly [pattern: RegExp, kind: 'answer' | 'count', wire: WireName])[] = [
  [/\/messages\/count_tokens$/u, 'count', 'anthropic'],
  [/\/messages$/u, 'answer', 'anthropic'],
  [/\/chat\/completions$/u, 'answer', 'openai-chat'],
  [/\/responses\/input_tokens$/u, 'count', 'openai-responses'],
  [/\/responses$/u, 'answer', 'openai-responses'],
  [/:(?:streamGenerateContent|generateContent)$/u, 'answer', 'gemini'],
  [/:countTokens$/u, 'count', 'gemini'],
]

/** The vendor whose credential a request carries, where its path does not say whose it is; no key goes to another. */
function vendorOf(path: string, header: HeaderOf, hasKey: boolean): WireName {
  if (path.startsWith('/v1beta') || path.startsWith('/upload/v1beta')) return 'gemini'
  if (hasKey || header('x-goog-api-key') !== undefined) return 'gemini'
  if (path.startsWith('/api/') || path.startsWith('/v1/messages')) return 'anthropic'
  const isTheirs = ['anthropic-version', 'anthropic-beta', 'x-api-key'].some(
    (name) => header(name) !== undefined,
  )
  if (isTheirs || header('authorization') === undefined) return 'anthropic'
  return 'openai-responses'
}

export function routeOf(
  method: string,
  { pathname: path, hasKey }: { readonly pathname: string; readonly hasKey: boolean },
  header: HeaderOf,
): Route {
  if (path === '/palimpsest/status') return { kind: 'status' }
  if ((method === 'HEAD' || method === 'GET') && (path === '/' || path === '/api/hello'))
    return { kind: 'hello' }
  const found = method === 'POST' ? patterns.find(([pattern]) => pattern.test(path)) : undefined
  if (found !== undefined) return { kind: found[1], wire: found[2] }
  return { kind: 'other', wire: vendorOf(path, header, hasKey) }
}
