import { describe, expect, it } from 'vitest'
import { checkChatRequest, checkResponsesRequest } from '../../index.ts'

const user = { role: 'user', content: 'go' }
const called = (...ids: readonly string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })),
})
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' })
const chat = (messages: readonly unknown[], more: object = {}) => ({ model: 'gpt-6-sol', messages, ...more })
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })
const respond = (input: unknown, more: object = {}) => ({ model: 'gpt-6-sol', input, ...more })
const call = (id: string, more: object = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'read',
  arguments: '{}',
  ...more,
})
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'x' })

type Row = readonly [body: unknown, message: string, param?: string | null, code?: string | null]

const chatRows: readonly Row[] = [
  [{}, 'you must provide a model parameter', null, null],
  [
    { model: 'gpt-6-sol' },
    "Missing required parameter: 'messages'.",
    'messages',
    'missing_required_parameter',
  ],
  [
    chat([]),
    "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    'messages',
    'empty_array',
  ],
  [
    chat([{ role: 'bot', content: 'x' }]),
    "Invalid value: 'bot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    'messages[0].role',
    'invalid_value',
  ],
  [
    chat([{ role: 'user', content: 5 }]),
    "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
    'messages[0].content',
    'invalid_type',
  ],
  [chat([user], { foo: 1 }), 'Unrecognized request argument supplied: foo', null, null],
  [
    chat([user], { n: 2 }),
    "Unsupported value: 'n' does not support 2 with this model. Only the default (1) value is supported.",
    'n',
    'unsupported_value',
  ],
  [
    chat([user], { temperature: 0.2 }),
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    'temperature',
    'unsupported_value',
  ],
  [
    chat([user], { max_tokens: 5 }),
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'max_tokens',
    'unsupported_parameter',
  ],
  [
    chat([user], { tool_choice: 'auto' }),
    "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
    'tool_choice',
    null,
  ],
  [
    chat([user], { tools: [tool('a b')] }),
    "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    'tools[0].function.name',
    'invalid_value',
  ],
  [
    chat([user], { tools: Array.from({ length: 129 }, (_, index) => tool(`t${index}`)) }),
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
    'tools',
    'array_above_max_length',
  ],
  [
    chat([user, called('c1', 'c2'), result('c1')]),
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: c2",
    'messages',
    null,
  ],
  [
    chat([user, called('c1'), user, result('c1')]),
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: c1",
    'messages.[2].role',
    null,
  ],
  [
    chat([user, called('c1'), result('c1'), user, result('c1')]),
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    'messages.[4].role',
    null,
  ],
  [
    chat([user, called('c1'), result('c2')]),
    "Invalid parameter: 'tool_call_id' of 'c2' not found in 'tool_calls' of previous message.",
    'messages.[2].tool_call_id',
    null,
  ],
  [
    chat([user, called('c1'), result('c1'), result('c1')]),
    "Duplicate value for 'tool_call_id' of 'c1' in message[3]",
    'messages.[3]',
    null,
  ],
  [
    chat([user, { role: 'assistant', content: null }]),
    "Invalid value for 'content': expected a string, got null.",
    'messages.[1].content',
    null,
  ],
  [
    chat([user, called('x'.repeat(41))]),
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
    'messages[1].tool_calls[0].id',
    'string_above_max_length',
  ],
  [
    chat([
      user,
      called('c1'),
      { ...result('c1'), content: [{ type: 'image_url', image_url: { url: 'u' } }] },
    ]),
    "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
    'messages.[2]',
    'invalid_value',
  ],
  [
    chat([user], { response_format: { type: 'json_object' } }),
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    'messages',
    null,
  ],
  [
    chat([user], { prompt_cache_options: { ttl: '12h' } }),
    "Invalid value: '12h'. Supported values are: '30m'.",
    'prompt_cache_options.ttl',
    'invalid_value',
  ],
  [
    chat([user], { model: 'gpt-5.5', prompt_cache_options: {} }),
    "Unsupported parameter: 'prompt_cache_options' is not supported with this model.",
    'prompt_cache_options',
    'unsupported_parameter',
  ],
  [
    chat([user], { model: 'gpt-9' }),
    'The model `gpt-9` does not exist or you do not have access to it.',
    null,
    'model_not_found',
  ],
]

const responsesRows: readonly Row[] = [
  [{ input: 'x' }, "Missing required parameter: 'model'.", 'model', 'missing_required_parameter'],
  [respond('x', { foo: 1 }), "Unknown parameter: 'foo'.", 'foo', 'unknown_parameter'],
  [
    respond('x', { max_output_tokens: 5 }),
    "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 5 instead.",
    'max_output_tokens',
    'integer_below_min_value',
  ],
  [
    respond([{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }]),
    "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    'input[0].content[0].type',
    'invalid_value',
  ],
  [
    respond([user, call('c1', { id: 'call_1' }), output('c1')]),
    "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.",
    'input[1].id',
    'invalid_value',
  ],
  [respond([user, call('c1')]), 'No tool output found for function call c1.', 'input', null],
  [
    respond([user, output('c1'), call('c1')]),
    'No tool call found for function call output with call_id c1.',
    'input',
    null,
  ],
  [
    respond([user, call('x'.repeat(65))]),
    "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    'input[1].call_id',
    'string_above_max_length',
  ],
  [
    respond([{ type: 'compaction_trigger' }, user]),
    "An item of type 'compaction_trigger' must be the last item of the input.",
    'input[0]',
    'invalid_value',
  ],
  [
    respond([user, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }]),
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    'input',
    null,
  ],
  [
    respond('x', { previous_response_id: 'resp_1' }),
    "Previous response with id 'resp_1' not found.",
    'previous_response_id',
    'previous_response_not_found',
  ],
  [
    respond('x', { include: ['everything'] }),
    "Invalid value: 'everything'. Supported values are: 'file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources', 'message.input_image.image_url', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs', 'reasoning.encrypted_content', and 'message.output_text.logprobs'.",
    'include[0]',
    'invalid_value',
  ],
]

describe('what OpenAI refuses, in its words', () => {
  for (const [body, message, param = null, code = null] of chatRows) {
    it(`[V82] chat: ${message.slice(0, 70)}`, () => {
      const error = checkChatRequest(body)
      expect(error?.message).toBe(message)
      expect(error?.body).toEqual({ error: { message, type: 'invalid_request_error', param, code } })
    })
  }
  for (const [body, message, param = null, code = null] of responsesRows) {
    it(`[V82] responses: ${message.slice(0, 70)}`, () => {
      expect(checkResponsesRequest(body)?.body).toEqual({
        error: { message, type: 'invalid_request_error', param, code },
      })
    })
  }

  it('[V82] what stands beside each of these is taken', () => {
    expect(checkChatRequest(chat([user, called('c1', 'c2'), result('c2'), result('c1'), user]))).toBeNull()
    expect(checkChatRequest(chat([user, called('c1'), { ...result('c1'), name: 'read' }]))).toBeNull()
    expect(checkChatRequest(chat([user], { temperature: 0.2, reasoning_effort: 'none' }))).toBeNull()
    expect(checkChatRequest(chat([user], { model: 'gpt-4o', temperature: 0.2, max_tokens: 5 }))).toBeNull()
    expect(checkChatRequest(chat([user, { role: 'assistant', content: '' }, user]))).toBeNull()
    expect(checkResponsesRequest(respond([user, call('c1'), user, output('c1')]))).toBeNull()
    expect(
      checkResponsesRequest(respond([user, { type: 'configuration_update', reasoning: { effort: 'low' } }])),
    ).toBeNull()
    expect(
      checkResponsesRequest(respond([user], { truncation: 'auto', prompt_cache_options: { ttl: '12h' } })),
    ).toBeNull()
  })
})
