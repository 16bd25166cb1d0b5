// What a client must be able to rely on, row by row: how the gateway fails open, what a long silence and a large body do, and
// that it works by content alone. docs/gateway-checks.md says which test shows what.
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { Tenants } from '../../src/gateway/index.ts'
import { defaults } from '../../src/settings/defaults.ts'
import {
  call,
  createManualClock,
  createSimulator,
  dialectModels,
  text,
  thinking,
} from '../../src/simulator/index.ts'
import { join } from 'node:path'
import { systemClock } from '../../src/transcript/ids.ts'
import { hookedFileSystem, systemError } from '../faults/hooked-fs.ts'
import { until } from '../until.ts'
import {
  answers,
  asking,
  calls,
  gives,
  messageOf,
  replies,
  says,
  startUpstream,
  type Upstream,
} from './upstream.ts'
import { lines, newWorld, runAgent, send, type World } from './world.ts'

let world: World
const running: { stop(): Promise<unknown> }[] = []
beforeEach(() => {
  world = newWorld()
})
afterEach(async () => {
  vi.useRealTimers()
  await world.end()
  for (const each of running.splice(0)) await each.stop()
})
async function upstream(handler: Parameters<typeof startUpstream>[0]): Promise<Upstream> {
  const made = await startUpstream(handler)
  running.push(made)
  return made
}
const refusal = (message: string): string =>
  JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } })
const large = asking([says('go'), calls('a'), gives('a', lines(40_000, 1))])
const digestOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe('failing open', () => {
  it('[GW1] what is no JSON, says another content type or speaks no known wire is forwarded as it came, at every level', async () => {
    const behind = await upstream((_asked, response) => answers(response, messageOf('ok')))
    const { url } = await world.gateway(behind.url, { level: 'compact' })
    const sent: readonly (readonly [path: string, body: string, type: string])[] = [
      ['/v1/messages', 'no json at all', 'application/json'],
      ['/v1/messages', large, 'text/plain'],
      ['/v1/embeddings', large, 'application/json'],
      ['/v1/messages', '{"messages":[{"role":"user"', 'application/json'],
    ]
    for (const [path, body, type] of sent) await send(url + path, body, { 'content-type': type })
    expect(behind.got.map(({ body }) => body)).toEqual(sent.map(([, body]) => body))
  })

  it('[GW6] a refusal of both is told as that of the original, and the session is not given up', async () => {
    const behind = await upstream(({ body }, response) =>
      answers(response, refusal(body.includes('left out here') ? 'edited' : 'original'), 400),
    )
    const { url } = await world.gateway(behind.url)
    for (let round = 1; round <= 2; round++) {
      const reply = await send(`${url}/v1/messages`, large)
      expect(reply).toMatchObject({ status: 400, body: refusal('original') })
      expect(behind.got.map(({ body }) => body === large)).toEqual(
        Array.from({ length: 2 * round }, (_, at) => at % 2 === 1),
      )
    }
  })

  it('[GW6] nothing but a 400 is tried again with the original', async () => {
    const statuses = [401, 403, 413, 429, 500, 503, 529]
    const behind = await upstream(({ number }, response) =>
      answers(response, refusal(`no ${number}`), statuses[number - 1]),
    )
    const { url } = await world.gateway(behind.url)
    for (const [at, status] of statuses.entries()) {
      const reply = await send(`${url}/v1/messages`, large)
      expect(reply).toMatchObject({ status, body: refusal(`no ${at + 1}`) })
    }
    expect(behind.got).toHaveLength(statuses.length)
    for (const { body } of behind.got) expect(body).toBe(behind.got[0]!.body)
  })

  it('[GW13] on a disk that is full what was shortened stays so, nothing further is, and it is said', async () => {
    const behind = await upstream((_asked, response) => answers(response, messageOf('ok')))
    let isFull = false
    const fs = hookedFileSystem(machineFileSystem, {
      before: ({ name }) => {
        if (isFull && (name === 'write' || name === 'open-create')) throw systemError('ENOSPC')
      },
    })
    const { url } = await world.gateway(behind.url, {
      tenants: new Tenants(fs, join(world.folder, 'gateway'), systemClock),
    })
    const list = [says('go'), calls('a'), gives('a', lines(40_000, 1))]
    await send(`${url}/v1/messages`, asking(list))
    isFull = true
    list.push(calls('b'), gives('b', lines(40_000, 2)))
    const reply = await send(`${url}/v1/messages`, asking(list))
    expect(reply.status).toBe(200)
    expect(reply.headers['x-palimpsest']).toMatch(/^unchanged; why=.*(?:ENOSPC|full|space)/iu)
    const [before, after] = behind.got.map(({ body }) => body)
    // Up to the end of the first result byte for byte the same, and the second whole.
    expect(after!.startsWith(before!.slice(0, -2))).toBe(true)
    expect(after).toContain('line 500 of result 2')
    isFull = false
    await send(`${url}/v1/messages`, asking([...list, calls('c'), gives('c', lines(40_000, 3))]))
    expect(behind.got[2]!.body).not.toContain('line 500 of result 3')
    expect(behind.got[2]!.body).toContain('line 500 of result 2')
  })

  it('[GW4] what one gateway has decided holds for every other on the same folder, whatever its own limits are', async () => {
    const behind = await upstream((_asked, response) => answers(response, messageOf('ok')))
    const first = await world.gateway(behind.url)
    const other = await world.gateway(behind.url, {
      limits: { ...defaults.gateway, resultChars: 4000, headChars: 100, tailChars: 100 },
    })
    await send(`${first.url}/v1/messages`, large)
    await send(`${other.url}/v1/messages`, large)
    expect(behind.got[1]!.body).toBe(behind.got[0]!.body)
  })

  it('[GW18] a client that has the server clear or compact is trimmed at most, also where it is refused for its length', async () => {
    const behind = await upstream((_asked, response) =>
      answers(response, refusal('prompt is too long: 250000 tokens > 200000 maximum'), 400),
    )
    const { url } = await world.gateway(behind.url, { level: 'compact' })
    const turns = Array.from({ length: 12 }, (_, at) => [calls(`c${at}`), gives(`c${at}`, lines(9000, at))])
    const list = [says('go'), ...turns.flat(), replies('so'), says('on')]
    const own = { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }
    expect((await send(`${url}/v1/messages`, asking(list, own))).status).toBe(400)
    expect(behind.got).toHaveLength(1)
    await send(`${url}/v1/messages`, asking(list))
    expect(behind.got).toHaveLength(3)
    expect(behind.got[2]!.body.length).toBeLessThan(behind.got[1]!.body.length / 2)
  })

  it('[GW33] a compaction that would part a result from its call is not made', async () => {
    const error = { code: 'context_length_exceeded', message: 'Your input exceeds the context window' }
    const behind = await upstream((_asked, response) => answers(response, JSON.stringify({ error }), 400))
    const { url } = await world.gateway(behind.url, { level: 'compact' })
    const said = (text: string): object => ({ type: 'message', role: 'user', content: text })
    const rounds = Array.from({ length: 20 }, (_, at) => [
      { type: 'function_call', call_id: `c${at}`, name: 't', arguments: '{}' },
      { type: 'function_call_output', call_id: `c${at}`, output: lines(9000, at) },
    ]).flat()
    const tools = [{ type: 'function', name: 't', parameters: { type: 'object' }, strict: false }]
    const ask = (input: readonly object[]): Promise<unknown> =>
      send(`${url}/v1/responses`, JSON.stringify({ model: 'gpt-6.1-sol', tools, input }))
    const late = { call_id: 'late' }
    await ask([
      said('go'),
      { type: 'function_call', name: 't', arguments: '{}', ...late },
      ...rounds,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] },
      { type: 'function_call_output', output: 'at last', ...late },
      said('on'),
    ])
    expect(behind.got).toHaveLength(1)
    await ask([said('go'), ...rounds, said('on')])
    expect(behind.got).toHaveLength(3)
    expect(behind.got[2]!.body.length).toBeLessThan(behind.got[1]!.body.length / 2)
  })

  it('[GW12] a redirect is the client’s to follow: nothing is sent anywhere else', async () => {
    const elsewhere = await upstream((_asked, response) => answers(response, messageOf('no')))
    const behind = await upstream((_asked, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/messages` }).end()
    })
    const { url } = await world.gateway(behind.url)
    const reply = await send(`${url}/v1/messages`, large)
    expect([reply.status, reply.headers.location]).toEqual([307, `${elsewhere.url}/v1/messages`])
    expect((await send(`${url}/v1/models?limit=1000`, '', {}, 'GET')).status).toBe(307)
    expect(elsewhere.got).toEqual([])
  })
})

describe('large and slow', () => {
  it('[GW13] G9: a body of 33 MB is forwarded unread, byte for byte', async () => {
    const behind = await upstream((_asked, response) => answers(response, messageOf('ok')))
    const { url } = await world.gateway(behind.url)
    const body = asking([says('go'), calls('a'), gives('a', 'x'.repeat(33 * 1024 * 1024))])
    const reply = await send(`${url}/v1/messages`, body)
    expect(reply.status).toBe(200)
    expect(reply.headers['x-palimpsest']).toContain('too large')
    expect(digestOf(behind.got[0]!.body)).toBe(digestOf(body))
  })

  it('[GW22] G9: in 200 s of silence a stream is told to live every 15 s, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const event = 'event: message_start\ndata: {"type":"message_start"}\n\n'
    let end = (): void => undefined
    const behind = await upstream((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event)
      end = () => response.end('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    })
    const { url } = await world.gateway(behind.url)
    let heard = ''
    const reply = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: large,
      headers: { 'content-type': 'application/json', 'x-api-key': 'k' },
    })
    const over = (async () => {
      for await (const bytes of reply.body!) heard += Buffer.from(bytes as Uint8Array).toString()
    })()
    await until(() => heard === event)
    vi.advanceTimersByTime(14_999)
    expect(vi.getTimerCount()).toBeGreaterThan(0)
    vi.advanceTimersByTime(1)
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n'
    await until(() => heard.length > event.length)
    expect(heard).toBe(event + ping)
    vi.advanceTimersByTime(185_000)
    await until(() => heard.length >= event.length + 13 * ping.length)
    end()
    await over
    expect(heard.split(ping)).toHaveLength(14)
    expect(heard.endsWith('{"type":"message_stop"}\n\n')).toBe(true)
  })

  it('[GW22] a stream that has said its length is left as it is, and so is the answer behind it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const event = 'event: message_start\ndata: {"type":"message_start"}\n\n'
    let end = (): void => undefined
    const behind = await upstream(({ number }, response) => {
      if (number > 1) return void response.writeHead(200).end('second')
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'content-length': String(2 * event.length),
      })
      response.write(event)
      end = () => response.end(event)
    })
    const { url } = await world.gateway(behind.url)
    const said = `POST /v1/messages HTTP/1.1\r\nhost: ${new URL(url).host}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(large)}\r\n\r\n${large}`
    let heard = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(said))
    socket.on('data', (bytes) => (heard += bytes.toString()))
    await until(() => heard.includes(event))
    vi.advanceTimersByTime(60_000)
    end()
    await until(() => heard.split(event).length === 3)
    socket.write(said)
    await until(() => heard.includes('second'))
    socket.destroy()
    const bodies = heard.split(/HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*\r\n/u)
    expect(bodies).toEqual(['', event + event, expect.stringContaining('second')])
  })
})

describe('a refusal inside a stream', () => {
  const model = 'gpt-small'
  async function behindLate(level: 'trim' | 'compact'): Promise<{ url: string; asked: () => number }> {
    const simulator = createSimulator({
      answerer: { answer: () => ({ content: [text('the answer')], stop_reason: 'end_turn' }) },
      overflow: 'in-stream',
      dialectModels: dialectModels.map((each) =>
        each.id === 'gpt-6.1-sol' ? { ...each, id: model, window: 30_000 } : each,
      ),
    })
    running.push(simulator)
    const { url } = await world.gateway((await simulator.start()).url, { level })
    return { url, asked: () => simulator.log.requests.length }
  }
  const body = JSON.stringify({
    model,
    stream: true,
    store: false,
    instructions: 'S',
    tools: [
      { type: 'function', name: 'shell', description: 'd', parameters: { type: 'object' }, strict: false },
    ],
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'do the task' }] },
      ...Array.from({ length: 20 }, (_, at) => [
        { type: 'function_call', call_id: `c${at}`, name: 'shell', arguments: '{}' },
        { type: 'function_call_output', call_id: `c${at}`, output: lines(9000, at) },
      ]).flat(),
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'so far', annotations: [] }],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and now?' }] },
    ],
  })
  const headers = { authorization: 'Bearer k-canary-123' }

  it('[GW32] Responses: an overflow told as response.failed is answered by a compaction, and the client never sees it', async () => {
    const { url, asked } = await behindLate('compact')
    const reply = await send(`${url}/v1/responses`, body, headers)
    expect(reply.status).toBe(200)
    expect(reply.headers['x-palimpsest']).toMatch(/^compact; blocks=1;/u)
    expect(reply.body).not.toContain('response.failed')
    expect(reply.body).toContain('the answer')
    expect(asked()).toBe(2)
  })

  it('[GW32] is relayed as it came where nothing is compacted', async () => {
    const { url, asked } = await behindLate('trim')
    const reply = await send(`${url}/v1/responses`, body, headers)
    expect(reply.body).toContain('response.failed')
    expect(reply.body).toContain('context_length_exceeded')
    expect(asked()).toBe(1)
  })

  it('[GW32] what begins to speak is relayed byte for byte, in whatever pieces it comes, and heard once', async () => {
    const said = (event: object): string => `data: ${JSON.stringify(event)}\n\n`
    const message = { type: 'message', id: 'm', role: 'assistant', content: [] }
    const stream =
      said({ type: 'response.created', response: { id: 'r', model } }) +
      said({ type: 'response.output_item.added', output_index: 0, item: message }) +
      said({ type: 'response.output_text.delta', output_index: 0, delta: 'hé' }) +
      said({
        type: 'response.completed',
        response: { id: 'r', model, output: [], usage: { input_tokens: 9, output_tokens: 3 } },
      })
    const behind = await upstream((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const byte of Buffer.from(stream)) response.write(Buffer.from([byte]))
      response.end()
    })
    const gateway = await world.gateway(behind.url, { level: 'compact' })
    expect((await send(`${gateway.url}/v1/responses`, body, headers)).body).toBe(stream)
    await until(() => gateway.savings.all.requests === 1)
    expect(gateway.savings.all).toMatchObject({ output: 3 })
  })
})

describe('by content alone', () => {
  const worker = (steps: number, thinks: boolean) => ({
    answer: ({ request }: { request: { messages: readonly { role: string }[] } }) => {
      const done = request.messages.filter(({ role }) => role === 'assistant').length
      const before = thinks ? [thinking(`step ${done}`)] : []
      return done < steps
        ? {
            content: [...before, call('shell', { command: `step ${done}` }, `toolu_${done}`)],
            stop_reason: 'tool_use' as const,
          }
        : { content: [...before, text('done')], stop_reason: 'end_turn' as const }
    },
  })

  it.each([
    ['claude-opus-5', false],
    ['claude-opus-5-5', true],
  ])(
    '[GW9] G7: %s without labels, and with labels that lie: never refused, and each request reads all that was written',
    async (model, thinks) => {
      for (const headers of [
        undefined,
        () => ({ 'x-session-id': `s-${Math.random()}`, 'session-id': 'one' }),
      ]) {
        const simulator = createSimulator({ answerer: worker(5, thinks) })
        running.push(simulator)
        const { url } = await world.gateway((await simulator.start()).url)
        const first = headers === undefined ? {} : { headers }
        await runAgent(url, { model, steps: 5, resultChars: 24_000, ...first })
        const { requests } = simulator.log
        expect(requests.map(({ error, status }) => error?.message ?? status)).toEqual(Array(6).fill(200))
        for (const [at, { usage }] of requests.entries()) {
          if (at === 0) continue
          const before = requests[at - 1]!.usage!
          expect(usage!.cache_read_input_tokens).toBe(
            (before.cache_read_input_tokens ?? 0) + (before.cache_creation_input_tokens ?? 0),
          )
        }
        expect(JSON.stringify(requests.at(-1)!.body).split('characters left out here')).toHaveLength(6)
      }
    },
  )

  it('[GW35] bytes of the client behind bytes of ours on a model that binds its reasoning: the conversation goes on without it', async () => {
    const simulator = createSimulator({ answerer: worker(6, true) })
    running.push(simulator)
    const upstreamUrl = (await simulator.start()).url
    const first = await world.gateway(upstreamUrl)
    // What was remembered is lost in the middle: another gateway with an empty folder goes on.
    const other = newWorld()
    running.push({ stop: () => other.end() })
    const second = await other.gateway(upstreamUrl)
    const hop = await upstream(({ body, incoming, number }, response) => {
      const url = number <= 4 ? first.url : second.url
      const headers = { 'anthropic-version': '2023-06-01' }
      void send(`${url}${incoming.url ?? ''}`, body, headers).then((reply) =>
        answers(response, reply.body, reply.status),
      )
    })
    const task = runAgent(hop.url, { model: 'claude-opus-5-5', steps: 6, resultChars: 24_000 })
    expect(await task.then(() => 'went on', String)).toBe('went on')
    const refused = simulator.log.requests.filter(({ error }) => error !== null)
    expect(refused.length).toBeGreaterThan(0)
    for (const { error } of refused) expect(error!.message).toContain('bound to a different conversation')
    expect(JSON.stringify(simulator.log.requests.at(-1)!.body)).not.toContain('"thinking","thinking"')
    // At watch the refusal is the client's to hear.
    const watching = await world.gateway(upstreamUrl, { level: 'watch' })
    const reply = await send(`${watching.url}/v1/messages`, hop.got.at(-1)!.body, {
      'anthropic-version': '2023-06-01',
    })
    expect(reply.status).toBe(400)
  })

  it('[GW18] G4: gone on with after two hours: compacted at that moment and not before, first and last words in sight, within its target', async () => {
    const clock = createManualClock(Date.now())
    const steps = 10
    const simulator = createSimulator({
      clock,
      answerer: {
        answer: ({ request }) => {
          const from = request.messages.findLastIndex(
            ({ role, content }) => role === 'user' && !JSON.stringify(content).includes('tool_result'),
          )
          const done = request.messages.slice(from).filter(({ role }) => role === 'assistant').length
          return done < steps
            ? {
                content: [call('shell', { command: 'c' }, `toolu_${request.messages.length}`)],
                stop_reason: 'tool_use',
              }
            : { content: [text('done')], stop_reason: 'end_turn' }
        },
      },
    })
    running.push(simulator)
    const { url } = await world.gateway((await simulator.start()).url, { level: 'compact', clock })
    await runAgent(url, {
      steps,
      resultChars: 15_000,
      prompts: 3,
      headers: () => {
        const asked = simulator.log.requests.length
        if (asked === 2 * (steps + 1)) clock.advance(2 * 60 * 60_000)
        return {}
      },
    })
    const sizes = simulator.log.requests.map(({ bytes }) => bytes)
    const cold = 2 * (steps + 1)
    const falls = sizes.flatMap((size, at) => (at > 0 && size < sizes[at - 1]! ? [at] : []))
    expect(falls).toEqual([cold])
    const first = JSON.stringify(simulator.log.requests[cold]!.body)
    for (const words of ['do the task', 'canary-2', 'canary-3']) expect(first).toContain(words)
    expect(sizes[cold]).toBeLessThan(0.5 * sizes[cold - 1]!)
    expect(simulator.log.requests.every(({ status }) => status === 200)).toBe(true)
  })

  it('[GW23] G10: counting asks about what would be sent, also before it was', async () => {
    const behind = await upstream(({ incoming }, response) =>
      answers(response, incoming.url!.includes('count_tokens') ? '{"input_tokens":5}' : messageOf('ok')),
    )
    const { url } = await world.gateway(behind.url)
    await send(`${url}/v1/messages/count_tokens`, large)
    await send(`${url}/v1/messages`, large)
    await send(`${url}/v1/messages/count_tokens`, large)
    const bodies = behind.got.map(({ body }) => body)
    expect(bodies[0]!.length).toBeLessThan(12_000)
    expect(new Set(bodies).size).toBe(1)
  })
})

describe('keys', () => {
  it('[GW7] G11: a key in a header or in the address is in no line and no file, also where everything fails', async () => {
    const gateway = await world.gateway('http://127.0.0.1:1')
    const path = '/v1beta/models/gemini-2.5-pro:generateContent?key=k-canary-in-address'
    const replies = [
      await send(`${gateway.url}${path}`, '{"contents":[{"role":"user","parts":[{"text":"a"}]}]}'),
      await send(`${gateway.url}/v1/messages`, large, { authorization: 'Bearer k-canary-in-header' }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([502, 502])
    await gateway.stop()
    expect(world.lines.length).toBeGreaterThan(1)
    const said = [...world.lines, ...replies.map(({ body }) => body)].join('\n')
    expect(said).not.toContain('canary')
  })
})
