import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { retryAfter, waitBefore } from '../../model/failure.ts'
import type { ModelFailure } from '../../model/model.ts'
import { defaults } from '../../settings/defaults.ts'
import { failureOf } from './failure.ts'

const headers =
  (all: Record<string, string> = {}) =>
  (name: string): string | null =>
    all[name] ?? null
const error = (type: string, message: string, details?: object): string =>
  JSON.stringify({ type: 'error', error: { type, message, details } })
const on = (status: number | null, text: string, all?: Record<string, string>) =>
  failureOf({ status, text, header: headers(all) }, 0)

describe('failures', () => {
  it('[D11] a model that the server does not have is said in words; its own text is only "model: NAME"', () => {
    const message = (text: string) => on(404, error('not_found_error', text)).failure.message
    expect(message('model: claude-x')).toBe('unknown model: claude-x')
    expect(message('The requested resource could not be found')).toBe(
      'The requested resource could not be found',
    )
  })

  it.each([
    [400, error('invalid_request_error', 'messages: at least one message is required'), 'invalid', false],
    [404, error('not_found_error', 'model: claude-x'), 'invalid', false],
    [401, error('authentication_error', 'invalid x-api-key'), 'unauthorized', false],
    [402, error('billing_error', 'no credit'), 'unauthorized', false],
    [403, error('permission_error', 'no'), 'unauthorized', false],
    [408, '', 'server', true],
    [409, error('conflict_error', 'busy'), 'server', true],
    [413, error('request_too_large', 'Request exceeds the maximum size'), 'too-large', false],
    [429, error('rate_limit_error', 'slow down'), 'rate-limited', true],
    [
      429,
      error('rate_limit_error', 'spent', { error_code: 'enforced_spend_limit_reached' }),
      'rate-limited',
      false,
    ],
    [500, error('api_error', 'Internal server error'), 'server', true],
    [502, '<html>Bad gateway</html>', 'server', true],
    [503, error('overloaded_error', 'Overloaded'), 'overloaded', true],
    [504, error('timeout_error', 'timed out'), 'server', true],
    [529, error('overloaded_error', 'Overloaded'), 'overloaded', true],
    [null, error('overloaded_error', 'Overloaded'), 'overloaded', true],
    [null, error('rate_limit_error', 'slow down'), 'rate-limited', true],
    [null, error('api_error', 'oops'), 'server', true],
    [null, error('invalid_request_error', 'no'), 'invalid', false],
    [null, 'gibberish', 'server', true],
    [400, error('invalid_request_error', 'prompt is too long: 3 tokens > 2 maximum'), 'overflow', false],
  ])('[D11] %s %s is %s, retried: %s', (status, text, code, retry) => {
    const verdict = on(status, text)
    expect(verdict.failure.code).toBe(code)
    expect(verdict.failure.status).toBe(status)
    expect(verdict.failure.message).not.toBe('')
    expect(verdict.retry).toBe(retry)
  })

  it.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block.',
    'messages.299.content.0: Invalid `signature` in `thinking` block',
    'messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).',
    'messages.51.content.0: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `text`.',
    'messages.1: The final block in an assistant message cannot be `thinking`.',
  ])('[D11] reasoning the server refuses has a code of its own: %s', (message) => {
    expect(on(400, error('invalid_request_error', message)).failure.code).toBe('reasoning-invalid')
  })

  it('[D8] the server may ask for a retry or forbid it, but an overflow is never sent again', () => {
    expect(on(500, '', { 'x-should-retry': 'false' }).retry).toBe(false)
    expect(on(400, error('invalid_request_error', 'odd'), { 'x-should-retry': 'true' }).retry).toBe(true)
    expect(on(400, 'prompt is too long: 3 tokens > 2 maximum', { 'x-should-retry': 'true' }).retry).toBe(
      false,
    )
    expect(on(413, '', { 'x-should-retry': 'true' }).retry).toBe(false)
  })

  it('[D8] the wait asked for is read in milliseconds, seconds and dates', () => {
    expect(retryAfter(headers({ 'retry-after-ms': '1500', 'retry-after': '9' }), 0)).toBe(1500)
    expect(retryAfter(headers({ 'retry-after': '2.5' }), 0)).toBe(2500)
    const date = 'Thu, 01 Jan 1970 00:01:00 GMT'
    expect(retryAfter(headers({ 'retry-after': date }), 20_000)).toBe(40_000)
    for (const bad of ['0', '-3', 'soon', date])
      expect(retryAfter(headers({ 'retry-after': bad }), 60_000)).toBeNull()
    expect(retryAfter(headers(), 0)).toBeNull()
    expect(on(429, '', { 'retry-after': '7' }).failure).toMatchObject({ retryAfterMs: 7000 })
  })

  it('[D8] waits double up to the most, are spread downwards only, and end', () => {
    const failure: ModelFailure = { code: 'server', message: 'x', status: 500 }
    const { maxRetries, retryBaseMs, retryMaxMs, retryJitterShare } = defaults.model
    expect(waitBefore(2, failure, () => 0, defaults.model)).toBe(retryBaseMs)
    expect(waitBefore(3, failure, () => 0, defaults.model)).toBe(retryBaseMs * 2)
    expect(waitBefore(maxRetries + 2, failure, () => 0, defaults.model)).toBeNull()
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 40 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (next, random) => {
          const plenty = { ...defaults.model, maxRetries: 100 }
          const wait = waitBefore(next, failure, () => random, plenty) ?? Number.NaN
          const full = waitBefore(next, failure, () => 0, plenty) ?? Number.NaN
          expect(full).toBeLessThanOrEqual(retryMaxMs)
          expect(wait).toBeLessThanOrEqual(full)
          expect(wait).toBeGreaterThanOrEqual(full * (1 - retryJitterShare))
        },
      ),
    )
  })

  it('[D8] what the server asks for is waited exactly, or not at all when it is too long', () => {
    const failure: ModelFailure = { code: 'rate-limited', message: 'x', status: 429, retryAfterMs: 1234 }
    expect(waitBefore(2, failure, () => 1, defaults.model)).toBe(1234)
    const long = { ...failure, retryAfterMs: defaults.model.retryAfterLimitMs + 1 }
    expect(waitBefore(2, long, () => 0, defaults.model)).toBeNull()
  })
})

describe('what a refusal says of media', () => {
  const says = (message: string, status = 400): ModelFailure =>
    on(status, error('invalid_request_error', message)).failure
  const at = 'messages.3.content.1.image.source.base64'

  it.each([
    ['messages: Too much media: 2 document pages + 101 images > 100', { count: 100 }],
    ['At most 1 image(s) may be provided in one request.', { count: 1 }],
    [
      'messages.0.content.0.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.',
      { count: 100 },
    ],
    [`${at}: image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes`, { imageBytes: 5_242_880 }],
    [`${at}.data: At least one of the image dimensions exceed max allowed size: 8000 pixels`, { side: 8000 }],
    [
      `${at}.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels`,
      { manySide: 2000 },
    ],
    ['Could not process image', {}],
    [`${at}.data: The image is 12 years old`, {}],
  ])('[E38] %s', (message, limits) => {
    expect(says(message)).toMatchObject({ code: 'media-refused' })
    expect(says(message)).toHaveProperty('media.limits', limits)
  })

  it.each([
    ['Request exceeds the maximum size of 6291456 bytes', 6_291_456],
    ['request body too large: limit is 1048576 bytes', 1_048_576],
    ['Request exceeds the maximum allowed number of bytes.', undefined],
    ['payload too large (413)', undefined],
  ])('[E38] for bytes: %s', (message, mostBytes) => {
    const failure = says(message, 413)
    expect(failure.code).toBe('too-large')
    expect('mostBytes' in failure ? failure.mostBytes : undefined).toBe(mostBytes)
  })
})
