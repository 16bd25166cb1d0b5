// A request counted by its provider before it is sent, over HTTP against the dialects.
import { afterEach, describe, expect, it } from 'vitest'
import { createSimulator, scripted, type Simulator } from '../../src/simulator/index.ts'
import type { Model, ModelRequest } from '../../src/model/model.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import { geminiModel } from '../../src/wires/gemini/adapter.ts'
import { openAiChatModel, openAiResponsesModel } from '../../src/wires/openai-adapter.ts'
import { providersOf } from '../../src/wires/providers.ts'
import { routedModel } from '../../src/wires/routing.ts'
import { bodyOf, viewAfter, type WireSubject } from '../../src/testing/wire-subject.ts'
import { serve } from '../stream-server.ts'
import { anthropicSubject } from './anthropic-subject.ts'
import { geminiSubject } from './gemini-subject.ts'
import { openAiResponsesSubject } from './openai-responses-subject.ts'

const running: Simulator[] = []
afterEach(async () => {
  for (const simulator of running.splice(0)) await simulator.stop()
})
async function simulated() {
  const simulator = createSimulator({ answerer: scripted(['ok', 'ok']) })
  running.push(simulator)
  return { url: (await simulator.start()).url, simulator }
}
const never = new AbortController().signal

const cases: readonly (readonly [WireSubject, (baseUrl: string) => Model])[] = [
  [anthropicSubject, (baseUrl) => anthropicModel({ apiKey: 'k', baseUrl })],
  [openAiResponsesSubject, (baseUrl) => openAiResponsesModel({ apiKey: 'k', baseUrl: `${baseUrl}/v1` })],
  [geminiSubject, (baseUrl) => geminiModel({ apiKey: 'k', baseUrl })],
]

const requestFor = (subject: WireSubject): ModelRequest => {
  const { wire, model } = subject
  const message = { ...wire.parse(subject.answers[0]!.whole, model)!, model }
  // What was sealed is for another key than this one.
  const content = message.content.filter(({ type }) => type === 'text')
  const body = bodyOf(subject, viewAfter({ ...message, content }, model), model)
  return { wire: wire.name, model, body, betas: [], source: 'main' }
}

describe.each(cases.map(([subject, make]) => [subject.wire.name, subject, make] as const))(
  '%s',
  (_, subject, make) => {
    it('[WA9] counts what the request will be billed for, and no more is said than a count', async () => {
      const { url, simulator } = await simulated()
      const model = make(url)
      const request = requestFor(subject)
      const counted = await model.count!(request, never)
      expect(counted).toMatchObject({ ok: true })
      const events = []
      for await (const event of model.stream(request, never)) events.push(event)
      const end = events.at(-1)!
      if (end.type !== 'end') throw new Error(JSON.stringify(end))
      const { input, cacheRead, cacheWrite } = end.message.usage
      expect(counted).toEqual({ ok: true, tokens: input + cacheRead + cacheWrite })
      expect(simulator.log.requests.map(({ status }) => status)).toEqual([200, 200])
    })

    it('[WA9] a refusal, an answer without a count and an abort are failures, and nothing throws', async () => {
      const request = requestFor(subject)
      const refusing = await serve((response) => {
        response
          .writeHead(429, { 'content-type': 'application/json' })
          .end('{"error":{"message":"slow down"}}')
      })
      expect(await make(refusing.url).count!(request, never)).toMatchObject({
        ok: false,
        failure: { code: 'rate-limited' },
      })
      const silent = await serve((response) => {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"input_tokens":"many","totalTokens":-1}')
      })
      expect(await make(silent.url).count!(request, never)).toMatchObject({
        ok: false,
        failure: { code: 'invalid' },
      })
      const aborted = await make(silent.url).count!(request, AbortSignal.abort())
      expect(aborted).toMatchObject({ ok: false, failure: { code: 'aborted' } })
    })
  },
)

it('[WA9] Chat Completions has no such endpoint; among several each is asked where it can be', async () => {
  expect('count' in openAiChatModel({ apiKey: 'k' })).toBe(false)
  const { url } = await simulated()
  const providers = providersOf({ openai: { baseUrl: `${url}/v1` }, groq: { baseUrl: `${url}/v1` } })
  const routed = routedModel({ providers, anthropic: null, keys: { openai: 'k', groq: 'k' } })
  const request = requestFor(openAiResponsesSubject)
  expect(await routed.count!({ ...request, provider: 'openai' }, never)).toMatchObject({ ok: true })
  expect(await routed.count!({ ...request, provider: 'groq' }, never)).toBeNull()
  expect(await routed.count!(request, never)).toBeNull()
})
