// The adapter over real HTTP, against a server that misbehaves as servers do.
import { getEventListeners } from 'node:events'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  block,
  call,
  hello,
  open,
  overloaded,
  pause,
  serve,
  sse,
  start,
  stop,
  text,
  type Event,
} from '../../../test/stream-server.ts'
import { anthropicModel, type AnthropicOptions } from './adapter.ts'
import type { ModelEvent, ModelMessage, ModelRequest } from '../../model/model.ts'
import { until } from '../../../test/until.ts'

afterEach(() => void vi.unstubAllEnvs())

const quick = { retryBaseMs: 5, retryMaxMs: 20, drainMs: 50 }
const request: ModelRequest = { model: 'claude-opus-5', body: '{"stream":true}', betas: [], source: 'main' }
const modelAt = (url: string, options: Partial<AnthropicOptions> = {}) =>
  anthropicModel({
    apiKey: 'key',
    baseUrl: url,
    clock: { now: () => 0 },
    random: () => 0,
    settings: quick,
    ...options,
  })

async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = []
  for await (const event of events) all.push(event)
  return all
}
const ask = (url: string, options?: Partial<AnthropicOptions>, body = request): Promise<ModelEvent[]> =>
  collect(modelAt(url, options).stream(body, new AbortController().signal))
const typesOf = (events: readonly ModelEvent[]): string[] => events.map((event) => event.type)
function endOf(events: readonly ModelEvent[]): ModelMessage {
  const last = events.at(-1)
  if (last?.type !== 'end') throw new Error(`no end: ${JSON.stringify(last)}`)
  return last.message
}

const failureIn = (events: readonly ModelEvent[]): string | null =>
  events.flatMap((event) => (event.type === 'failed' ? [event.failure.message] : [])).at(-1) ?? null

describe('what is sent', () => {
  it('[D12] the body goes out byte for byte, whatever it looks like', async () => {
    const { url, asked } = await serve((response) => void open(response).end(hello))
    const body = `{ "b":1,\n "a" : "${'日本 🦊 \\u00e9 '.repeat(20_000)}", "stream":true }`
    await ask(url, {}, { ...request, body })
    expect(asked[0]?.bytes.equals(Buffer.from(body))).toBe(true)
  })

  it('[D12] headers are the official ones, with the betas asked for', async () => {
    const { url, asked } = await serve((response) => void open(response).end(hello))
    await ask(url, {}, { ...request, betas: ['context-management-2025-06-27', 'x-1'] })
    await ask(url, { apiKey: undefined, authToken: 'token' })
    expect(asked[0]).toMatchObject({ url: '/v1/messages' })
    expect(asked[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-management-2025-06-27,x-1',
      authorization: 'Bearer key',
      'x-palimpsest-source': 'main',
    })
    expect(asked[1]?.headers['authorization']).toBe('Bearer token')
    expect(asked[1]?.headers['anthropic-beta']).toBeUndefined()
  })

  it('[N1] neither key nor address is taken from the environment', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'from-the-environment')
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:1')
    const called: string[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const url = input instanceof Request ? input.url : input.toString()
      called.push(`${url} ${new Headers(init?.headers).get('authorization')}`)
      return new Response(hello, { headers: { 'content-type': 'text/event-stream' } })
    }
    const missing = await ask('', { apiKey: undefined, baseUrl: undefined, fetch })
    expect(missing).toMatchObject([{ type: 'failed', failure: { code: 'unauthorized' }, partial: null }])
    expect(failureIn(missing)).toBe('no key was given; pass `apiKey` or `authToken` to anthropicModel')
    expect(failureIn(await ask('', { baseUrl: 'api.host', fetch }))).toBe(
      'the base URL "api.host" is no address; write it as https://HOST',
    )
    endOf(await ask('', { baseUrl: undefined, fetch }))
    expect(called).toEqual(['https://api.anthropic.com/v1/messages Bearer key'])
  })

  it('[N1] what cannot be reached is said by what stands behind it, without what says nothing', async () => {
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:9')
    const fetch = (): Promise<never> => Promise.reject(new TypeError('fetch failed', { cause }))
    expect(failureIn(await ask('http://127.0.0.1:9', { fetch, settings: { maxRetries: 0 } }))).toBe(
      cause.message,
    )
  })

  it('[D13] connections are used again', async () => {
    const { url, asked } = await serve((response) => void open(response).end(hello))
    const model = modelAt(url)
    for (let turn = 0; turn < 6; turn++)
      endOf(await collect(model.stream(request, new AbortController().signal)))
    // Two, not one: the platform's fetch frees a connection a moment after the body has ended.
    expect(new Set(asked.map((one) => one.socket)).size).toBeLessThanOrEqual(2)
  })
})

describe('what is read', () => {
  const rich: Event[] = [
    start,
    { type: 'ping' },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Ich überlege' },
      { type: 'signature_delta', signature: 'EqQB' },
      { type: 'signature_delta', signature: '==' },
    ),
    ...block(1, { type: 'redacted_thinking', data: 'opaque' }),
    ...text(2, 'Grüße 🦊', '日本', '\n\nevent: x\ndata: y'),
    { type: 'something_new', index: 2, hint: true },
    ...block(
      3,
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'input_json_delta', partial_json: '{"query":' },
      { type: 'input_json_delta', partial_json: '"x"}' },
    ),
    ...block(
      4,
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ a: 1 }] },
      { type: 'unknown_delta', x: 1 },
    ),
    ...call(5, 'toolu_1', '{"pa', 'th":"ä.ts"}'),
    ...call(6, 'toolu_2'),
    ...stop('tool_use', {
      context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 8 }] },
      input_transformations: [{ type: 'thinking_dropped', path: 'messages.1.content.0' }],
    }),
  ]
  const expected: ModelMessage = {
    messageId: 'msg_1',
    model: 'claude-opus-5',
    content: [
      { type: 'thinking', thinking: 'Ich überlege', signature: 'EqQB==' },
      { type: 'redacted_thinking', data: 'opaque' },
      { type: 'text', text: 'Grüße 🦊日本\n\nevent: x\ndata: y' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ a: 1 }] },
      { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'ä.ts' }, caller: { type: 'direct' } },
      { type: 'tool_use', id: 'toolu_2', name: 'read', input: {}, caller: { type: 'direct' } },
    ] as ModelMessage['content'],
    stop: 'tool_use',
    usage: { input: 21, cacheRead: 20_480, cacheWrite: 188, cacheWrite1h: 88, output: 89 },
    appliedEdits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 8 }],
    inputTransformations: [{ type: 'thinking_dropped', path: 'messages.1.content.0' }],
    diagnostics: { cache_miss_reason: null },
  }

  it('[D14] all of a message arrives, in whatever pieces the bytes come', async () => {
    const pieces: Buffer[][] = []
    const { url } = await serve(async (response, _asked, turn) => {
      open(response)
      for (const piece of pieces[turn - 1] ?? []) {
        response.write(piece)
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
    const model = modelAt(url)
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 4000 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(
        cuts,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        async (at, newline, commented) => {
          const bytes = Buffer.from((commented ? `: hi${newline}${newline}` : '') + sse(rich, newline))
          const edges = [0, ...at.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
          pieces.push(edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge)))
          const events = await collect(model.stream(request, new AbortController().signal))
          expect(endOf(events)).toEqual(expected)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('[D14] a byte at a time is as good', async () => {
    const { url } = await serve(async (response) => {
      open(response)
      for (const byte of Buffer.from(sse(rich, '\r\n'))) response.write(Buffer.from([byte]))
      response.end()
    })
    expect(endOf(await ask(url))).toEqual(expected)
  })

  it('[D14] live events tell it as it comes', async () => {
    const { url } = await serve(
      (response) =>
        void open(response).end(
          sse([start, ...text(0, 'a', 'b'), ...call(1, 'c1', '{', '}'), ...stop('tool_use')]),
        ),
    )
    const events = await ask(url)
    expect(events.slice(0, -1)).toEqual([
      {
        type: 'start',
        messageId: 'msg_1',
        model: 'claude-opus-5',
        usage: { input: 21, cacheRead: 20_480, cacheWrite: 188, cacheWrite1h: 88, output: 1 },
      },
      { type: 'text-delta', text: 'a' },
      { type: 'text-delta', text: 'b' },
      { type: 'call-start', id: 'c1', name: 'read' },
      { type: 'call-delta', id: 'c1', json: '{' },
      { type: 'call-delta', id: 'c1', json: '}' },
    ])
  })

  it('[D15] arguments that cannot be read are kept as they came, and the call is marked', async () => {
    const bad = [
      start,
      ...call(0, 'c1', '{"path":"a'),
      ...call(1, 'c2', '[1]'),
      ...call(2, 'c3', '{"ok":1}'),
      ...stop('max_tokens'),
    ]
    const { url } = await serve((response) => void open(response).end(sse(bad)))
    expect(endOf(await ask(url)).content).toMatchObject([
      { id: 'c1', input: {}, broken: '{"path":"a' },
      { id: 'c2', input: {}, broken: '[1]' },
      { id: 'c3', input: { ok: 1 } },
    ])
  })

  it('[D14] names of events are a hint, strange events pass by, and a missing last word is forgiven', async () => {
    const odd = `data: ${JSON.stringify(start)}\n\nevent: vendor\ndata: not json\n\ndata: [DONE]\n\nid: 7\nretry: 10\n\n`
    const rest = sse([...text(0, 'ok'), ...stop('end_turn')].slice(0, -1))
    const { url } = await serve((response) => void open(response).end(odd + rest))
    expect(endOf(await ask(url)).content).toEqual([{ type: 'text', text: 'ok' }])
  })

  it('[D13] a server that does not hang up after the last word is not waited for', async () => {
    const { url } = await serve((response) => void open(response).write(hello))
    endOf(await ask(url, { settings: { ...quick, idleMs: 60_000 } }))
  })
})

describe('what goes wrong', () => {
  it('[D8] passing failures are announced, waited for and tried again', async () => {
    const { url, asked } = await serve((response, _asked, turn) => {
      if (turn === 1)
        response
          .writeHead(429, { 'retry-after-ms': '7' })
          .end('{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}')
      else if (turn === 2) response.writeHead(529).end(JSON.stringify(overloaded))
      else if (turn === 3) response.destroy()
      else if (turn === 4) void open(response).end(sse([start, overloaded]))
      else if (turn === 5) void open(response).end(sse([start]))
      else void open(response).end(hello)
    })
    const events = await ask(url)
    expect(endOf(events).content).toEqual([{ type: 'text', text: 'Hello' }])
    expect(events.filter((event) => event.type === 'retry')).toMatchObject([
      { attempt: 2, waitMs: 7, failure: { code: 'rate-limited', status: 429, retryAfterMs: 7 } },
      { attempt: 3, waitMs: 10, failure: { code: 'overloaded', status: 529 } },
      { attempt: 4, waitMs: 20, failure: { code: 'network', status: null } },
      { attempt: 5, waitMs: 20, failure: { code: 'overloaded', status: null } },
      { attempt: 6, waitMs: 20, failure: { code: 'cut-short', status: null } },
    ])
    expect(asked).toHaveLength(6)
    expect(asked.every((one) => one.bytes.equals(asked[0]?.bytes ?? Buffer.alloc(0)))).toBe(true)
  })

  it('[D8] trying ends, and what it ended with is told', async () => {
    const { url, asked } = await serve((response) => void response.writeHead(500).end('oops'))
    const events = await ask(url, { settings: { ...quick, maxRetries: 2 } })
    expect(typesOf(events)).toEqual(['retry', 'retry', 'failed'])
    expect(events.at(-1)).toMatchObject({
      failure: { code: 'server', message: 'oops', status: 500 },
      partial: null,
    })
    expect(asked).toHaveLength(3)
  })

  it.each([
    [
      400,
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}',
      { code: 'overflow', overflow: { promptTokens: 213_462, limitTokens: 200_000 } },
    ],
    [
      413,
      '{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
      { code: 'too-large' },
    ],
    [
      401,
      '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
      { code: 'unauthorized', message: 'invalid x-api-key' },
    ],
    [404, '', { code: 'invalid', status: 404 }],
    [
      200,
      '{"id":"msg_1","type":"message","content":[]}',
      { code: 'invalid', message: 'the answer is not an event stream' },
    ],
    [
      200,
      '{"type":"error","error":{"type":"invalid_request_error","message":"no"}}',
      { code: 'invalid', message: 'no' },
    ],
  ])('[D8] %s %s is final', async (status, text, failure) => {
    const { url, asked } = await serve(
      (response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(text),
    )
    expect(await ask(url)).toMatchObject([{ type: 'failed', failure, partial: null }])
    expect(asked).toHaveLength(1)
  })

  it('[D8] a wait that is too long is left to the caller', async () => {
    const { url, asked } = await serve(
      (response) => void response.writeHead(429, { 'retry-after': '3600' }).end(),
    )
    expect(await ask(url)).toMatchObject([
      { type: 'failed', failure: { code: 'rate-limited', retryAfterMs: 3_600_000 } },
    ])
    expect(asked).toHaveLength(1)
  })

  it('[D16] after content nothing is tried again: the failure comes with what there was', async () => {
    const begun = sse([start, ...text(0, 'Hel'), ...call(1, 'c1', '{"a":1}').slice(0, -1)])
    const { url, asked } = await serve((response, _asked, turn) => {
      open(response).write(begun)
      if (turn === 1) response.end()
      if (turn === 2) setTimeout(() => response.destroy(), 20)
      if (turn === 3) response.end(sse([overloaded]))
      if (turn === 4) response.end('event: content_block_stop\ndata: {"type":\n\n')
    })
    for (const code of ['cut-short', 'cut-short', 'overloaded', 'cut-short']) {
      const events = await ask(url)
      expect(events.at(-1)).toMatchObject({
        type: 'failed',
        failure: { code },
        partial: { stop: null, content: [{ text: 'Hel' }, { id: 'c1', input: {}, broken: '{"a":1}' }] },
      })
      expect(typesOf(events)).not.toContain('retry')
    }
    expect(asked).toHaveLength(4)
  })

  it('[D17] silence ends an attempt, a byte that says nothing keeps it alive', async () => {
    const { url, asked } = await serve(async (response, _asked, turn) => {
      if (turn === 1) return
      open(response).write(sse([start]))
      if (turn === 2) return
      for (let beat = 0; beat < 15; beat++) {
        await pause(100)
        response.write(':\n')
      }
      response.end(sse([...text(0, 'late'), ...stop('end_turn')]))
    })
    const events = await ask(url, { settings: { ...quick, idleMs: 1000 } })
    expect(endOf(events).content).toEqual([{ type: 'text', text: 'late' }])
    expect(events.filter((event) => event.type === 'retry')).toMatchObject([
      { failure: { code: 'network', message: 'nothing came for too long' } },
      { failure: { code: 'cut-short', message: 'nothing came for too long' } },
    ])
    expect(asked).toHaveLength(3)
  })

  it('[D17] a process that was held up reads what came meanwhile before it takes it for silence', async () => {
    const idleMs = 300
    const { url, asked } = await serve(async (response) => {
      open(response).write(sse([start]))
      await pause(20)
      response.write(':\n')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * idleMs)
      await pause(20)
      response.end(sse([...text(0, 'there'), ...stop('end_turn')]))
    })
    const events = await ask(url, { settings: { ...quick, idleMs } })
    expect(endOf(events).content).toEqual([{ type: 'text', text: 'there' }])
    expect(asked).toHaveLength(1)
  })

  it('[D17] a caller that takes its time is not silence', async () => {
    const idleMs = 500
    let isEnded = false
    const { url } = await serve(async (response) => {
      open(response).write(sse([start, ...text(0, 'a')]))
      await pause(2 * idleMs)
      response.end(sse(stop('end_turn')))
      isEnded = true
    })
    const events: ModelEvent[] = []
    const model = modelAt(url, { settings: { ...quick, idleMs } })
    for await (const event of model.stream(request, new AbortController().signal)) {
      events.push(event)
      if (event.type === 'text-delta') await until(() => isEnded, 'the rest to be sent')
    }
    endOf(events)
  })

  it('[E1] an abort is an outcome: before, while streaming with what there was, and while waiting', async () => {
    const { url, asked } = await serve((response, _asked, turn) => {
      if (turn === 1) open(response).write(sse([start, ...text(0, 'Hel')]))
      else response.writeHead(529, { 'retry-after': '60' }).end()
    })
    const model = modelAt(url)
    const before = await collect(model.stream(request, AbortSignal.abort()))
    expect(before).toMatchObject([{ type: 'failed', failure: { code: 'aborted' }, partial: null }])
    for (const [at, partial] of [
      ['text-delta', { content: [{ text: 'Hel' }] }],
      ['retry', null],
    ] as const) {
      const controller = new AbortController()
      const events: ModelEvent[] = []
      for await (const event of model.stream(request, controller.signal)) {
        events.push(event)
        if (event.type === at) controller.abort()
      }
      expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { code: 'aborted' }, partial })
      expect(typesOf(events).filter((type) => type === 'failed')).toHaveLength(1)
    }
    expect(asked).toHaveLength(2)
  })

  it('[E1] who stops listening closes the connection', async () => {
    const { url, asked } = await serve(
      (response) => void open(response).write(sse([start, ...text(0, 'Hel')])),
    )
    for await (const event of modelAt(url).stream(request, new AbortController().signal)) {
      if (event.type === 'text-delta') break
    }
    await until(() => asked[0]?.socket.destroyed === true, 'the connection to be closed')
  })

  it('[E1] nothing is left hanging on the signal of the caller', async () => {
    const { url } = await serve((response, _asked, turn) =>
      turn % 2 === 0 ? void open(response).end(hello) : void response.writeHead(500).end(),
    )
    const { signal } = new AbortController()
    const model = modelAt(url)
    for (let turn = 0; turn < 3; turn++) endOf(await collect(model.stream(request, signal)))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('[E1] an address where nobody listens, and one that is none, are failures', async () => {
    const nobody = await ask('http://127.0.0.1:1', { settings: { ...quick, maxRetries: 1 } })
    expect(typesOf(nobody)).toEqual(['retry', 'failed'])
    expect(nobody.at(-1)).toMatchObject({ failure: { code: 'network' } })
    expect(await ask('not a url')).toMatchObject([{ type: 'failed', failure: { code: 'invalid' } }])
  })
})
