// Who sends, and what the client says the conversation is called. The credential is never kept: a salted hash of it is the
// tenant, and no lookup crosses that. A label is a claim, used to group and never believed over the content.
import { objectIn } from '../transcript/json.ts'
import { hash } from 'node:crypto'
import { isRecord } from '../transcript/content.ts'
import { parameter, type ForeignRequest } from '../fit/layouts.ts'

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
