import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { servers } from '../../../test/simulated-server.ts'
import { text, type Answerer, type Fault } from '../index.ts'

const serve = servers()
const talker: Answerer = {
  answer: () => ({ content: [text('word '.repeat(200))], stop_reason: 'end_turn' }),
}
const gemini = '/v1beta/models/gemini-3.1-pro:generateContent'
const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { model: 'gpt-6-sol', messages: [{ role: 'user', content: 'go' }] },
  '/v1/responses': { model: 'gpt-6-sol', input: 'go' },
  [gemini]: { contents: [{ parts: [{ text: 'go' }] }] },
}
const paths = Object.keys(bodies)
const keyed = { authorization: 'Bearer k', 'x-goog-api-key': 'k' }
const send = async (url: string, init: RequestInit) => {
  const response = await fetch(url, { method: 'POST', ...init })
  return { status: response.status, body: (await response.json()) as { error: Record<string, unknown> } }
}

describe('bad manners over HTTP', () => {
  it('[V80] what is no JSON, of another type or too large is refused in the vendor’s form', async () => {
    const { url, simulator } = await serve(talker, { maxBodyBytes: 2000 })
    for (const path of paths) {
      const json = { ...keyed, 'content-type': 'application/json' }
      for (const body of ['{', '', 'null', '[]', '"x"', '{"model":']) {
        const answer = await send(`${url}${path}`, { headers: json, body })
        expect([path, body, answer.status]).toEqual([path, body, 400])
        expect(typeof answer.body.error['message']).toBe('string')
      }
      const large = await send(`${url}${path}`, { headers: json, body: `{"x":"${'x'.repeat(3000)}"}` })
      expect(large.status).toBe(path === gemini ? 400 : 413)
      expect(typeof large.body.error['message']).toBe('string')
    }
    const typed = await send(`${url}/v1/responses`, {
      headers: { ...keyed, 'content-type': 'text/plain' },
      body: '{}',
    })
    expect(typed).toMatchObject({ status: 400, body: { error: { code: 'unsupported_content_type' } } })
    const read = await fetch(`${url}/v1/chat/completions`, { headers: keyed })
    expect([read.status, ((await read.json()) as { error: object }).error]).toMatchObject([
      405,
      { code: 'method_not_supported' },
    ])
    expect(simulator.log.requests.every((each) => each.usage === null && each.error !== null)).toBe(true)
  })

  it('[V80] a missing key is said before the body is looked at, and no key reaches the log', async () => {
    const { url, simulator } = await serve(talker, { keys: ['secret-key'] })
    for (const path of paths) {
      const json = { 'content-type': 'application/json' }
      const none = await send(`${url}${path}`, { headers: json, body: '{' })
      expect(none.status).toBe(path === gemini ? 403 : 401)
      const wrong = await send(`${url}${path}`, {
        headers: { ...json, authorization: 'Bearer not-the-key', 'x-goog-api-key': 'not-the-key' },
        body: JSON.stringify(bodies[path]),
      })
      expect(wrong.status).toBe(path === gemini ? 400 : 401)
      const right = {
        authorization: 'Bearer secret-key',
        'x-goog-api-key': 'secret-key',
        'api-key': 'secret-key',
      }
      expect(
        (await send(`${url}${path}`, { headers: { ...json, ...right }, body: JSON.stringify(bodies[path]) }))
          .status,
      ).toBe(200)
    }
    expect((await fetch(`${url}/v1beta/models?key=secret-key`)).status).toBe(200)
    expect(JSON.stringify(simulator.log.requests)).not.toMatch(/secret-key|not-the-key/)
  })

  it('[V81] a stream that is cut, errs, babbles or is reset reaches the client as an error', async () => {
    const faults: readonly Fault[] = [
      { kind: 'cut', afterEvents: 3 },
      { kind: 'stream-error', afterEvents: 3 },
      { kind: 'malformed', afterEvents: 3 },
      { kind: 'reset', when: 'before-headers' },
      { kind: 'status', status: 500 },
    ]
    for (const fault of faults) {
      const { url, simulator } = await serve(talker, { faults: [{ at: () => true, fault }] })
      const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 })
      const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: url } })
      const drained = async (stream: Promise<AsyncIterable<unknown>>): Promise<number> => {
        let count = 0
        for await (const _ of await stream) count += 1
        return count
      }
      const model = 'gpt-6-sol'
      const chat = client.chat.completions.create({
        model,
        stream: true,
        messages: [{ role: 'user', content: 'go' }],
      })
      await expect(drained(chat), `chat ${fault.kind}`).rejects.toThrow()
      await expect(
        drained(client.responses.create({ model, stream: true, input: 'go' })),
        `responses ${fault.kind}`,
      ).rejects.toThrow()
      await expect(
        drained(google.models.generateContentStream({ model: 'gemini-3.1-pro', contents: 'go' })),
        `gemini ${fault.kind}`,
      ).rejects.toThrow()
      expect(simulator.log.requests.map((each) => each.fault)).toEqual([fault.kind, fault.kind, fault.kind])
      expect(
        simulator.log.requests.every((each) => fault.kind === 'malformed' || each.endedAt === null),
      ).toBe(true)
    }
  })

  it('[V81] a server that is busy is asked again by the SDK after the time it named', async () => {
    const { url, simulator } = await serve(talker, {
      faults: [{ at: 1, fault: { kind: 'status', status: 429, retryAfterSeconds: 0 } }],
    })
    const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 1 })
    expect((await client.responses.create({ model: 'gpt-6-sol', input: 'go' })).status).toBe('completed')
    expect(simulator.log.requests.map((each) => each.status)).toEqual([429, 200])
    const bare = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 })
    simulator.faults.add({ at: () => true, times: 1, fault: { kind: 'status', status: 429 } })
    await expect(bare.responses.create({ model: 'gpt-6-sol', input: 'go' })).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'tokens',
    })
  })

  it('[V81] of parallel cold requests none reads what another has not begun to answer', async () => {
    const gate: { open?: () => void } = {}
    const opened = new Promise<void>((resolve) => {
      gate.open = resolve
    })
    const waiting: Answerer = {
      answer: async ({ turn }) => {
        if (turn === 4) gate.open?.()
        if (turn <= 4) await opened
        return { content: [text('ok')], stop_reason: 'end_turn' }
      },
    }
    const { url } = await serve(waiting)
    const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 })
    const ask = async () =>
      (
        await client.responses.create({
          model: 'gpt-6-sol',
          input: 'a long sentence. '.repeat(600),
          prompt_cache_key: 'k',
        })
      ).usage?.input_tokens_details.cached_tokens
    expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual([0, 0, 0, 0])
    expect(await ask()).toBeGreaterThan(1024)
  })

  it('[V81] an answerer that fails is said on every wire, and an abort is noticed', async () => {
    const { url } = await serve({ answer: () => Promise.reject(new Error('script ran out')) })
    for (const path of paths) {
      const answer = await send(`${url}${path}`, {
        headers: { ...keyed, 'content-type': 'application/json' },
        body: JSON.stringify(bodies[path]),
      })
      expect(answer).toMatchObject({
        status: 500,
        body: { error: { message: expect.stringContaining('script ran out') } },
      })
    }
    const slow = await serve(talker, { eventDelayMs: 5 })
    const client = new OpenAI({ apiKey: 'k', baseURL: `${slow.url}/v1`, maxRetries: 0 })
    const stream = await client.responses.create({ model: 'gpt-6-sol', input: 'go', stream: true })
    for await (const event of stream) if (event.type === 'response.output_text.delta') break
    expect((await client.responses.create({ model: 'gpt-6-sol', input: 'go', store: false })).status).toBe(
      'completed',
    )
    expect(slow.simulator.log.requests[0]).toMatchObject({ status: 200, endedAt: null })
  })
})
