// Which path of another vendor a request means: the real paths, and below the name of a server that speaks like OpenAI its own.
import { isServerName, serverQuirks, type Quirks, type ServerName } from './openai/quirks.ts'

export type DialectRoute =
  | { readonly front: 'chat'; readonly quirks: Quirks; readonly deployment: string | null }
  | {
      readonly front: 'responses'
      readonly quirks: Quirks
      readonly action: 'create' | 'compact' | 'count' | 'retrieve' | 'delete' | 'items'
      readonly id: string | null
    }
  | { readonly front: 'models'; readonly quirks: Quirks; readonly id: string | null }
  | {
      readonly front: 'gemini'
      readonly action: 'generate' | 'stream' | 'count' | 'list' | 'model'
      readonly model: string
      /** Events, or one list that grows. */
      readonly asEvents: boolean
    }
  | { readonly front: 'unknown'; readonly quirks: Quirks }

export type Headers = Readonly<Record<string, string>>

/** Null where the path belongs to the Messages API or to nobody. */
export function dialectRoute(url: URL, headers: Headers, standard: ServerName): DialectRoute | null {
  const path = url.pathname
  const gemini = geminiRoute(url)
  if (gemini !== null) return gemini
  const [, first = '', rest = ''] = /^\/([\w-]+)(\/.*)?$/u.exec(path) ?? []
  if (isServerName(first)) {
    const quirks = serverQuirks[first]
    return openaiRoute(rest, quirks) ?? { front: 'unknown', quirks }
  }
  const route = openaiRoute(path, serverQuirks[standard])
  return route?.front === 'models' && isAnthropic(headers) ? null : route
}

/** Both vendors list their models under one path. */
function isAnthropic(headers: Headers): boolean {
  return headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined
}

function openaiRoute(path: string, quirks: Quirks): DialectRoute | null {
  for (const base of quirks.bases) {
    const pattern = base.replace('{model}', '([^/]+)')
    const match = new RegExp(`^${pattern}(/(?:chat/completions|responses|models)(?:/.*)?)$`, 'u').exec(path)
    if (match === null) continue
    const rest = match.at(-1) ?? ''
    const deployment = match.length > 2 ? (match[1] ?? null) : null
    if (rest === '/chat/completions') return { front: 'chat', quirks, deployment }
    if (rest.startsWith('/models')) {
      return {
        front: 'models',
        quirks,
        id: rest === '/models' ? null : decodeURIComponent(rest.slice('/models/'.length)),
      }
    }
    if (rest.startsWith('/responses') && quirks.speaksResponses) return responsesRoute(rest, quirks)
  }
  return null
}

function responsesRoute(rest: string, quirks: Quirks): DialectRoute | null {
  const [, , name, below] = rest.split('/')
  const front = 'responses'
  if (name === undefined) return { front, quirks, action: 'create', id: null }
  if (name === 'compact') return { front, quirks, action: 'compact', id: null }
  if (name === 'input_tokens') return { front, quirks, action: 'count', id: null }
  if (below === 'input_items') return { front, quirks, action: 'items', id: name }
  return below === undefined ? { front, quirks, action: 'retrieve', id: name } : null
}

const GEMINI_ACTIONS: Readonly<Record<string, 'generate' | 'stream' | 'count'>> = {
  generateContent: 'generate',
  streamGenerateContent: 'stream',
  countTokens: 'count',
}

function geminiRoute(url: URL): DialectRoute | null {
  const match = /^\/v1(beta)?\/models(?:\/([^/:]+)(?::(\w+))?)?$/u.exec(url.pathname)
  if (match === null) return null
  const [, beta, model = '', verb] = match
  const asEvents = url.searchParams.get('alt') === 'sse'
  if (verb === undefined) {
    if (beta === undefined) return null
    return { front: 'gemini', action: model === '' ? 'list' : 'model', model, asEvents }
  }
  const action = Object.hasOwn(GEMINI_ACTIONS, verb) ? GEMINI_ACTIONS[verb] : undefined
  return action === undefined ? null : { front: 'gemini', action, model: decodeURIComponent(model), asEvents }
}
