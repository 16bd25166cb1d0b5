import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateText, isStepCount, jsonSchema, streamText, tool, type LanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'
import { servers } from '../../../test/simulated-server.ts'
import { call, text, thinking, type Answerer } from '../index.ts'

const serve = servers()
const read = tool({
  description: 'reads',
  inputSchema: jsonSchema<{ path: string }>({
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  }),
  execute: ({ path }) => `content of ${path}`,
})

/** Two files at once, then what they hold. */
const worker: Answerer = {
  answer: ({ request }) => {
    const last = JSON.stringify(request.messages.at(-1))
    return last.includes('content of')
      ? {
          content: [text(last.includes('content of b') ? 'Both are read.' : 'One is read.')],
          stop_reason: 'end_turn',
        }
      : {
          content: [thinking('Two files.'), call('read', { path: 'a' }), call('read', { path: 'b' })],
          stop_reason: 'tool_use',
        }
  },
}

const wires: readonly (readonly [name: string, model: (url: string, key?: string) => LanguageModel])[] = [
  [
    'Chat Completions',
    (url, apiKey = 'k') => createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat('gpt-6-sol'),
  ],
  ['Responses', (url, apiKey = 'k') => createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses('gpt-6-sol')],
  [
    'Gemini',
    (url, apiKey = 'k') =>
      createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })('gemini-3.1-pro-preview'),
  ],
]

describe('the AI SDK on the other wires', () => {
  for (const [name, model] of wires) {
    it(`[V76] ${name}: a loop with parallel tools, whole and streamed, with usage`, async () => {
      const { url, simulator } = await serve(worker)
      const asked = {
        model: model(url),
        tools: { read },
        instructions: 'You read.',
        prompt: 'go',
        stopWhen: isStepCount(3),
        maxRetries: 0,
      }
      const whole = await generateText(asked)
      expect(whole.text).toBe('Both are read.')
      expect(whole.steps[0]?.toolCalls.map((each) => each.input)).toEqual([{ path: 'a' }, { path: 'b' }])
      expect(whole.usage.inputTokens).toBeGreaterThan(0)
      const streamed = streamText(asked)
      const pieces: string[] = []
      for await (const piece of streamed.textStream) pieces.push(piece)
      expect(pieces.join('')).toBe('Both are read.')
      expect((await streamed.totalUsage).inputTokens).toBe(whole.totalUsage.inputTokens)
      expect(simulator.log.requests.map((each) => each.status)).toEqual([200, 200, 200, 200])
    })

    it(`[V76] ${name}: errors keep their status and text`, async () => {
      const { url } = await serve(worker, { keys: ['right'] })
      const error = await generateText({ model: model(url, 'wrong'), prompt: 'go', maxRetries: 0 }).catch(
        (each: unknown) => each,
      )
      expect(APICallError.isInstance(error) && [error.statusCode, /API key/u.test(error.message)]).toEqual([
        name === 'Gemini' ? 400 : 401,
        true,
      ])
    })
  }
})
