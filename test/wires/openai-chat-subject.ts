// Chat Completions under the contract of wires: recorded answers and refusals, judged by the simulator's dialect.
import { checkChatRequest } from '../../src/simulator/dialects/check.ts'
import type { RecordedAnswer, WireSubject } from '../../src/testing/wire-subject.ts'
import { openAiChatWire } from '../../src/wires/openai-chat/wire.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { damageList } from './damage.ts'

const usage = {
  prompt_tokens: 2006,
  completion_tokens: 30,
  total_tokens: 2036,
  prompt_tokens_details: { cached_tokens: 1920, cache_write_tokens: 64 },
}
const model = 'gpt-6-sol'
const chunk = (id: string, delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id,
  object: 'chat.completion.chunk',
  created: 1,
  model: `${model}-2026-09-01`,
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})
const last = (id: string) => ({ id, object: 'chat.completion.chunk', created: 1, model, choices: [], usage })
const whole = (id: string, message: object, finish_reason: string) => ({
  id,
  object: 'chat.completion',
  created: 1,
  model: `${model}-2026-09-01`,
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage,
})
const call = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

const answers: readonly RecordedAnswer[] = [
  {
    name: 'words, usage in a chunk of its own',
    events: [
      chunk('c1', { role: 'assistant', content: '' }),
      chunk('c1', { content: 'Hello ' }),
      chunk('c1', { content: 'there.' }),
      chunk('c1', {}, 'stop'),
      last('c1'),
      '[DONE]',
    ],
    whole: whole('c1', { content: 'Hello there.', refusal: null }, 'stop'),
    text: 'Hello there.',
    calls: [],
    ended: 'end',
    goesBack: [],
  },
  {
    name: 'two calls with spaces in their arguments, pieces between each other',
    events: [
      chunk('c2', { role: 'assistant', content: null }),
      chunk('c2', { tool_calls: [{ index: 0, ...call('call_a', 'Read', '') }] }),
      chunk('c2', { tool_calls: [{ index: 0, function: { arguments: '{ "path":' } }] }),
      chunk('c2', { tool_calls: [{ index: 1, ...call('call_b', 'Read', '{"path":') }] }),
      chunk('c2', { tool_calls: [{ index: 0, function: { arguments: ' "1" }' } }] }),
      chunk('c2', { tool_calls: [{ index: 1, function: { arguments: '"2"}' } }] }),
      chunk('c2', {}, 'tool_calls'),
      last('c2'),
      '[DONE]',
    ],
    whole: whole(
      'c2',
      {
        content: null,
        tool_calls: [call('call_a', 'Read', '{ "path": "1" }'), call('call_b', 'Read', '{"path":"2"}')],
      },
      'tool_calls',
    ),
    text: '',
    calls: [
      { name: 'Read', input: { path: '1' } },
      { name: 'Read', input: { path: '2' } },
    ],
    ended: 'tool',
    goesBack: [JSON.stringify('{ "path": "1" }')],
  },
  {
    name: 'usage on the last content chunk, and no last word',
    events: [
      chunk('c3', { role: 'assistant', reasoning_content: 'Hm.' }),
      chunk('c3', { content: 'and so' }),
      chunk('c3', {}, 'length', { usage }),
    ],
    whole: whole('c3', { content: 'and so', reasoning_content: 'Hm.' }, 'length'),
    text: 'and so',
    calls: [],
    ended: 'length',
    goesBack: [],
  },
]

const error = (message: string, code: string | null, type = 'invalid_request_error'): string =>
  JSON.stringify({ error: { message, type, param: null, code } })

/** Refusals that both APIs of OpenAI share. */
export const openAiRefusals: WireSubject['refusals'] = [
  {
    status: 400,
    text: error(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
      'context_length_exceeded',
    ),
    code: 'overflow',
    retry: false,
  },
  {
    status: 429,
    text: error('Rate limit reached for gpt-6-sol. Please try again in 2s.', 'rate_limit_exceeded', 'tokens'),
    code: 'rate-limited',
    retry: true,
  },
  {
    status: 429,
    text: error(
      'You exceeded your current quota, please check your plan.',
      'insufficient_quota',
      'insufficient_quota',
    ),
    code: 'unauthorized',
    retry: false,
  },
  {
    status: 500,
    text: error('The server had an error while processing your request.', null, 'server_error'),
    code: 'server',
    retry: true,
  },
  {
    status: null,
    text: error('The server is overloaded', 'server_is_overloaded', 'server_error'),
    code: 'overloaded',
    retry: true,
  },
  {
    status: 401,
    text: error('Incorrect API key provided.', 'invalid_api_key'),
    code: 'unauthorized',
    retry: false,
  },
  {
    status: 400,
    text: error(
      "Unsupported parameter: 'prompt_cache_key' is not supported with this model.",
      'unsupported_parameter',
    ),
    code: 'feature-refused',
    retry: false,
  },
  { status: 400, text: JSON.stringify({ error: 'Invalid tool_choice type' }), code: 'invalid', retry: false },
  { status: 413, text: error('Request body too large.', null), code: 'too-large', retry: false },
]

export const openAiChatSubject: WireSubject = {
  wire: openAiChatWire as Wire,
  model,
  otherModel: 'gpt-5.5',
  answers,
  refusals: [
    ...openAiRefusals,
    {
      status: 400,
      text: error('The `reasoning_content` in the thinking mode must be passed back to the API.', null),
      code: 'reasoning-invalid',
      retry: false,
    },
  ],
  judge: (body) => checkChatRequest(JSON.parse(body))?.message ?? null,
  damage: (request, pick) => damageList(request, 'messages', ['tool_calls', 'content'], pick),
}
