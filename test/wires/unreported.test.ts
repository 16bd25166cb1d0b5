// Servers that say nothing about what an answer took: the size of the session, its sums and its caps go on by our own count.
import { expect, it } from 'vitest'
import { createEngine, inMemoryStore } from '../../src/index.ts'
import { isKnown, type FactOf } from '../../src/transcript/fact.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import { openAiChatModel, openAiResponsesModel } from '../../src/wires/openai-adapter.ts'
import { open, serve } from '../stream-server.ts'
import { openAiChatSubject } from './openai-chat-subject.ts'
import { openAiResponsesSubject } from './openai-responses-subject.ts'

const words = 'one two three four five six seven eight nine ten '
const item = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: words, annotations: [] }],
}
const whole = { id: 'r', model: 'm', status: 'completed', output: [item] }
const wires = [
  {
    subject: openAiChatSubject,
    make: openAiChatModel,
    events: [
      { id: 'c', model: 'm', choices: [{ index: 0, delta: { content: words }, finish_reason: 'stop' }] },
    ],
  },
  {
    subject: openAiResponsesSubject,
    make: openAiResponsesModel,
    events: [
      { type: 'response.created', response: { ...whole, output: [], status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ],
  },
].map((each) => [each.subject.wire.name, each] as const)

it.each(wires)(
  '[D20] %s: an answer without usage neither anchors the size nor is free',
  async (_, { subject, make, events }) => {
    const { url, asked } = await serve(
      (response) =>
        void open(response).end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')),
    )
    const store = inMemoryStore()
    const session = await createEngine({
      store,
      modelId: subject.model,
      wire: subject.wire,
      model: make({ apiKey: 'key', baseUrl: url }),
      layers: [],
      caps: { dollars: 0.05 },
    }).open()
    const failures: string[] = []
    const sizes: number[] = []
    for (let turn = 0; turn < 20 && failures.length === 0; turn++) {
      for await (const event of session.send(words.repeat(100)))
        if (event.type === 'turn-end' && event.failure !== null) failures.push(event.failure.message)
      sizes.push(session.view().tokens)
    }
    // Each turn brings 1,000 words: a size that began anew with every answer would stay there.
    for (const [turn, size] of sizes.entries()) expect(size).toBeGreaterThan(800 * (turn + 1))
    expect(failures).toEqual([expect.stringContaining('and the cap is $0.05')])
    expect(asked.length).toBeGreaterThan(1)
    const answers: FactOf<'assistant-message'>[] = []
    for await (const read of store.read(session.id))
      if (read.kind === 'entry' && isKnown(read.entry) && read.entry.fact.type === 'assistant-message')
        answers.push(read.entry.fact)
    expect(answers).toHaveLength(asked.length)
    for (const [at, { usage }] of answers.entries()) {
      expect(usage).toMatchObject({ cacheRead: 0, cacheWrite: 0, estimated: true })
      expect(usage!.input).toBeGreaterThan(800 * (at + 1))
      expect(usage!.output).toBeGreaterThan(5)
    }
    await session.close()
  },
)

it('[D20] an answer that was broken off before its usage came keeps the size of before', async () => {
  const reported = { prompt_tokens: 5000, completion_tokens: 10, total_tokens: 5010 }
  const chunk = (choices: readonly object[], more: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices, ...more })}\n\n`
  let requests = 0
  const { url } = await serve((response) => {
    const stream = open(response)
    stream.write(chunk([{ index: 0, delta: { content: 'half' } }]))
    if (++requests === 1)
      stream.end(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]) + chunk([], { usage: reported }))
  })
  const session = await createEngine({
    store: inMemoryStore(),
    modelId: openAiChatSubject.model,
    wire: openAiChatSubject.wire,
    model: openAiChatModel({ apiKey: 'key', baseUrl: url }),
    layers: [],
  }).open()
  for await (const _ of session.send('first'));
  expect(session.view().tokens).toBe(5010)
  const stop = new AbortController()
  for await (const event of session.send('second', stop.signal)) if (event.type === 'text-delta') stop.abort()
  expect(session.view().tokens).toBeGreaterThan(5010)
  await session.close()
})

it('[D20] a server that counts its words and not the prompt is not free either', async () => {
  const counts = { prompt_tokens: 0, completion_tokens: 12, total_tokens: 12 }
  const chunk = (choices: readonly object[], more: object = {}) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices, ...more })}\n\n`
  const { url } = await serve(
    (response) =>
      void open(response).end(
        chunk([{ index: 0, delta: { content: words }, finish_reason: 'stop' }]) +
          chunk([], { usage: counts }),
      ),
  )
  const session = await createEngine({
    store: inMemoryStore(),
    modelId: openAiChatSubject.model,
    wire: openAiChatSubject.wire,
    model: openAiChatModel({ apiKey: 'key', baseUrl: url }),
    layers: [],
  }).open()
  for await (const event of session.send(words.repeat(100)))
    if (event.type === 'answer-end') {
      expect(event.usage).toMatchObject({ output: 12, estimated: true })
      expect(event.usage.input).toBeGreaterThan(800)
    }
  expect(session.spent().input).toBeGreaterThan(800)
  await session.close()
})

it.each([
  '{"input_tokens":"4000","output_tokens":1e400}',
  '{"input_tokens":-4,"output_tokens":{}}',
  '"none"',
])(
  '[D20] counts that are none (%s) are no counts: the answer can be read back, and is counted by us',
  async (counts) => {
    const message = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":${counts}}`
    const { url } = await serve((response) => {
      const stream = open(response)
      for (const event of [
        `{"type":"message_start","message":${message}}`,
        '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${words}"}}`,
        '{"type":"content_block_stop","index":0}',
        `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":${counts}}`,
        '{"type":"message_stop"}',
      ])
        stream.write(`event: ${(JSON.parse(event) as { type: string }).type}\ndata: ${event}\n\n`)
      stream.end()
    })
    const store = inMemoryStore()
    const model = anthropicModel({ apiKey: 'key', baseUrl: url })
    const session = await createEngine({ store, modelId: 'claude-sonnet-4-6', model, layers: [] }).open()
    for await (const _ of session.send(words.repeat(100)));
    await session.close()
    const answers: unknown[] = []
    for await (const read of store.read(session.id))
      if (read.kind !== 'entry' || !isKnown(read.entry)) answers.push(read)
      else if (read.entry.fact.type === 'assistant-message') answers.push(read.entry.fact.usage)
    expect(answers).toEqual([
      {
        input: expect.any(Number) as number,
        output: expect.any(Number) as number,
        cacheRead: 0,
        cacheWrite: 0,
        estimated: true,
      },
    ])
  },
)
