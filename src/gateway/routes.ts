// What a path means: which wire it speaks and what is asked. Paths are the upstream's own; nothing is renamed.
import type { WireName } from '../model/model.ts'

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
function vendorOf(path: string, header: (name: string) => string | undefined, hasKey: boolean): WireName {
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
  header: (name: string) => string | undefined,
): Route {
  if (path === '/palimpsest/status') return { kind: 'status' }
  if ((method === 'HEAD' || method === 'GET') && (path === '/' || path === '/api/hello'))
    return { kind: 'hello' }
  const found = method === 'POST' ? patterns.find(([pattern]) => pattern.test(path)) : undefined
  if (found !== undefined) return { kind: found[1], wire: found[2] }
  return { kind: 'other', wire: vendorOf(path, header, hasKey) }
}
