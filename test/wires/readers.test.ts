// Streams as servers really send them, where they differ from the book.
import { describe, expect, it } from 'vitest'
import { Fold } from '../../src/projection/fold.ts'
import { viewAfter } from '../../src/testing/wire-subject.ts'
import { answered, entriesOf, result, said } from '../../src/testing/builders.ts'
import { geminiWire } from '../../src/wires/gemini/wire.ts'
import { openAiChatWire } from '../../src/wires/openai-chat/wire.ts'
import { openAiResponsesWire } from '../../src/wires/openai-responses/wire.ts'
import type { Wire } from '../../src/wires/wire.ts'

function readBy(wire: Wire, model: string, events: readonly unknown[]) {
  const reader = wire.createReader(model)
  const passed = events.flatMap((event) => reader.feed(event))
  return { reader, passed, message: reader.message() }
}
const delta = (fields: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, delta: fields, finish_reason }],
  ...more,
})

describe('chat', () => {
  const read = (...events: readonly unknown[]) => readBy(openAiChatWire as Wire, 'm', events)

  it('[WC8] a first chunk that says nothing, and usage where Groq and DeepSeek put it', () => {
    const azure = { id: '', model: '', choices: [], prompt_filter_results: [] }
    const { message } = read(
      azure,
      delta({ role: 'assistant', content: 'hi' }),
      delta({}, 'stop', { x_groq: { usage: { prompt_tokens: 9, completion_tokens: 1 } } }),
    )
    expect(message).toMatchObject({ messageId: 'c', ended: 'end', usage: { input: 9, output: 1 } })
    const deepseek = { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 6 }
    expect(read(delta({ content: 'hi' }, 'stop', { usage: deepseek })).message?.usage).toEqual({
      input: 3,
      cacheRead: 6,
      cacheWrite: 0,
      output: 1,
    })
  })

  it('[WC8] calls without an index, without an id, and with arguments that are no text', () => {
    const { message } = read(
      delta({ tool_calls: [{ id: 'a', function: { name: 'Read', arguments: '{"p":' } }] }),
      delta({ tool_calls: [{ function: { arguments: '1}' } }] }),
      delta({ tool_calls: [{ id: 'b', function: { name: 'Read', arguments: { p: 2 } } }] }),
      delta({}, 'stop'),
      '[DONE]',
    )
    expect(message).toMatchObject({
      ended: 'tool',
      content: [
        { type: 'tool_use', id: 'a', input: { p: 1 } },
        { type: 'tool_use', id: 'b', input: { p: 2 } },
      ],
    })
    const nameless = read(
      delta({ tool_calls: [{ index: 0, function: { name: 'Read', arguments: '' } }] }, 'tool_calls'),
    )
    expect(nameless.message?.content).toMatchObject([{ type: 'tool_use', id: 'call_c_0', input: {} }])
  })

  it('[WC8] arguments that were cut are an answer cut by its length, and the call is broken', () => {
    const { message } = read(
      delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'Read', arguments: '{"p":' } }] }),
      delta({}, 'tool_calls'),
    )
    expect(message).toMatchObject({ ended: 'length', stop: 'tool_calls', content: [{ broken: '{"p":' }] })
  })

  it('[WC8] fields of a call that a server wants back go back with it', () => {
    const extra = { google: { thought_signature: 'c2ln' } }
    const { message } = read(
      delta({
        tool_calls: [
          { index: 0, id: 'a', extra_content: extra, function: { name: 'Read', arguments: '{}' } },
        ],
      }),
      delta({}, 'tool_calls'),
    )
    const composed = openAiChatWire
      .createComposer()
      .compose(viewAfter(message!, 'm'), { model: 'm', maxTokens: 10, bindsPrefix: false, lifetime: '5m' })
    expect(composed.ok && composed.composed.body).toContain(`"extra_content":${JSON.stringify(extra)}`)
  })

  it('[WC8] an error inside the stream is a refusal in its words', () => {
    const { reader } = read(delta({ content: 'a' }), { error: { message: 'Upstream is busy', code: 502 } })
    expect(reader.complete).toBe(false)
    expect(reader.refusal?.text).toContain('Upstream is busy')
  })
})

describe('responses', () => {
  const read = (...events: readonly unknown[]) => readBy(openAiResponsesWire as Wire, 'm', events)
  const created = { type: 'response.created', response: { id: 'r', model: 'm' } }

  it('[WR6] an item counts as its last event has it', () => {
    const item = (encrypted_content: string) => ({
      id: 'rs',
      type: 'reasoning',
      summary: [],
      encrypted_content,
    })
    const { message } = read(
      created,
      { type: 'response.output_item.added', output_index: 0, item: item('half') },
      { type: 'response.output_item.done', output_index: 0, item: item('whole') },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [item('other')] } },
    )
    expect(message?.content).toMatchObject([{ type: 'item', raw: JSON.stringify(item('whole')) }])
  })

  it('[WR6] what had only begun: text as far as it came, a call that is broken, no sealed half', () => {
    const { message, reader } = read(
      created,
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs' } },
      { type: 'response.output_item.added', output_index: 1, item: { type: 'message', content: [] } },
      { type: 'response.output_text.delta', output_index: 1, delta: 'so f' },
      {
        type: 'response.output_item.added',
        output_index: 2,
        item: { type: 'function_call', call_id: 'a', name: 'Read' },
      },
      { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"p' },
    )
    expect(reader.complete).toBe(false)
    expect(message?.content).toMatchObject([
      { type: 'text', text: 'so f' },
      { type: 'tool_use', id: 'a', broken: '{"p' },
    ])
  })

  it('[WR6] a failure inside the stream is a refusal in the words of the server', () => {
    const error = {
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model.',
    }
    const { reader } = read(created, {
      type: 'response.failed',
      response: { id: 'r', status: 'failed', error },
    })
    expect(openAiResponsesWire.failureOf(reader.refusal!, 0).failure.code).toBe('overflow')
    const told = read(created, { type: 'error', code: 'server_error', message: 'busy', param: null })
    expect(openAiResponsesWire.failureOf(told.reader.refusal!, 0)).toMatchObject({
      failure: { code: 'server' },
      retry: true,
    })
  })
})

describe('gemini', () => {
  const model = 'gemini-4-argon'
  const read = (...events: readonly unknown[]) => readBy(geminiWire as Wire, model, events)
  const event = (parts: readonly object[], finishReason?: string) => ({
    responseId: 'r',
    candidates: [
      { content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
    ],
  })
  const parameters = { model, maxTokens: 10, bindsPrefix: false, lifetime: '5m' } as const

  it('[WG5] texts are not joined across a signature', () => {
    const { message } = read(
      event([{ text: 'a' }]),
      event([{ text: 'b', thoughtSignature: 'c2ln' }]),
      event([{ text: 'c' }], 'STOP'),
    )
    expect(message?.content).toMatchObject([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', sidecar: { raw: '{"thoughtSignature":"c2ln"}' } },
      { type: 'text', text: 'c' },
    ])
  })

  it('[WG5] calls without an id are paired by order, and the ids we gave are not sent', () => {
    const calls = [1, 2].map((n) => ({ functionCall: { name: 'Read', args: { n } } }))
    const { message } = read(event(calls, 'STOP'))
    const ids = message!.content.flatMap((block) =>
      block.type === 'tool_use' && 'id' in block ? [block.id] : [],
    )
    expect(new Set(ids).size).toBe(2)
    const fold = new Fold()
    const { content } = message!
    // The second result came first.
    for (const entry of entriesOf(
      said('go'),
      answered(content, { model, id: 'r' }),
      result(ids[1]!, 'two'),
      result(ids[0]!, 'one'),
    ))
      fold.push(entry)
    const composed = geminiWire.createComposer().compose(fold.view(), parameters)
    const body = composed.ok ? composed.composed.body : ''
    expect(body).not.toContain(ids[0]!)
    expect(body.indexOf('"output":"one"')).toBeLessThan(body.indexOf('"output":"two"'))
  })

  it('[WA2] a stream that comes as one list is read as its events', () => {
    const events = [
      { responseId: 'r', candidates: [{ content: { role: 'model', parts: [{ text: 'he' }] } }] },
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'y' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 },
      },
    ]
    expect(geminiWire.parse(events, 'gemini-4-argon')).toMatchObject({
      messageId: 'r',
      ended: 'end',
      content: [{ type: 'text', text: 'hey' }],
      usage: { input: 5, output: 2 },
    })
    expect(geminiWire.parse([{ error: { code: 500 } }], 'gemini-4-argon')).toBeNull()
  })

  it('[WG5] a blocked prompt is a refusal, and a call the model could not write is tried again', () => {
    const blocked = read({ responseId: 'r', promptFeedback: { blockReason: 'SAFETY' } })
    expect(blocked.message).toMatchObject({ ended: 'refusal', stop: 'SAFETY', content: [] })
    const spoiled = read(event([], 'MALFORMED_FUNCTION_CALL'))
    expect(spoiled.reader.complete).toBe(false)
    expect(geminiWire.failureOf(spoiled.reader.refusal!, 0)).toMatchObject({
      failure: { code: 'server' },
      retry: true,
    })
  })
})
