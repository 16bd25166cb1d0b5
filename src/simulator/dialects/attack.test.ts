import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkChatRequest, checkGeminiRequest, checkResponsesRequest } from '../index.ts'

const words = fc.constantFrom(
  'user',
  'assistant',
  'system',
  'developer',
  'tool',
  'model',
  'function',
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'compaction',
  'compaction_trigger',
  'item_reference',
  'additional_tools',
  'text',
  'image_url',
  'input_text',
  'output_text',
  'call_1',
  'rs_1',
  'fc_1',
  'msg_1',
  'gpt-6-sol',
  '',
  'x',
)
const keys = fc.constantFrom(
  'model',
  'messages',
  'input',
  'contents',
  'role',
  'content',
  'type',
  'tool_calls',
  'tool_call_id',
  'id',
  'call_id',
  'name',
  'arguments',
  'output',
  'parts',
  'text',
  'functionCall',
  'functionResponse',
  'function_call',
  'args',
  'response',
  'tools',
  'function',
  'parameters',
  'summary',
  'encrypted_content',
  'thoughtSignature',
  'systemInstruction',
  'generationConfig',
  'tool_choice',
  'stream_options',
  'reasoning',
  'previous_response_id',
  'functionDeclarations',
  'item',
  'custom',
  '__proto__',
  'constructor',
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(words, fc.constant(null), fc.boolean(), fc.integer(), fc.double(), fc.string()),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 5 }),
  ),
}))

const tools = [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }]
const calls = [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{}' } }]
const good = {
  chat: {
    model: 'gpt-6-sol',
    tools,
    messages: [
      { role: 'system', content: 'stay' },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'call_1', content: 'x' },
    ],
  },
  responses: {
    model: 'gpt-6-sol',
    store: false,
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'x' },
    ],
  },
  gemini: {
    systemInstruction: { parts: [{ text: 'stay' }] },
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'read', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'read', response: { output: 'x' } } }] },
    ],
  },
}

/** The same with one thing put in another's place, or taken away. */
function changed(body: unknown, at: number, put: unknown): unknown {
  let seen = -1
  const walk = (each: unknown): unknown => {
    seen += 1
    if (seen === at) return put
    if (Array.isArray(each)) return each.map(walk)
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, walk(inner)]))
  }
  return walk(body)
}

describe('any value', () => {
  it('[V79] is judged without a throw on every wire, and so is any change of a good request', () => {
    expect(checkChatRequest(good.chat)).toBeNull()
    expect(checkResponsesRequest(good.responses)).toBeNull()
    expect(checkGeminiRequest(good.gemini, 'gemini-3.1-pro', { secret: 's' })).toBeNull()
    let refused = 0
    let taken = 0
    const judge = (body: unknown): void => {
      for (const error of [
        checkChatRequest(body, { secret: 's' }),
        checkChatRequest(body, { server: 'ollama' }),
        checkResponsesRequest(body, { secret: 's', tenant: 't' }),
        checkGeminiRequest(body, 'gemini-3.1-pro', { secret: 's' }),
      ]) {
        if (error === null) taken += 1
        else {
          refused += 1
          expect(error.status).toBeGreaterThanOrEqual(400)
          expect(error.status).toBeLessThan(500)
          expect(error.message.length).toBeGreaterThan(3)
        }
      }
    }
    fc.assert(
      fc.property(value, fc.nat(40), fc.boolean(), (any, at, isGone) => {
        judge(any)
        for (const body of Object.values(good)) judge(changed(body, at, isGone ? undefined : any))
      }),
      { numRuns: 1500 },
    )
    expect(refused).toBeGreaterThan(9000)
    expect(taken).toBeGreaterThan(500)
  })
})
