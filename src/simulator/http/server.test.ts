import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic, {
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
} from '@anthropic-ai/sdk'
import { generateText, jsonSchema, streamText, tool } from 'ai'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { WireBlock } from '../../model/wire.ts'
import type { Answer, AnswerContext } from '../answer.ts'
import { createManualClock } from '../exchange.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from './server.ts'

const text = (words: string): WireBlock => ({ type: 'text', text: words })
const said = (...content: WireBlock[]): Answer => ({ content, stop_reason: 'end_turn' })
const PLAIN = said(text('Hello there, this is a whole sentence — with 🙂 in it.'))
const LONG = 'You are careful. '.repeat(300)
const running: Simulator[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()))
})

async function serve(options: Partial<SimulatorOptions> = {}) {
  const clock = createManualClock(1_000_000)
  const simulator = createSimulator({ answerer: { answer: () => PLAIN }, clock, ...options })
  running.push(simulator)
  const { url } = await simulator.start()
  const client = (more: ConstructorParameters<typeof Anthropic>[0] = {}) =>
    new Anthropic({ apiKey: 'test-key', baseURL: url, maxRetries: 0, ...more })
  return { simulator, url, clock, client, log: simulator.log }
}

const ask = { model: 'claude-opus-5', max_tokens: 500, messages: [{ role: 'user' as const, content: 'hi' }] }
const READ = {
  name: 'read',
  description: 'Reads a file.',
  input_schema: { type: 'object' as const, properties: { path: { type: 'string' } } },
}

/** First thinks and calls a tool, then says what came back. */
const toolUser = {
  answer: ({ request }: AnswerContext): Answer => {
    const last = request.messages.at(-1)?.content
    const result = typeof last === 'string' ? undefined : last?.find((block) => block.type === 'tool_result')
    if (result !== undefined) return said(text(`It says: ${JSON.stringify(result['content'])}`))
    const call = {
      type: 'tool_use',
      name: 'read',
      input: { path: 'src/a.ts', deep: { list: [1, 2, 3], words: 'é🙂' } },
    }
    return {
      content: [{ type: 'thinking', thinking: 'I should read the file first.' }, text('Reading.'), call],
      stop_reason: 'tool_use',
    }
  },
}

describe('the official SDK', () => {
  it('[V45] creates, counts and lists over HTTP', async () => {
    const { client, log } = await serve()
    const message = await client().messages.create(ask)
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: PLAIN.content[0]?.['text'] }],
    })
    const { input_tokens } = await client().messages.countTokens({ model: ask.model, messages: ask.messages })
    expect(message.usage.input_tokens).toBe(input_tokens)
    const models = await client().models.list()
    expect(models.data.map((each) => each.id)).toContain('claude-fable-5-2')
    expect(await client().models.retrieve('claude-opus-5')).toMatchObject({ max_input_tokens: 1_000_000 })
    expect(log.requests.map((each) => [each.path, each.status])).toEqual([
      ['/v1/messages', 200],
      ['/v1/messages/count_tokens', 200],
      ['/v1/models', 200],
      ['/v1/models/claude-opus-5', 200],
    ])
  })

  it('[V46] a stream tells the same as a whole response, thinking, signature and call input included', async () => {
    const { client } = await serve({ answerer: toolUser })
    const body = {
      ...ask,
      tools: [READ],
      thinking: { type: 'adaptive' as const, display: 'summarized' as const },
    }
    const whole = await client().messages.create(body)
    const seen: string[] = []
    const stream = client().messages.stream(body)
    stream.on('streamEvent', (event) => {
      seen.push(event.type === 'content_block_delta' ? event.delta.type : event.type)
    })
    const final = await stream.finalMessage()
    const plain = (content: typeof whole.content) =>
      content.map((block) => (block.type === 'tool_use' ? { ...block, id: '' } : block))
    expect(plain(final.content)).toEqual(plain(whole.content))
    expect(final.usage).toMatchObject({
      input_tokens: whole.usage.input_tokens,
      output_tokens: whole.usage.output_tokens,
    })
    expect(final.stop_reason).toBe('tool_use')
    expect(seen.filter((each) => each === 'input_json_delta').length).toBeGreaterThan(2)
    expect(seen.filter((each) => each === 'thinking_delta').length).toBeGreaterThan(1)
    expect(seen.filter((each) => each === 'signature_delta')).toHaveLength(1)
    expect([seen[0], seen.at(-2), seen.at(-1)]).toEqual(['message_start', 'message_delta', 'message_stop'])
  })

  it('[V46] a tool loop goes through, with the reasoning sent back', async () => {
    const { client } = await serve({ answerer: toolUser })
    const body = { ...ask, model: 'claude-opus-5-5', tools: [READ] }
    const first = await client().messages.stream(body).finalMessage()
    const call = first.content.find((block) => block.type === 'tool_use')
    const second = await client().messages.create({
      ...body,
      messages: [
        ...ask.messages,
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'const a = 1' }],
        },
      ],
    })
    expect(second.content[0]).toMatchObject({ text: 'It says: "const a = 1"' })
  })

  it('[V47] refusals arrive as the SDK’s own errors, with the request id', async () => {
    const { client, url, log } = await serve({ keys: ['right'] })
    const good = { apiKey: 'right' }
    await expect(client().messages.create(ask)).rejects.toBeInstanceOf(AuthenticationError)
    await expect(client(good).messages.create({ ...ask, model: 'claude-none' })).rejects.toBeInstanceOf(
      NotFoundError,
    )
    const error = await client(good)
      .messages.create({ ...ask, messages: [] })
      .catch((each: unknown) => each)
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({
      status: 400,
      requestID: log.last()?.id,
      error: { error: { message: 'messages: at least one message is required' } },
    })
    const bare = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: '{',
      headers: { 'x-api-key': 'right', 'anthropic-version': '2026-10-21' },
    })
    expect(bare.status).toBe(400)
    const versionless = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: '{}',
      headers: { authorization: 'Bearer right' },
    })
    expect(await versionless.json()).toMatchObject({
      error: { message: 'anthropic-version: header is required' },
    })
  })

  it('[V48] 429 and 529 are retried by the client, after the time the server names', async () => {
    const arrivals: number[] = []
    const arrives = (): boolean => arrivals.push(performance.now()) === 0
    const { client, log } = await serve({
      faults: [
        { at: arrives, fault: { kind: 'hang' } },
        { at: 1, fault: { kind: 'status', status: 429, retryAfterSeconds: 1 } },
        { at: 2, fault: { kind: 'status', status: 529 } },
      ],
    })
    const message = await client({ maxRetries: 3 }).messages.create(ask)
    // The client's own first wait would be half a second.
    expect((arrivals[1] ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(950)
    expect(message.stop_reason).toBe('end_turn')
    expect(log.requests.map((each) => each.status)).toEqual([429, 529, 200])
    expect(log.requests.map((each) => each.headers['x-stainless-retry-count'])).toEqual(['0', '1', '2'])
  })

  it('[V48] other status faults reach the client unretried', async () => {
    const { client, simulator } = await serve()
    simulator.faults.add({ at: () => true, times: 1, fault: { kind: 'status', status: 500 } })
    await expect(client().messages.create(ask)).rejects.toMatchObject({ status: 500 })
    simulator.faults.add({
      at: ({ headers }) => headers['x-test'] === 'large',
      fault: { kind: 'status', status: 413 },
    })
    await expect(client().messages.create(ask, { headers: { 'x-test': 'large' } })).rejects.toMatchObject({
      status: 413,
    })
    expect((await client().messages.create(ask)).type).toBe('message')
  })

  it('[V49] an abort ends the stream and the simulator notices', async () => {
    const { client, log } = await serve({
      eventDelayMs: 5,
      answerer: { answer: () => said(text('word '.repeat(400))) },
    })
    const stream = client().messages.stream(ask)
    stream.on('text', () => stream.abort())
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(APIUserAbortError)
    const after = await client().messages.create({ ...ask, max_tokens: 5 })
    expect(after.stop_reason).toBe('max_tokens')
    expect(log.requests[0]).toMatchObject({ status: 200, endedAt: null })
  })

  it('[V31] usage over HTTP follows the clock of the test', async () => {
    const { client, clock, log } = await serve()
    const body = {
      ...ask,
      system: [{ type: 'text' as const, text: LONG, cache_control: { type: 'ephemeral' as const } }],
    }
    const read = async () => {
      const { usage } = await client().messages.create(body, { headers: { 'x-palimpsest-source': 'main' } })
      return [usage.cache_creation_input_tokens, usage.cache_read_input_tokens]
    }
    const [written] = await read()
    expect(written).toBeGreaterThan(1000)
    clock.advance(299_000)
    expect(await read()).toEqual([0, written])
    clock.advance(300_000)
    expect(await read()).toEqual([written, 0])
    expect(log.bySource('main').map((each) => each.prompt?.hit?.endTokens ?? null)).toEqual([
      null,
      written,
      null,
    ])
    expect(log.last()?.prompt?.breakpoints).toEqual([{ level: 'system', endTokens: written, lifetime: '5m' }])
  })

  it('[V32] parallel cold requests all miss, one that comes after the first byte hits', async () => {
    const gate: { open?: (answer: Answer) => void } = {}
    const opened = new Promise<Answer>((resolve) => {
      gate.open = resolve
    })
    const answer = ({ turn }: AnswerContext) => {
      if (turn === 2) gate.open?.(PLAIN)
      return turn <= 2 ? opened : PLAIN
    }
    const { client } = await serve({ answerer: { answer } })
    const system = [{ type: 'text' as const, text: LONG, cache_control: { type: 'ephemeral' as const } }]
    const body = { ...ask, system }
    const pair = [client().messages.create(body), client().messages.create(body)]
    const cold = await Promise.all(pair)
    expect(cold.map((each) => each.usage.cache_read_input_tokens)).toEqual([0, 0])
    expect((await client().messages.create(body)).usage.cache_read_input_tokens).toBeGreaterThan(1000)
  })
})

describe('faults of the stream', () => {
  const streamed = async (fault: NonNullable<SimulatorOptions['faults']>[number]['fault']) => {
    const served = await serve({ faults: [{ at: 1, fault }] })
    const seen: string[] = []
    const stream = served.client().messages.stream(ask)
    stream.on('streamEvent', (event) => {
      seen.push(event.type)
    })
    const outcome = await stream.finalMessage().then(
      () => 'complete',
      (error: unknown) => (error instanceof Error ? error : String(error)),
    )
    return { outcome, seen, log: served.log }
  }

  it('[V50] a connection is reset before or after the headers, and nothing is written', async () => {
    for (const when of ['before-headers', 'after-headers'] as const) {
      const { outcome, seen, log } = await streamed({ kind: 'reset', when })
      expect(outcome).toBeInstanceOf(Error)
      expect(seen).toEqual([])
      expect(log.last()).toMatchObject({ fault: 'reset', usage: null, endedAt: null })
    }
  })

  it('[V50] a stream is cut after as many events as were asked for', async () => {
    const { outcome, seen } = await streamed({ kind: 'cut', afterEvents: 4 })
    expect(outcome).toBeInstanceOf(Error)
    expect(seen).toEqual(['message_start', 'content_block_start', 'content_block_delta'])
    const clean = await streamed({ kind: 'cut', afterEvents: 4, clean: true })
    expect(clean.outcome).toBeInstanceOf(Error)
    expect(clean.seen).toHaveLength(3)
  })

  it('[V50] an error event ends the stream', async () => {
    const { outcome, log } = await streamed({ kind: 'stream-error', afterEvents: 3 })
    expect(outcome).toMatchObject({ error: { error: { type: 'overloaded_error', message: 'Overloaded' } } })
    expect(log.last()).toMatchObject({ status: 200, endedAt: null })
  })

  it('[V50] a malformed frame breaks the client, a slow stream does not', async () => {
    const malformed = await streamed({ kind: 'malformed', afterEvents: 3 })
    expect(malformed.outcome).toBeInstanceOf(Error)
    const before = performance.now()
    const slow = await streamed({ kind: 'slow', delayMs: 10 })
    expect(slow.outcome).toBe('complete')
    // A timer may be early by a part of a millisecond.
    expect(performance.now() - before).toBeGreaterThan(9 * slow.seen.length)
  })

  it('[V50] a hanging request ends when the client gives up', async () => {
    const { client, log } = await serve({ faults: [{ at: 1, fault: { kind: 'hang' } }] })
    const abort = new AbortController()
    const asked = client().messages.create(ask, { signal: abort.signal })
    const ended = expect(asked).rejects.toBeInstanceOf(APIUserAbortError)
    await vi.waitUntil(() => log.requests.length === 1, { timeout: 120_000 })
    abort.abort()
    await ended
    expect(log.last()).toMatchObject({ fault: 'hang', status: null })
  })

  it('[V50] whole responses are spoiled too', async () => {
    const { client, simulator } = await serve()
    for (const fault of [
      { kind: 'cut', afterEvents: 0 },
      { kind: 'malformed', afterEvents: 0 },
    ] as const) {
      simulator.faults.add({ at: () => true, times: 1, fault })
      await expect(client().messages.create(ask)).rejects.toThrow()
    }
    expect((await client().messages.create(ask)).type).toBe('message')
  })
})

describe('limits', () => {
  it('[V51] a body above 32 MB is refused by the edge, without a request id', async () => {
    const { url } = await serve()
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k' },
      body: 'x'.repeat(32 * 1024 * 1024 + 1),
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({
      error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
    })
  })

  it('[V51] rate-limit headers count what was spent this minute, cache reads apart', async () => {
    const { client, clock } = await serve()
    const remaining = async () => {
      const { response } = await client().messages.create(ask).withResponse()
      return [
        response.headers.get('anthropic-ratelimit-requests-remaining'),
        response.headers.get('anthropic-ratelimit-input-tokens-remaining'),
      ].map(Number)
    }
    const first = await remaining()
    const second = await remaining()
    expect((first[0] ?? 0) - (second[0] ?? 0)).toBe(1)
    expect(first[1]).toBeGreaterThan(second[1] ?? 0)
    clock.advance(60_000)
    expect(await remaining()).toEqual(first)
  })

  it('[V52] a failing answerer is the caller’s to hear of', async () => {
    const { client } = await serve({
      answerer: { answer: () => Promise.reject(new Error('script ran out')) },
    })
    await expect(client().messages.create(ask)).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('script ran out'),
    })
  })

  it('[V52] the log is bounded, keeps no keys and only the newest bodies', async () => {
    const { client, log } = await serve({ log: { requests: 3, bodies: 1 } })
    for (let count = 0; count < 5; count += 1) await client().messages.create(ask)
    expect(log.requests.map((each) => each.body !== null)).toEqual([false, false, true])
    expect(log.forgotten).toBe(2)
    expect(JSON.stringify(log.requests)).not.toContain('test-key')
    expect(log.last()?.bytes).toBe(JSON.stringify(ask).length)
  })

  it('[V52] stopping lets a running stream end', async () => {
    const { client, simulator } = await serve({ eventDelayMs: 2 })
    const stream = client().messages.stream(ask)
    await new Promise((resolve) => stream.once('text', resolve))
    const [message] = await Promise.all([stream.finalMessage(), simulator.stop()])
    expect(message.stop_reason).toBe('end_turn')
    await expect(fetch(client().baseURL)).rejects.toThrow()
  })
})

describe('another client: the AI SDK', () => {
  const provider = (url: string) => createAnthropic({ apiKey: 'test-key', baseURL: `${url}/v1` })
  const read = tool({
    description: 'Reads a file.',
    inputSchema: jsonSchema<{ path: string }>(READ.input_schema),
    execute: ({ path }) => `contents of ${path}`,
  })

  it('[V53] generates text with a tool loop', async () => {
    const { url, log } = await serve({ answerer: toolUser })
    const { text: words, steps } = await generateText({
      model: provider(url)('claude-sonnet-4-5'),
      prompt: 'read it',
      tools: { read },
      stopWhen: ({ steps: done }) => done.length >= 3,
    })
    expect(words).toContain('contents of src/a.ts')
    expect(steps).toHaveLength(2)
    expect(log.requests.map((each) => each.error)).toEqual([null, null])
  })

  it('[V53] streams text and sees its own cache marks', async () => {
    const { url } = await serve()
    const system = {
      role: 'system' as const,
      content: LONG.repeat(3),
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    }
    const run = async () => {
      const result = streamText({
        model: provider(url)('claude-sonnet-4-5'),
        instructions: system,
        prompt: 'hi',
      })
      const words = await result.text
      return { words, details: (await result.usage).inputTokenDetails }
    }
    const first = await run()
    const second = await run()
    expect(first.words).toBe(PLAIN.content[0]?.['text'])
    expect(first.details.cacheWriteTokens).toBeGreaterThan(1024)
    expect(second.details.cacheReadTokens).toBe(first.details.cacheWriteTokens)
  })
})
