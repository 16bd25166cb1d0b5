// The adapters over real HTTP, against a server that behaves and misbehaves as servers do.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createEngine, geminiWire, inMemoryStore, openAiChatWire, type LiveEvent } from '../../src/index.ts'
import type { Model, ModelEvent, ModelRequest } from '../../src/model/model.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import { optionalPackage, type AdapterOptions } from '../../src/wires/adapter.ts'
import { geminiModel } from '../../src/wires/gemini/adapter.ts'
import { openAiChatModel, openAiResponsesModel } from '../../src/wires/openai-adapter.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { open, serve, type Handler } from '../stream-server.ts'
import { geminiSubject } from './gemini-subject.ts'
import { openAiChatSubject } from './openai-chat-subject.ts'
import { openAiResponsesSubject } from './openai-responses-subject.ts'

afterEach(() => void vi.unstubAllEnvs())

const quick = { retryBaseMs: 5, retryMaxMs: 20, drainMs: 50 }
const frames = (events: readonly unknown[], newline = '\n'): string =>
  events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}${newline}${newline}`)
    .join('')

interface Case {
  readonly subject: typeof openAiChatSubject
  readonly make: (options: AdapterOptions) => Model
  readonly path: string
  readonly key: readonly [header: string, value: string]
  readonly newline?: string
}
const cases: readonly Case[] = [
  {
    subject: openAiChatSubject,
    make: openAiChatModel,
    path: '/chat/completions',
    key: ['authorization', 'Bearer key'],
  },
  {
    subject: openAiResponsesSubject,
    make: openAiResponsesModel,
    path: '/responses',
    key: ['authorization', 'Bearer key'],
  },
  {
    subject: geminiSubject,
    make: geminiModel,
    path: '/v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse',
    key: ['x-goog-api-key', 'key'],
    newline: '\r\n',
  },
]

const requestFor = (model: string, body = '{}'): ModelRequest => ({ model, body, betas: [], source: 'main' })

async function collect(model: Model, request: ModelRequest, signal = new AbortController().signal) {
  const all: ModelEvent[] = []
  for await (const event of model.stream(request, signal)) all.push(event)
  return all
}

describe.each(cases.map((each) => [each.subject.wire.name, each] as const))('%s', (_, each) => {
  const { subject, make, path, key, newline } = each
  const at = (url: string, more: Partial<AdapterOptions> = {}): Model =>
    make({ apiKey: 'key', baseUrl: url, random: () => 0, settings: quick, ...more })
  const good = frames(subject.answers[0]!.events, newline)
  const answering: Handler = (response) => void open(response).end(good)

  it('[WA1] the body goes out byte for byte, with the key, our headers and the path of the API', async () => {
    const { url, asked } = await serve(answering)
    const body = `{ "b":1,\n "a" : "${'日本 🦊 \\u00e9 '.repeat(5000)}", "stream":true }`
    const events = await collect(at(url, { headers: { 'x-own': 'yes' } }), requestFor(subject.model, body))
    expect(events.at(-1)).toMatchObject({ type: 'end' })
    expect(asked).toHaveLength(1)
    expect(asked[0]!.bytes.equals(Buffer.from(body))).toBe(true)
    expect(asked[0]!.url).toBe(path)
    expect(asked[0]!.headers).toMatchObject({
      [key[0]]: key[1],
      'content-type': 'application/json',
      'x-own': 'yes',
      'x-palimpsest-source': 'main',
    })
  })

  it('[WA2] an answer is read as it comes, in whatever pieces', async () => {
    for (const answer of subject.answers) {
      const bytes = Buffer.from(frames(answer.events, newline))
      const { url } = await serve(async (response) => {
        open(response)
        for (let from = 0; from < bytes.length; from += 37) {
          response.write(bytes.subarray(from, from + 37))
          await new Promise((resolve) => setImmediate(resolve))
        }
        response.end()
      })
      const events = await collect(at(url), requestFor(subject.model))
      const last = events.at(-1)!
      expect(last.type, answer.name).toBe('end')
      const said = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
      expect(said).toBe(answer.text)
      if (last.type === 'end') expect(last.message.ended).toBe(answer.ended)
      expect(events.filter(({ type }) => type === 'call-start')).toHaveLength(answer.calls.length)
    }
  })

  it('[WA3] what passes is tried again and seen before it is waited for; what stays is final', async () => {
    for (const { status, text, code, retry } of subject.refusals) {
      if (status === null) continue
      const { url, asked } = await serve((response, _asked, turn) => {
        if (turn > 1) open(response).end(good)
        else
          response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '5' }).end(text)
      })
      const events = await collect(at(url), requestFor(subject.model))
      const types = events.map(({ type }) => type)
      if (retry) {
        expect(events[0], text).toMatchObject({ type: 'retry', attempt: 2, failure: { code } })
        expect(types.at(-1)).toBe('end')
        expect(asked).toHaveLength(2)
      } else {
        expect(events, text).toMatchObject([{ type: 'failed', failure: { code, status } }])
        expect(asked).toHaveLength(1)
      }
    }
  })

  it('[WA3] an answer that breaks off after content is a failure with what had come', async () => {
    const events = subject.answers[0]!.events
    const { url, asked } = await serve((response) => {
      open(response).write(frames(events.slice(0, -3), newline), () => response.destroy())
    })
    const last = (await collect(at(url), requestFor(subject.model))).at(-1)!
    expect(last).toMatchObject({ type: 'failed', failure: { code: 'cut-short' } })
    expect(asked).toHaveLength(1)
  })

  it('[WA4] an abort ends it at once, before and in the middle', async () => {
    const { url } = await serve((response) => void open(response).write(': waiting\n\n'))
    const early = new AbortController()
    early.abort()
    expect((await collect(at(url), requestFor(subject.model), early.signal)).at(-1)).toMatchObject({
      type: 'failed',
      failure: { code: 'aborted' },
    })
    const late = new AbortController()
    setTimeout(() => late.abort(), 50)
    expect((await collect(at(url), requestFor(subject.model), late.signal)).at(-1)).toMatchObject({
      type: 'failed',
      failure: { code: 'aborted' },
    })
  })

  it('[WA5] neither key nor address is taken from the environment', async () => {
    for (const name of ['OPENAI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'])
      vi.stubEnv(name, 'from-outside')
    for (const name of ['OPENAI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL']) vi.stubEnv(name, 'http://127.0.0.1:1')
    vi.stubEnv('GOOGLE_GENAI_USE_VERTEXAI', 'true')
    const { url, asked } = await serve(answering)
    expect(await collect(make({ baseUrl: url }), requestFor(subject.model))).toMatchObject([
      { type: 'failed', failure: { code: 'unauthorized' } },
    ])
    expect((await collect(at(url), requestFor(subject.model))).at(-1)).toMatchObject({ type: 'end' })
    expect(asked).toHaveLength(1)
    expect(asked[0]!.headers[key[0]]).toBe(key[1])
    expect(await collect(at('no address'), requestFor(subject.model))).toMatchObject([
      { type: 'failed', failure: { code: 'invalid' } },
    ])
  })
})

it('[WA6] servers without keys, with keys in a header of their own, and with a version in the address', async () => {
  const chat = frames(openAiChatSubject.answers[0]!.events)
  const { url, asked } = await serve((response) => void open(response).end(chat))
  const request = requestFor('any')
  await collect(openAiChatModel({ baseUrl: `${url}/v1`, keyHeader: 'none' }), request)
  await collect(
    openAiChatModel({ apiKey: 'k', baseUrl: url, keyHeader: 'api-key', query: { 'api-version': 'preview' } }),
    request,
  )
  expect(asked[0]).toMatchObject({ url: '/v1/chat/completions' })
  expect(asked[0]!.headers['authorization']).toBeUndefined()
  expect(asked[1]).toMatchObject({ url: '/chat/completions?api-version=preview' })
  expect(asked[1]!.headers).toMatchObject({ 'api-key': 'k' })
  expect(asked[1]!.headers['authorization']).toBeUndefined()
})

it('[WA10] an engine whose wire is not that of its model says so, and sends nothing', async () => {
  const { url, asked } = await serve((response) => void open(response).end(''))
  const options = { apiKey: 'k', baseUrl: url }
  const models = {
    anthropic: anthropicModel(options),
    'openai-chat': openAiChatModel(options),
    'openai-responses': openAiResponsesModel(options),
    gemini: geminiModel(options),
  }
  for (const [name, model] of Object.entries(models)) {
    const written = name === 'gemini' ? openAiChatWire : geminiWire
    const engine = createEngine({
      store: inMemoryStore(),
      modelId: 'gpt-6-sol',
      wire: written as Wire,
      model,
    })
    const session = await engine.open()
    const events: LiveEvent[] = []
    for await (const event of session.send('hi')) events.push(event)
    expect(events.at(-1)).toMatchObject({
      type: 'turn-end',
      failure: {
        code: 'invalid',
        message: `the request is written for the wire ${written.name}, and this model speaks ${name}: hand createEngine the wire of its model`,
      },
    })
    await session.close()
  }
  expect(asked).toHaveLength(0)
})

it('[WA7] a package that is missing is an error that names how it is installed', async () => {
  const missing = optionalPackage('openai', () => Promise.reject(new Error("Cannot find package 'openai'")))
  await expect(missing).rejects.toThrow(/npm install openai/)
})

it('[WA2] a server that streams nothing may answer whole', async () => {
  const answer = openAiChatSubject.answers[1]!
  const { url } = await serve((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.whole))
  })
  const last = (await collect(openAiChatModel({ apiKey: 'k', baseUrl: url }), requestFor('any'))).at(-1)!
  expect(last).toMatchObject({ type: 'end', message: { ended: 'tool' } })
})
