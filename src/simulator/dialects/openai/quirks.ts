// Servers that speak like OpenAI and where each differs: which base paths it has, what it refuses, what it wants back, where it
// puts its usage. One row a server; texts are those its users recorded. Reached below `/<server>/…`, or as the server's default.

export type ServerName =
  | 'openai'
  | 'openrouter'
  | 'deepseek'
  | 'groq'
  | 'ollama'
  | 'vllm'
  | 'lmstudio'
  | 'azure'
  | 'litellm'

export interface Quirks {
  readonly server: ServerName
  /** Paths in front of `/chat/completions`. */
  readonly bases: readonly string[]
  readonly key: 'bearer' | 'api-key' | 'none'
  /** Takes any model name. */
  readonly anyModel: boolean
  readonly speaksResponses: boolean
  readonly developerRole: boolean
  /** Fields the server does not know: refused, or passed over. */
  readonly unknown: 'refused' | 'ignored'
  /** Under which name reasoning is told, if at all. */
  readonly reasoning: 'none' | 'reasoning_content' | 'reasoning'
  /** Reasoning that comes back on assistant messages. */
  readonly reasoningBack: 'required-with-calls' | 'taken' | 'refused'
  /** On a stream: in a chunk of its own when asked for, on the last content chunk, always in one of its own, or nowhere. */
  readonly streamUsage: 'asked' | 'last-chunk' | 'always' | 'never'
  readonly usageFields: 'openai' | 'deepseek' | 'plain'
  /** `tool_choice` may be an object. */
  readonly namedToolChoice: boolean
  /** A prompt over the window: refused, or its oldest part is dropped without a word. */
  readonly overflow: 'refused' | 'dropped'
  readonly errors: 'openai' | 'openrouter' | 'vllm' | 'litellm' | 'deepseek' | 'groq' | 'lmstudio'
  /** What a stream begins with before its first chunk. */
  readonly streamStart: 'nothing' | 'comment' | 'filter-chunk'
}

const openai: Quirks = {
  server: 'openai',
  bases: ['/v1'],
  key: 'bearer',
  anyModel: false,
  speaksResponses: true,
  developerRole: true,
  unknown: 'refused',
  reasoning: 'none',
  reasoningBack: 'refused',
  streamUsage: 'asked',
  usageFields: 'openai',
  namedToolChoice: true,
  overflow: 'refused',
  errors: 'openai',
  streamStart: 'nothing',
}

const local: Quirks = {
  ...openai,
  key: 'none',
  anyModel: true,
  unknown: 'ignored',
  reasoningBack: 'taken',
  usageFields: 'plain',
}

/** How each server differs. */
export const serverQuirks: Readonly<Record<ServerName, Quirks>> = {
  openai,
  openrouter: {
    ...openai,
    server: 'openrouter',
    bases: ['/api/v1', '/v1'],
    anyModel: true,
    unknown: 'ignored',
    reasoning: 'reasoning',
    reasoningBack: 'taken',
    streamUsage: 'always',
    errors: 'openrouter',
    streamStart: 'comment',
  },
  deepseek: {
    ...openai,
    server: 'deepseek',
    bases: ['', '/v1'],
    anyModel: true,
    speaksResponses: false,
    developerRole: false,
    unknown: 'ignored',
    reasoning: 'reasoning_content',
    reasoningBack: 'required-with-calls',
    streamUsage: 'last-chunk',
    usageFields: 'deepseek',
    errors: 'deepseek',
  },
  groq: {
    ...openai,
    server: 'groq',
    bases: ['/openai/v1', '/v1'],
    anyModel: true,
    reasoning: 'reasoning',
    reasoningBack: 'refused',
    usageFields: 'openai',
    errors: 'groq',
  },
  ollama: { ...local, server: 'ollama', reasoning: 'reasoning', overflow: 'dropped' },
  vllm: { ...local, server: 'vllm', reasoning: 'reasoning_content', errors: 'vllm' },
  lmstudio: {
    ...local,
    server: 'lmstudio',
    reasoning: 'reasoning_content',
    namedToolChoice: false,
    errors: 'lmstudio',
  },
  azure: {
    ...openai,
    server: 'azure',
    bases: ['/openai/v1', '/openai/deployments/{model}'],
    key: 'api-key',
    streamStart: 'filter-chunk',
  },
  litellm: {
    ...openai,
    server: 'litellm',
    bases: ['', '/v1'],
    anyModel: true,
    unknown: 'ignored',
    reasoning: 'reasoning_content',
    reasoningBack: 'taken',
    errors: 'litellm',
  },
}

export function isServerName(value: string): value is ServerName {
  return Object.hasOwn(serverQuirks, value)
}
