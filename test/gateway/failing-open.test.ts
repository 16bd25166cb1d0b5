import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaults } from '../../src/settings/defaults.ts'
import { fileStore } from '../../src/stores/index.ts'
import { isKnown, type Fact } from '../../src/transcript/fact.ts'
import { until } from '../until.ts'
import { lines, newWorld, send, startStub, type Stub, type StubAnswer, type World } from './world.ts'

let world: World
const running: Stub[] = []
beforeEach(() => {
  world = newWorld()
})
afterEach(async () => {
  await world.end()
  for (const each of running.splice(0)) await each.stop()
})
async function stub(answer: StubAnswer): Promise<Stub> {
  const made = await startStub(answer)
  running.push(made)
  return made
}

const message = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: 0, cache_creation_input_tokens: 5 },
})
const events = [
  { type: 'message_start', message: { ...message(''), content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hé 😀' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('')
const streamed = { 'content-type': 'text/event-stream' }

const large = JSON.stringify({
  model: 'claude-opus-5',
  tools: [{ name: 't' }],
  messages: [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: lines(40_000, 3) }] },
  ],
})

async function factsIn(folder: string): Promise<readonly Fact[]> {
  const store = fileStore({ root: join(folder, 'sessions') })
  const facts: Fact[] = []
  for await (const info of store.list()) {
    if (!info.ok) continue
    for await (const item of store.read(info.session))
      if (item.kind === 'entry' && isKnown(item.entry)) facts.push(item.entry.fact)
  }
  return facts
}

describe('what the upstream says', () => {
  it('[GW12] reaches the client as it is: status, headers, error bodies, unknown types', async () => {
    const bodies = [
      '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      'plain words',
      '',
    ]
    const statuses = [529, 429, 401]
    const upstream = await stub(({ number }) => ({
      status: statuses[number - 1]!,
      headers: { 'retry-after': '17', 'anthropic-ratelimit-unified-reset': 'x', 'x-should-retry': 'true' },
      pieces: [bodies[number - 1]!],
    }))
    const { url } = await world.gateway(upstream.url)
    for (const [at, body] of bodies.entries()) {
      const reply = await send(`${url}/v1/messages`, large)
      expect(reply).toMatchObject({ status: statuses[at], body })
      expect(reply.headers).toMatchObject({
        'retry-after': '17',
        'x-should-retry': 'true',
        'anthropic-ratelimit-unified-reset': 'x',
      })
    }
  })

  it.each([
    ['whole', events],
    ['byte by byte', null],
  ])('[GW12] relays a stream that comes %s, and hears it', async (_, all) => {
    const bytes = Buffer.from(events)
    const pieces = all === null ? Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1)) : [all]
    const upstream = await stub(() => ({ status: 200, headers: streamed, pieces }))
    const gateway = await world.gateway(upstream.url, { level: 'watch' })
    expect((await send(`${gateway.url}/v1/messages`, large)).body).toBe(events)
    await until(() => gateway.savings.all.requests === 1)
    expect(gateway.savings.all).toMatchObject({ input: 10, cacheWrite: 5, output: 7 })
  })

  it('[GW12] relays what is packed as it is, and reads a copy', async () => {
    const packed = gzipSync(events)
    const upstream = await stub(() => ({
      status: 200,
      headers: { ...streamed, 'content-encoding': 'gzip' },
      pieces: [packed.subarray(0, 40), packed.subarray(40)],
    }))
    const gateway = await world.gateway(upstream.url)
    const reply = await send(`${gateway.url}/v1/messages`, large)
    expect(reply.headers['content-encoding']).toBe('gzip')
    await until(() => gateway.savings.all.requests === 1)
    expect(gateway.savings.all.output).toBe(7)
  })

  it('[GW12] keeps the part of an answer that was cut, and goes on with the next request', async () => {
    const upstream = await stub(({ number }) =>
      number === 1
        ? {
            status: 200,
            headers: streamed,
            pieces: [events.slice(0, events.indexOf('event: content_block_stop'))],
            cut: true,
          }
        : { status: 200, pieces: [JSON.stringify(message('again'))] },
    )
    const gateway = await world.gateway(upstream.url)
    await expect(send(`${gateway.url}/v1/messages`, large)).rejects.toThrow()
    expect((await send(`${gateway.url}/v1/messages`, large)).status).toBe(200)
    await gateway.stop()
    const answers = (await factsIn(world.folder)).filter((fact) => fact.type === 'assistant-message')
    expect(answers.some((fact) => fact.partial === true && JSON.stringify(fact.content).includes('hé'))).toBe(
      true,
    )
  })

  it('[GW12] says in words where the upstream cannot be reached', async () => {
    const gateway = await world.gateway('http://127.0.0.1:1')
    const reply = await send(`${gateway.url}/v1/messages`, large)
    expect(reply.status).toBe(502)
    expect(reply.body).toContain('could not be reached')
  })

  it('[GW12] ends the request upstream when the client goes away', async () => {
    const upstream = await stub(() => ({ status: 200, headers: streamed, pieces: [events.slice(0, 200)] }))
    const gateway = await world.gateway(upstream.url)
    const { port } = new URL(gateway.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(large)}\r\n\r\n${large}`,
    )
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    await gateway.stop()
    expect(upstream.got).toHaveLength(1)
  })
})

describe('where nothing can be remembered', () => {
  it('[GW13] forwards unchanged where its folder cannot be made', async () => {
    writeFileSync(join(world.folder, 'gateway'), 'a file stands here')
    const upstream = await stub(() => ({ status: 200, pieces: [JSON.stringify(message('ok'))] }))
    const { url } = await world.gateway(upstream.url)
    const reply = await send(`${url}/v1/messages`, large)
    expect(reply.status).toBe(200)
    expect(reply.headers['x-palimpsest']).toContain('unchanged')
    expect(upstream.got[0]!.body.toString()).toBe(large)
  })

  it('[GW13] forwards what is too large to be read, or packed, unread', async () => {
    const upstream = await stub(() => ({ status: 200, pieces: [JSON.stringify(message('ok'))] }))
    const { url } = await world.gateway(upstream.url, { limits: { ...defaults.gateway, bodyBytes: 1000 } })
    const reply = await send(`${url}/v1/messages`, large)
    expect(reply.headers['x-palimpsest']).toContain('too large')
    expect(upstream.got[0]!.body.toString()).toBe(large)
    const packed = gzipSync('{"messages":[]}')
    await send(`${url}/v1/messages`, packed, { 'content-encoding': 'gzip' })
    expect(upstream.got[1]!.body.equals(packed)).toBe(true)
  })
})

describe('a session of a foreign agent', () => {
  it('[GW14] holds what passed as facts, what was shortened as an edit, and nothing as typed', async () => {
    const upstream = await stub(({ number }) => ({
      status: 200,
      pieces: [JSON.stringify(message(`answer ${number}`))],
    }))
    const gateway = await world.gateway(upstream.url)
    await send(`${gateway.url}/v1/messages`, large)
    const next = JSON.parse(large) as { messages: unknown[] }
    next.messages.push(
      { role: 'assistant', content: [{ type: 'text', text: 'answer 1' }] },
      { role: 'user', content: 'and then?' },
    )
    await send(`${gateway.url}/v1/messages`, JSON.stringify(next))
    await gateway.stop()
    const facts = await factsIn(world.folder)
    expect(facts.map(({ type }) => type)).toEqual([
      'session-start',
      'instructions-set',
      'user-message',
      'assistant-message',
      'tool-result',
      'view-edit',
      'request-sent',
      'assistant-message',
      'user-message',
      'request-sent',
      'assistant-message',
      'turn-end',
    ])
    expect(facts.some((fact) => fact.type === 'user-message' && fact.origin === 'typed')).toBe(false)
    expect(JSON.stringify(facts[4])).toContain('line 500 of result 3')
    expect(JSON.stringify(facts[5])).not.toContain('line 500 of result 3')
  })
})
