import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Overflow } from './model.ts'
import { overflowOf, silentOverflow } from './overflow.ts'

const none = { promptTokens: null, outputTokens: null, limitTokens: null, perMinute: false, bytes: false }
const body = (message: string, type = 'invalid_request_error'): string =>
  JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_011' })
const openAi = (message: string, code: string | null, type = 'invalid_request_error'): string =>
  JSON.stringify({ error: { message, type, param: 'messages', code } })
const tooLong = 'prompt is too long: 213462 tokens > 200000 maximum'

// Provider, status, text as it comes, and what must be understood.
const overflows: readonly (readonly [string, number | null, string, Partial<Overflow>])[] = [
  ['Anthropic, bare', 400, tooLong, { provider: 'anthropic', promptTokens: 213_462, limitTokens: 200_000 }],
  [
    'Anthropic, body',
    400,
    body(tooLong),
    { provider: 'anthropic', promptTokens: 213_462, limitTokens: 200_000 },
  ],
  [
    'Anthropic, input and output',
    400,
    body(
      'input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    ),
    { provider: 'anthropic', promptTokens: 188_059, outputTokens: 20_000, limitTokens: 200_000 },
  ],
  ['Bedrock', 400, '{"message":"Input is too long for requested model."}', { provider: 'bedrock' }],
  [
    'Bedrock, prefixed',
    400,
    `ValidationException: The model returned the following errors: ${tooLong}`,
    { provider: 'bedrock', promptTokens: 213_462, limitTokens: 200_000 },
  ],
  [
    'Vertex Claude, plain',
    400,
    body(tooLong).replace('req_011', 'req_vrtx_011'),
    { provider: 'vertex', promptTokens: 213_462, limitTokens: 200_000 },
  ],
  [
    'Vertex Claude, wrapped',
    400,
    JSON.stringify({
      error: {
        code: 400,
        message: body(tooLong).replace('req_011', 'req_vrtx_011'),
        status: 'INVALID_ARGUMENT',
      },
    }),
    { provider: 'vertex', promptTokens: 213_462, limitTokens: 200_000 },
  ],
  [
    'OpenAI Chat',
    400,
    openAi(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
      'context_length_exceeded',
    ),
    { provider: 'openai', promptTokens: 130_000, limitTokens: 128_000 },
  ],
  [
    'vLLM',
    400,
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
    { provider: 'openai', promptTokens: 4000, outputTokens: 1000, limitTokens: 4096 },
  ],
  [
    'OpenAI Responses',
    400,
    openAi(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'context_length_exceeded',
    ),
    { provider: 'openai' },
  ],
  [
    'OpenAI Responses, in the stream',
    null,
    '{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."}',
    { provider: 'openai' },
  ],
  ['OpenAI, code alone', 400, openAi('Bad request.', 'context_length_exceeded'), { provider: 'unknown' }],
  [
    'OpenAI, more than a minute allows',
    429,
    openAi(
      'Request too large for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.',
      'rate_limit_exceeded',
      'tokens',
    ),
    { provider: 'openai', promptTokens: 30_601, limitTokens: 30_000, perMinute: true },
  ],
  [
    'Gemini on Vertex',
    400,
    JSON.stringify({
      error: {
        code: 400,
        message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    }),
    { provider: 'google', promptTokens: 1_196_265, limitTokens: 1_048_576 },
  ],
  [
    'Gemini, AI Studio',
    400,
    'The input token count exceeds the maximum number of tokens allowed (1048576).',
    { provider: 'google', limitTokens: 1_048_576 },
  ],
  [
    'edge, too many bytes',
    413,
    '{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
    { provider: 'unknown', bytes: true },
  ],
  ['413 with no body', 413, '', { provider: 'unknown', bytes: true }],
  [
    '413 that names tokens',
    413,
    tooLong,
    { provider: 'anthropic', promptTokens: 213_462, limitTokens: 200_000 },
  ],
  ['z.ai', 400, 'Prompt exceeds max length', { provider: 'unknown' }],
  [
    'xAI',
    400,
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    { provider: 'xai', promptTokens: 537_812, limitTokens: 131_072 },
  ],
  [
    'Copilot',
    400,
    'prompt token count of 136000 exceeds the limit of 128000',
    { provider: 'unknown', promptTokens: 136_000, limitTokens: 128_000 },
  ],
  [
    'llama.cpp',
    400,
    'request (12345 tokens) exceeds the available context size (8192 tokens), try increasing it',
    { provider: 'llama.cpp', promptTokens: 12_345, limitTokens: 8192 },
  ],
  [
    'llama.cpp, older',
    400,
    'the request exceeds the available context size. try increasing the context size',
    { provider: 'llama.cpp' },
  ],
  [
    'LM Studio',
    400,
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    { provider: 'unknown' },
  ],
  [
    'OpenRouter',
    400,
    "This endpoint's maximum context length is 32,768 tokens. However, you requested about 40,021 tokens (40,021 of text input).",
    { provider: 'openai', promptTokens: 40_021, limitTokens: 32_768 },
  ],
  [
    'Moonshot',
    400,
    'Your request exceeded model token limit: 262144 (requested: 291351)',
    { provider: 'moonshot', promptTokens: 291_351, limitTokens: 262_144 },
  ],
  [
    'Mistral',
    400,
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    { provider: 'mistral', promptTokens: 40_000, limitTokens: 32_768 },
  ],
  ['gateway', 400, 'Input tokens exceed the model: context window exceeded', { provider: 'unknown' }],
  ['gateway, counted', 400, "Request exceeds the model's maximum context length", { provider: 'unknown' }],
  ['Groq', 400, 'Please reduce the length of the messages or completion.', { provider: 'unknown' }],
  ['small hosts', 400, 'too many tokens in the request', { provider: 'unknown' }],
  ['small hosts, limit', 400, 'Token limit exceeded', { provider: 'unknown' }],
]

const others: readonly (readonly [string, number | null, string])[] = [
  ['Bedrock throttle', 429, 'ThrottlingException: Too many tokens, please wait before trying again.'],
  [
    'Bedrock throttle without a status',
    null,
    'ThrottlingException: Too many tokens, please wait before trying again.',
  ],
  ['Throttle with a prefix', null, 'Throttling error: Too many tokens'],
  ['Unavailable with a prefix', null, 'Service unavailable: prompt is too long to be served now'],
  [
    'Anthropic throttle',
    429,
    body(
      "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: x, model: claude-opus-4-6). Please reduce the prompt length or the maximum tokens requested, or try again later.",
      'rate_limit_error',
    ),
  ],
  [
    'OpenAI throttle',
    429,
    openAi(
      'Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.',
      'rate_limit_exceeded',
      'tokens',
    ),
  ],
  [
    'OpenAI, below the limit a minute',
    429,
    'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 3000.',
  ],
  [
    'Gemini quota',
    429,
    'You exceeded your current quota. Quota exceeded for metric: input_token_count, limit: 250000',
  ],
  ['daily limit', 400, 'Daily token limit exceeded'],
  ['a throttle in an overflow’s words', 429, 'Too many tokens'],
  ['too many requests', null, 'Too many requests: too many tokens'],
  ['overloaded', 529, body('Overloaded', 'overloaded_error')],
  [
    'output above the most',
    400,
    body(
      'max_tokens: 999999 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5',
    ),
  ],
  [
    'image too large',
    400,
    body(
      'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes',
    ),
  ],
  ['name too long', 400, body('tools.0.name: String should have at most 64 characters')],
  [
    'orphan',
    400,
    body('messages.15: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01X.'),
  ],
  ['Gemini signature', 400, 'Function call is missing a thought_signature in functionCall parts.'],
  [
    'bound reasoning',
    400,
    body(
      'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.',
    ),
  ],
  ['thinking budget', 400, body('`max_tokens` must be greater than `thinking.budget_tokens`')],
  ['file count', 400, 'The number of files exceeds the limit of 20'],
  ['nothing', 500, ''],
  ['proxy page', 502, '<html><body>Bad gateway</body></html>'],
  ['broken JSON', 400, '{"error":{"message":'],
]

describe('overflow', () => {
  it.each(overflows)('[D1] %s is an overflow, with its numbers', (_name, status, text, expected) => {
    expect(overflowOf({ status, text })).toEqual({ ...none, ...expected })
  })

  it.each(others)('[D2] %s is none', (_name, status, text) => {
    expect(overflowOf({ status, text })).toBeNull()
  })

  it('[D1] any numbers are read, wrapped or not, with or without separators', () => {
    const amount = fc.integer({ min: 1, max: 9_999_999 })
    fc.assert(
      fc.property(amount, amount, fc.boolean(), fc.boolean(), (prompt, limit, wrapped, separated) => {
        const show = (value: number): string => (separated ? value.toLocaleString('en-US') : String(value))
        const message = body(`prompt is too long: ${show(prompt)} tokens > ${show(limit)} maximum`)
        const text = wrapped ? JSON.stringify({ error: { code: 400, message } }) : message
        expect(overflowOf({ status: 400, text })).toMatchObject({ promptTokens: prompt, limitTokens: limit })
      }),
    )
  })

  it('[D2] no text is so strange that reading it fails, and no 429 is an overflow unless it names a minute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.json(), (text, json) => {
        expect(overflowOf({ status: 429, text })).toBeNull()
        expect(overflowOf({ status: 429, text: json })).toBeNull()
      }),
    )
  })
})

describe('silent overflow', () => {
  const usage = { input: 100, cacheRead: 50_000, cacheWrite: 900, output: 200 }
  const fine = { usage, stop: 'end_turn', estimate: 52_000, window: 200_000 }

  it('[D3] an ordinary answer is none', () => {
    expect(silentOverflow(fine)).toBeNull()
    expect(silentOverflow({ ...fine, stop: 'max_tokens' })).toBeNull()
  })

  it('[D3] a reported prompt far below the estimate was cut', () => {
    expect(silentOverflow({ ...fine, estimate: 120_000 })).toEqual({
      why: 'truncated',
      promptTokens: 51_000,
      limitTokens: 200_000,
    })
    const cached = { ...usage, input: 10, cacheRead: 0, cacheWrite: 100_000 }
    expect(silentOverflow({ ...fine, usage: cached, estimate: 120_000 })).toBeNull()
  })

  it('[D3] a small estimate and a server that reports no usage prove nothing', () => {
    const small = { input: 200, cacheRead: 0, cacheWrite: 0, output: 5 }
    expect(silentOverflow({ ...fine, usage: small, estimate: 1500 })).toBeNull()
    const silent = { input: 0, cacheRead: 0, cacheWrite: 0, output: 5 }
    expect(silentOverflow({ ...fine, usage: silent })).toBeNull()
  })

  it('[D3] more than the window, the window filled, and no room for an answer', () => {
    expect(silentOverflow({ ...fine, window: 51_100 })?.why).toBe('over-window')
    expect(silentOverflow({ ...fine, stop: 'model_context_window_exceeded' })?.why).toBe('filled')
    const empty = { ...usage, output: 0 }
    expect(silentOverflow({ ...fine, usage: empty, stop: 'length' })?.why).toBe('no-room')
    expect(silentOverflow({ ...fine, usage: empty, stop: 'max_tokens' })?.why).toBe('no-room')
    expect(silentOverflow({ ...fine, usage: empty })).toBeNull()
  })
})
