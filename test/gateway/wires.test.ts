import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSimulator, text, type Simulator } from '../../src/simulator/index.ts'
import type { WireName } from '../../src/model/model.ts'
import { promptTokens } from '../../src/model/usage.ts'
import { until } from '../until.ts'
import { lines, newWorld, send, type World } from './world.ts'

let world: World
let simulator: Simulator
let upstream: string
beforeEach(async () => {
  world = newWorld()
  simulator = createSimulator({
    answerer: { answer: () => ({ content: [text('the answer')], stop_reason: 'end_turn' }) },
  })
  upstream = (await simulator.start()).url
})
afterEach(async () => {
  await world.end()
  await simulator.stop()
})

interface Row {
  readonly path: string
  readonly streamPath?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: (result: string, isStream: boolean) => unknown
}
const schema = { type: 'object', properties: {} }

/** A question, a call and its large result, as each wire has them. */
const rows: Readonly<Record<Exclude<WireName, 'anthropic'>, Row>> = {
  'openai-chat': {
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer k-canary-123' },
    body: (result, isStream) => ({
      model: 'gpt-6.1-sol',
      stream: isStream,
      ...(isStream ? { stream_options: { include_usage: true } } : {}),
      tools: [{ type: 'function', function: { name: 'shell', description: 'd', parameters: schema } }],
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'shell', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: result },
      ],
    }),
  },
  'openai-responses': {
    path: '/v1/responses',
    headers: { authorization: 'Bearer k-canary-123' },
    body: (result, isStream) => ({
      model: 'gpt-6.1-sol',
      stream: isStream,
      store: false,
      instructions: 'S',
      tools: [{ type: 'function', name: 'shell', description: 'd', parameters: schema, strict: false }],
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: result },
      ],
    }),
  },
  gemini: {
    path: '/v1beta/models/gemini-2.5-pro:generateContent',
    streamPath: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    headers: { 'x-goog-api-key': 'k-canary-123' },
    body: (result) => ({
      systemInstruction: { parts: [{ text: 'S' }] },
      tools: [
        {
          functionDeclarations: [
            { name: 'shell', description: 'd', parameters: { type: 'OBJECT', properties: {} } },
          ],
        },
      ],
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'shell', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'c1', name: 'shell', response: { output: result } } }],
        },
      ],
    }),
  },
}

const cases = (Object.keys(rows) as (keyof typeof rows)[]).flatMap((wire) => [
  { wire, isStream: false },
  { wire, isStream: true },
])

describe('the other wires', () => {
  it.each(cases)(
    '[GW19] $wire, streamed: $isStream: accepted, shortened once, heard and recorded',
    async ({ wire, isStream }) => {
      const { path, streamPath, headers, body } = rows[wire]
      const gateway = await world.gateway(upstream)
      const sent = JSON.stringify(body(lines(40_000, 1), isStream))
      const reply = await send(`${gateway.url}${isStream ? (streamPath ?? path) : path}`, sent, headers)
      expect(reply.body).toContain('the answer')
      expect(reply.status).toBe(200)
      expect(reply.headers['x-palimpsest']).toMatch(/^trim; blocks=1; characters=-3\d{4}$/u)
      await until(() => gateway.savings.all.requests === 1)
      expect(promptTokens(gateway.savings.all)).toBeGreaterThan(500)
      expect(simulator.log.requests[0]!.bytes).toBeLessThan(10_000)
      expect(gateway.savings.all.unpriced).toBe(0)
    },
  )
})
