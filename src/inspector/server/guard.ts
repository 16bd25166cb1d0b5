// Who may speak to the inspector. The Host must be the bound address on every route (a page that found another name for this
// machine has none), requests of other origins are refused, and whatever is more than the page itself needs the token.
import type { IncomingMessage } from 'node:http'
import { inUrl, isEqual, isLoopback, loopbackNames, single } from '../../gateway/access.ts'

export interface GuardRules {
  /** The address it listens on. */
  readonly host: string
  readonly port: number
  readonly token: string
  readonly isSecure: boolean
}

export type Judged =
  | { readonly ok: true; readonly url: URL; readonly method: 'GET' | 'POST' | 'HEAD' }
  | { readonly ok: false; readonly status: number; readonly problem: string; readonly allow?: string }

const longestUrl = 4096

export function judge(
  incoming: Pick<IncomingMessage, 'headers' | 'url' | 'method'>,
  rules: GuardRules,
): Judged {
  const { headers, method = 'GET' } = incoming
  const path = incoming.url ?? '/'
  if (!path.startsWith('/') || path.startsWith('//') || path.length > longestUrl)
    return no(400, 'only paths of this server are served')
  const host = single(headers.host) ?? ''
  if (!hostsOf(rules).includes(host.toLowerCase()))
    return no(403, 'requests must name this address as their host')
  const scheme = rules.isSecure ? 'https' : 'http'
  const origin = single(headers.origin)
  if (origin !== undefined && origin.toLowerCase() !== `${scheme}://${host.toLowerCase()}`)
    return no(403, 'requests from pages of another origin are refused')
  const site = single(headers['sec-fetch-site'])
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return no(403, 'requests from pages of another origin are refused')
  if (method !== 'GET' && method !== 'POST' && method !== 'HEAD')
    return { ...no(405, 'only GET and POST are served'), allow: 'GET, HEAD, POST' }
  if (!URL.canParse(path, 'http://inspector')) return no(400, 'this path cannot be read')
  const url = new URL(path, 'http://inspector')
  const isApi = url.pathname.startsWith('/api/')
  if (isApi && !hasToken(headers.authorization, rules.token)) return no(401, 'not allowed')
  if (method === 'POST') {
    if (!isApi) return { ...no(405, 'only GET is served here'), allow: 'GET, HEAD' }
    if (!/^application\/json(?:\s*;\s*charset=utf-8)?$/iu.test(headers['content-type'] ?? ''))
      return no(415, 'the body must be application/json')
  }
  return { ok: true, url, method }
}

const no = (status: number, problem: string): Judged & { readonly ok: false } => ({
  ok: false,
  status,
  problem,
})

/** Loopback under the names a person may type; anything else under the very address that was asked for. */
function hostsOf({ host, port }: GuardRules): readonly string[] {
  const names = isLoopback(host) ? loopbackNames : [inUrl(host)]
  return names.map((name) => `${name.toLowerCase()}:${port}`)
}

function hasToken(authorization: string | undefined, token: string): boolean {
  const [, given] = /^Bearer ([\w-]{1,200})$/u.exec(authorization ?? '') ?? []
  return given !== undefined && isEqual(given, token)
}

/** What every answer carries. */
export const answerHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}
