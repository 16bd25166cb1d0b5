// Servers that speak a wire, and where each differs from the maker of it: one row a server, no code. Read on 2026-11-15 from
// their own pages and from what their users report.
import type { WireName } from '../model/model.ts'
import type { Quirks } from './wire.ts'

export interface ServerRow {
  readonly name: string
  /** Wires it speaks, the better one first. */
  readonly wires: readonly WireName[]
  /** Null where everybody has an address of their own. */
  readonly baseUrl: string | null
  /** The variable that holds its key; null where it needs none. */
  readonly keyVariable: string | null
  readonly keyHeader: 'authorization' | 'api-key' | 'none'
  /** Parameters it wants in the address. */
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly quirks: Quirks
}

/** What most servers beside the maker share: nothing of its caches, and one name for the system prompt. */
const compatible: Quirks = { systemRole: 'system', cacheKey: false, breakpoints: false }
/** Run at home: older names, no report of what was cached. */
const local: Quirks = { ...compatible, maxTokensField: 'max_tokens', cacheUnreported: true }

const row = (
  name: string,
  wires: readonly WireName[],
  baseUrl: string | null,
  keyVariable: string | null,
  quirks: Quirks,
  more: Partial<ServerRow> = {},
): ServerRow => ({
  name,
  wires,
  baseUrl,
  keyVariable,
  keyHeader: keyVariable === null ? 'none' : 'authorization',
  quirks,
  ...more,
})

/** The servers we know, by name. */
export const knownServers: readonly ServerRow[] = [
  row('openai', ['openai-responses', 'openai-chat'], 'https://api.openai.com/v1', 'OPENAI_API_KEY', {}),
  row('google', ['gemini'], 'https://generativelanguage.googleapis.com', 'GEMINI_API_KEY', {}),
  row(
    'azure',
    ['openai-responses', 'openai-chat'],
    null,
    'AZURE_OPENAI_API_KEY',
    {},
    {
      keyHeader: 'api-key',
      query: { 'api-version': 'preview' },
    },
  ),
  // Passes marks on to Anthropic, and wants what models thought before a call back.
  row('openrouter', ['openai-chat'], 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', {
    ...compatible,
    rootCacheControl: true,
    reasoningBack: true,
  }),
  // "The reasoning_content in the thinking mode must be passed back to the API."
  row('deepseek', ['openai-chat'], 'https://api.deepseek.com', 'DEEPSEEK_API_KEY', {
    ...compatible,
    maxTokensField: 'max_tokens',
    reasoningBack: true,
    effort: false,
    images: false,
  }),
  // Refuses every field it does not know.
  row('groq', ['openai-chat'], 'https://api.groq.com/openai/v1', 'GROQ_API_KEY', { ...compatible }),
  // Drops the oldest part of a prompt that is too long, without a word.
  row('ollama', ['openai-chat'], 'http://localhost:11434/v1', null, { ...local }),
  row('vllm', ['openai-chat'], 'http://localhost:8000/v1', null, { ...local }),
  row('lmstudio', ['openai-chat'], 'http://localhost:1234/v1', null, { ...local }),
  row('litellm', ['openai-chat'], null, 'LITELLM_API_KEY', { ...compatible, rootCacheControl: true }),
]

/** The row of a server; null for one that nobody has described. */
export const serverNamed = (name: string): ServerRow | null =>
  knownServers.find((server) => server.name === name) ?? null
