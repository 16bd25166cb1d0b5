// The same answer read by us and by the maker's own SDK: words, calls and usage agree.
import { GoogleGenAI } from '@google/genai'
import { OpenAI } from 'openai'
import { expect, it } from 'vitest'
import type { Model, ModelMessage } from '../../src/model/model.ts'
import { Fold } from '../../src/projection/fold.ts'
import { call, createSimulator, scripted, text, thinking } from '../../src/simulator/index.ts'
import { Pen, said, start } from '../../src/testing/builders.ts'
import { textIn } from '../../src/transcript/content.ts'
import { geminiModel } from '../../src/wires/gemini/adapter.ts'
import { geminiWire } from '../../src/wires/gemini/wire.ts'
import { openAiChatModel, openAiResponsesModel } from '../../src/wires/openai-adapter.ts'
import { openAiChatWire } from '../../src/wires/openai-chat/wire.ts'
import { openAiResponsesWire } from '../../src/wires/openai-responses/wire.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { later, words } from '../e2e/simulated.ts'

const step = [
  thinking('both at once'),
  text('Ich schaue nach. 日本 🦊'),
  call('Look', { n: 1, deep: { a: ['x', null] } }, 'toolu_a'),
  call('Look', { n: 2 }, 'toolu_b'),
]

async function address(): Promise<string> {
  const simulator = createSimulator({ answerer: scripted([step, step, step, step]) })
  later(() => simulator.stop())
  return (await simulator.start()).url
}

function bodyOf(wire: Wire, model: string): string {
  const fold = new Fold()
  const pen = new Pen()
  const tools = [{ name: 'Look', description: 'looks', input_schema: { type: 'object', properties: {} } }]
  for (const fact of [start(), { type: 'instructions-set' as const, sections: [], tools }, said(words(3000))])
    fold.push(pen.write(fact))
  const outcome = wire
    .createComposer()
    .compose(fold.view(), { model, maxTokens: 1000, bindsPrefix: false, lifetime: '5m', effort: 'low' })
  if (!outcome.ok) throw new Error(outcome.why)
  return outcome.composed.body
}

async function ours(model: Model, id: string, body: string): Promise<ModelMessage> {
  const request = { model: id, body, betas: [], source: 'main' }
  for await (const event of model.stream(request, new AbortController().signal)) {
    if (event.type === 'end') return event.message
    if (event.type === 'failed') throw new Error(event.failure.message)
  }
  throw new Error('no end')
}

const callsIn = (message: ModelMessage) =>
  message.content.flatMap((block) =>
    block.type === 'tool_use' && 'input' in block ? [{ name: block.name, input: block.input }] : [],
  )
const prompt = ({ usage }: ModelMessage): number => usage.input + usage.cacheRead + usage.cacheWrite

it('[WA8] a chat completion', async () => {
  const baseURL = `${await address()}/v1`
  const body = bodyOf(openAiChatWire as Wire, 'gpt-6-sol')
  const mine = await ours(openAiChatModel({ apiKey: 'k', baseUrl: baseURL }), 'gpt-6-sol', body)
  const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
  const theirs = await client.chat.completions.stream(JSON.parse(body) as never).finalChatCompletion()
  const { message } = theirs.choices[0]!
  expect(textIn(mine.content, '')).toBe(message.content)
  expect(callsIn(mine)).toEqual(
    message.tool_calls?.map((each) =>
      each.type === 'function'
        ? { name: each.function.name, input: JSON.parse(each.function.arguments) as unknown }
        : null,
    ),
  )
  expect(callsIn(mine)).toHaveLength(2)
  expect(prompt(mine)).toBe(theirs.usage?.prompt_tokens)
  expect(mine.usage.output).toBe(theirs.usage?.completion_tokens)
})

it('[WA8] a response', async () => {
  const baseURL = `${await address()}/v1`
  const body = bodyOf(openAiResponsesWire as Wire, 'gpt-6-sol')
  const mine = await ours(openAiResponsesModel({ apiKey: 'k', baseUrl: baseURL }), 'gpt-6-sol', body)
  const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
  const theirs = await client.responses.stream(JSON.parse(body) as never).finalResponse()
  expect(textIn(mine.content, '')).toBe(theirs.output_text)
  const calls = theirs.output.flatMap((item) =>
    item.type === 'function_call' ? [{ name: item.name, input: JSON.parse(item.arguments) as unknown }] : [],
  )
  expect(callsIn(mine)).toEqual(calls)
  expect(calls).toHaveLength(2)
  const sealed = theirs.output.filter(({ type }) => type === 'reasoning')
  expect(mine.content.filter(({ type }) => type === 'item')).toHaveLength(sealed.length)
  expect(sealed).toHaveLength(1)
  expect(prompt(mine)).toBe(theirs.usage?.input_tokens)
})

it('[WA8] generated content', async () => {
  const baseUrl = await address()
  const body = bodyOf(geminiWire as Wire, 'gemini-4-argon')
  const mine = await ours(geminiModel({ apiKey: 'k', baseUrl }), 'gemini-4-argon', body)
  const { contents, tools, generationConfig } = JSON.parse(body) as {
    readonly contents: never
    readonly tools: never
    readonly generationConfig: object
  }
  const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl } })
  const stream = await client.models.generateContentStream({
    model: 'gemini-4-argon',
    contents,
    config: { tools, ...generationConfig },
  })
  let said_ = ''
  const calls: { name: unknown; input: unknown }[] = []
  let usage: { promptTokenCount?: number } | undefined
  for await (const chunk of stream) {
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      if (part.thought !== true) said_ += part.text ?? ''
      if (part.functionCall) calls.push({ name: part.functionCall.name, input: part.functionCall.args })
    }
    usage = chunk.usageMetadata ?? usage
  }
  expect(textIn(mine.content, '')).toBe(said_)
  expect(callsIn(mine)).toEqual(calls)
  expect(calls).toHaveLength(2)
  expect(prompt(mine)).toBe(usage?.promptTokenCount)
})

it('[V83] a refusal, a filter and a wait, read alike by the SDKs and by us', async () => {
  const refusal = { content: [text('No, not that.')], stop_reason: 'refusal' as const }
  const filter = { content: [], stop_reason: 'refusal' as const }
  const simulator = createSimulator({
    answerer: scripted([refusal, refusal, refusal, filter, refusal, refusal, refusal, filter]),
    faults: [
      {
        at: ({ body }) => JSON.stringify(body).includes('be quick'),
        fault: { kind: 'status', status: 429, retryAfterSeconds: 7 },
      },
    ],
  })
  later(() => simulator.stop())
  const { url } = await simulator.start()
  const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 })
  const asked = { model: 'gpt-6-sol', messages: [{ role: 'user' as const, content: 'hi' }] }
  const [whole] = (await client.chat.completions.create(asked)).choices
  expect(whole).toMatchObject({ finish_reason: 'stop', message: { content: null, refusal: 'No, not that.' } })
  let streamed = ''
  for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }))
    streamed += choices[0]?.delta.refusal ?? ''
  expect(streamed).toBe('No, not that.')
  const spoken = await client.responses.create({ model: 'gpt-6-sol', input: 'hi' })
  expect(spoken).toMatchObject({ status: 'completed', output: [{ content: [{ refusal: 'No, not that.' }] }] })
  expect((await client.chat.completions.create(asked)).choices[0]?.finish_reason).toBe('content_filter')
  const options = { apiKey: 'k', baseUrl: `${url}/v1` }
  const chat = bodyOf(openAiChatWire as Wire, 'gpt-6-sol')
  expect(await ours(openAiChatModel(options), 'gpt-6-sol', chat)).toMatchObject({
    ended: 'refusal',
    stop: 'stop',
    content: [{ type: 'text', text: 'No, not that.' }],
  })
  const responses = bodyOf(openAiResponsesWire as Wire, 'gpt-6-sol')
  expect(await ours(openAiResponsesModel(options), 'gpt-6-sol', responses)).toMatchObject({
    ended: 'refusal',
    content: [{ type: 'text', text: 'No, not that.' }],
  })
  const blocked = bodyOf(geminiWire as Wire, 'gemini-4-argon')
  const google = { apiKey: 'k', baseUrl: url }
  expect(await ours(geminiModel(google), 'gemini-4-argon', blocked)).toMatchObject({ ended: 'refusal' })
  expect(await ours(openAiChatModel(options), 'gpt-6-sol', chat)).toMatchObject({
    ended: 'filter',
    stop: 'content_filter',
    content: [],
  })
  const busy = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: url } })
  const waits = await busy.models
    .generateContent({ model: 'gemini-4-argon', contents: 'be quick' })
    .catch((error: unknown) => String(error))
  expect(waits).toContain('"retryDelay":"7s"')
})
