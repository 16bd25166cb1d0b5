// Pieces of requests as the wire has them, right or wrong, for the tests of its rules.
export type Body = Record<string, unknown>

export const text = (words: string, more: Body = {}) => ({ type: 'text', text: words, ...more })
export const call = (id: string, name = 'read') => ({ type: 'tool_use', id, name, input: {} })
export const result = (id: string, more: Body = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...more,
})
export const user = (...content: unknown[]) => ({ role: 'user', content })
export const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
export const body = (messages: unknown[], more: Body = {}): Body => ({
  model: 'claude-opus-5',
  max_tokens: 1000,
  messages,
  ...more,
})
export const plain = (more: Body = {}): Body => body([user(text('hi'))], more)
export const old = { model: 'claude-sonnet-4-5' }
