import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lookUp, modelTable, price } from '../../src/model/models.ts'
import { usageOf } from '../../src/wires/usage.ts'
import { call, createSimulator, text, type Simulator } from '../../src/simulator/index.ts'
import { until } from '../until.ts'
import { lines, newWorld, runAgent, send, startStub, type Stub, type World } from './world.ts'

let world: World
const running: (Simulator | Stub)[] = []
beforeEach(() => {
  world = newWorld()
})
afterEach(async () => {
  await world.end()
  for (const each of running.splice(0)) await each.stop()
})

async function simulator(steps: number): Promise<Simulator & { url: string }> {
  const made = createSimulator({
    answerer: {
      answer: ({ request }) => {
        const done = request.messages.filter(({ role }) => role === 'assistant').length
        return done < steps
          ? {
              content: [call('shell', { command: `step ${done}` }, `toolu_${done}`)],
              stop_reason: 'tool_use',
            }
          : { content: [text('done')], stop_reason: 'end_turn' }
      },
    },
  })
  running.push(made)
  const { url } = await made.start()
  return Object.assign(made, { url })
}

const costOf = ({ log }: Simulator): number =>
  log.requests.reduce((sum, { model, usage }) => {
    const info = model === null ? null : lookUp(modelTable(), model)
    return info === null || usage === null ? sum : sum + (price(info, usageOf(usage))?.total ?? 0)
  }, 0)

const answer = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
})

describe('a gateway that watches', () => {
  it('[GW3] sends every body on byte for byte, however it is written', async () => {
    const stub = await startStub(() => ({ status: 200, pieces: [answer] }))
    running.push(stub)
    const { url } = await world.gateway(stub.url, { level: 'watch' })
    const bodies = [
      '{"model":"claude-opus-5","messages":[{"role":"user","content":"hi"}]}',
      '{ "messages": [ {"content": [ {"text":"h\\u00e9 😀","type":"text" } ],\n "role":"user"}],  "model":"x","n":1.50, "tools":[{"name":"t"}] }\n',
      `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":${JSON.stringify(lines(90_000, 1))}}]}],"tools":[{}]}`,
      'no json at all',
      '{"messages": 5}',
    ]
    for (const body of bodies) await send(`${url}/v1/messages`, body)
    expect(stub.got.map(({ body }) => body.toString())).toEqual(bodies)
  })
})

describe('a gateway that trims', () => {
  it('[GW4] is cheaper than direct, is never refused, and sends what was sent in the same bytes', async () => {
    const direct = await simulator(8)
    await runAgent(direct.url, { steps: 8, resultChars: 24_000 })
    const behind = await simulator(8)
    const { url } = await world.gateway(behind.url)
    await runAgent(url, { steps: 8, resultChars: 24_000 })
    expect(behind.log.requests.map(({ status }) => status)).toEqual(Array(9).fill(200))
    expect(costOf(behind)).toBeLessThan(costOf(direct) * 0.6)
    // Each request reads all that the one before had written.
    const usages = behind.log.requests.map(({ usage }) => usage!)
    for (const [at, usage] of usages.entries())
      if (at > 0) {
        const before = usages[at - 1]!
        const cached = (before.cache_read_input_tokens ?? 0) + (before.cache_creation_input_tokens ?? 0)
        expect(usage.cache_read_input_tokens).toBe(cached)
      }
  })

  it('[GW15] counts what it paid as the bill has it, and what the untouched requests would have cost', async () => {
    const direct = await simulator(8)
    await runAgent(direct.url, { steps: 8, resultChars: 24_000 })
    const behind = await simulator(8)
    const { url, savings } = await world.gateway(behind.url)
    await runAgent(url, { steps: 8, resultChars: 24_000 })
    await until(() => savings.all.requests === 9)
    expect(savings.all.cost).toBeCloseTo(costOf(behind), 6)
    expect(savings.all.untouchedCost / costOf(direct)).toBeCloseTo(1, 1)
  })

  it('[GW5] keeps the whole of what it cut where the text says', async () => {
    const behind = await simulator(1)
    const { url } = await world.gateway(behind.url)
    await runAgent(url, { steps: 1, resultChars: 24_000 })
    const sent = JSON.stringify(behind.log.requests.at(-1)!.body)
    const path = /in the file ([^:]+):/u.exec(sent)![1]!
    expect(readFileSync(path, 'utf8')).toBe(lines(24_000, 0))
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('[GW4] sends the same bytes for the same beginning after a restart', async () => {
    const stub = await startStub(() => ({ status: 200, pieces: [answer] }))
    running.push(stub)
    const body = JSON.stringify({
      model: 'claude-opus-5',
      tools: [{ name: 't' }],
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: lines(40_000, 3) }] },
      ],
    })
    const first = await world.gateway(stub.url)
    await send(`${first.url}/v1/messages`, body)
    await first.stop()
    const second = await world.gateway(stub.url)
    await send(`${second.url}/v1/messages`, body)
    expect(stub.got[0]!.body.length).toBeLessThan(12_000)
    expect(stub.got[1]!.body.equals(stub.got[0]!.body)).toBe(true)
  })

  it('[GW37] goes on with a conversation whose token was renewed, and with nobody else', async () => {
    const stub = await startStub(() => ({ status: 200, pieces: [answer] }))
    running.push(stub)
    const { url } = await world.gateway(stub.url)
    const ask = async (token: string, device: string, more: readonly unknown[]) => {
      const user = { device_id: device.repeat(64), account_uuid: 'an-account-of-one', session_id: 'one' }
      const body = JSON.stringify({
        model: 'claude-opus-5',
        tools: [{ name: 't' }],
        metadata: { user_id: JSON.stringify(user) },
        messages: [
          { role: 'user', content: 'go' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: lines(40_000, 3) }] },
          ...more,
        ],
      })
      const port = new URL(url).port
      await new Promise<void>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer sk-ant-oat01-${token}` }
        const outgoing = httpRequest({ port, path: '/v1/messages', method: 'POST', headers }, (incoming) =>
          incoming.resume().once('end', resolve),
        )
        outgoing.once('error', reject).end(body)
      })
      return stub.got.at(-1)!.body.toString()
    }
    const next = [
      { role: 'assistant', content: [{ type: 'text', text: 'fine' }] },
      { role: 'user', content: 'and now?' },
    ]
    expect((await ask('first', 'd', [])).length).toBeLessThan(12_000)
    // What was shortened for the old token stays so for the new one.
    expect((await ask('second', 'd', next)).length).toBeLessThan(12_000)
    // Somebody else who sends the very same finds nothing of it: what was answered is not touched.
    expect((await ask('third', 'e', next)).length).toBeGreaterThan(40_000)
  })

  it('[GW4] leaves alone what a model has answered already, whoever sent it', async () => {
    const stub = await startStub(() => ({ status: 200, pieces: [answer] }))
    running.push(stub)
    const { url } = await world.gateway(stub.url)
    const body = JSON.stringify({
      model: 'claude-opus-5',
      tools: [{ name: 't' }],
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: lines(40_000, 3) }] },
        { role: 'assistant', content: 'I see' },
        { role: 'user', content: 'and now?' },
      ],
    })
    await send(`${url}/v1/messages`, body)
    expect(stub.got[0]!.body.toString()).toBe(body)
  })

  it('[GW6] sends the original once when the edited request is refused, and then only watches that session', async () => {
    const stub = await startStub(({ body }) =>
      body.toString().includes('characters left out')
        ? {
            status: 400,
            pieces: ['{"type":"error","error":{"type":"invalid_request_error","message":"no"}}'],
          }
        : { status: 200, pieces: [answer] },
    )
    running.push(stub)
    const { url } = await world.gateway(stub.url)
    const body = JSON.stringify({
      model: 'claude-opus-5',
      tools: [{ name: 't' }],
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: lines(40_000, 3) }] },
      ],
    })
    const reply = await send(`${url}/v1/messages`, body)
    expect(reply.status).toBe(200)
    expect(reply.headers['x-palimpsest']).toContain('unchanged')
    expect(stub.got.at(-1)!.body.toString()).toBe(body)
    await send(`${url}/v1/messages`, body)
    expect(stub.got).toHaveLength(3)
  })

  it('[GW7] keeps no credential in any file', async () => {
    const behind = await simulator(2)
    const gateway = await world.gateway(behind.url)
    await runAgent(gateway.url, { steps: 2, resultChars: 24_000 })
    await gateway.stop()
    const files = readdirSync(world.folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    expect(files.length).toBeGreaterThan(3)
    for (const file of files)
      expect(readFileSync(join(file.parentPath, file.name), 'utf8')).not.toContain('k-canary-123')
    expect(world.lines).toEqual([])
  })
})

describe('who may speak to a gateway', () => {
  it('[GW8] refuses another host name, another origin, and status without the token', async () => {
    const stub = await startStub(() => ({ status: 200, pieces: [answer] }))
    running.push(stub)
    const { url } = await world.gateway(stub.url)
    const ask = (headers: Record<string, string>, path = '/v1/messages') =>
      send(`${url}${path}`, '{}', headers)
    expect((await ask({ host: 'evil.example' })).status).toBe(403)
    expect((await ask({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await send(`${url}/palimpsest/status`, '', {}, 'GET')).status).toBe(401)
    expect(stub.got).toHaveLength(0)
    const status = await send(`${url}/palimpsest/status`, '', { 'x-palimpsest-token': 'secret-token' }, 'GET')
    expect(JSON.parse(status.body)).toMatchObject({ level: 'trim', all: { requests: 0 } })
    expect((await send(`${url}/`, '', {}, 'HEAD')).status).toBe(200)
  })
})
