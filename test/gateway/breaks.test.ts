// What a gateway says of caches that broke, and what it does when its own changes do not pay.
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { call, createManualClock, createSimulator, text } from '../../src/simulator/index.ts'
import { fileStore } from '../../src/stores/index.ts'
import { isKnown, type Fact } from '../../src/transcript/fact.ts'
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
  await world.end()
  for (const each of running.splice(0)) await each.stop()
})
async function upstream(handler: Parameters<typeof startUpstream>[0]): Promise<Upstream> {
  const made = await startUpstream(handler)
  running.push(made)
  return made
}

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

interface Message {
  readonly role: string
  readonly content: string | readonly Record<string, unknown>[]
}

/** A forwarder that clears results older than two rounds, as they are often written. Gives its address and all it sent. */
async function clearingLate(to: string): Promise<{ readonly url: string; readonly sent: string[] }> {
  const sent: string[] = []
  const server = createServer((incoming, response) => {
    void textOf(incoming).then((body) => {
      const asked = JSON.parse(body) as { messages: Message[] }
      const results = asked.messages.filter(({ content }) => JSON.stringify(content).includes('tool_result'))
      for (const message of results.slice(0, -2))
        for (const block of message.content as Record<string, unknown>[]) block['content'] = '[cleared]'
      const late = JSON.stringify(asked)
      sent.push(late)
      const headers = {
        ...incoming.headers,
        host: new URL(to).host,
        'content-length': Buffer.byteLength(late),
      }
      const outgoing = httpRequest(`${to}${incoming.url ?? ''}`, { method: 'POST', headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      outgoing.end(late)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  running.push({
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent }
}

/** Where two bodies first differ, without what steers the cache. */
function firstChange(before: string, after: string): { readonly message: number; readonly byte: number } {
  const plain = (body: string): readonly string[] =>
    (JSON.parse(body) as { messages: Message[] }).messages.map((message) =>
      JSON.stringify(message, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
    )
  const [old, now] = [plain(before), plain(after)]
  const message = old.findIndex((each, at) => each !== now[at])
  return { message, byte: Buffer.from(after).indexOf('[cleared]') }
}

describe('the cache of a foreign conversation', () => {
  it('[GW26] G3: a client that clears late is named with message, byte and price, in one session', async () => {
    const simulator = createSimulator({
      answerer: {
        answer: ({ request }) => {
          const done = request.messages.filter(({ role }) => role === 'assistant').length
          return done < 8
            ? { content: [call('shell', { command: `s${done}` }, `toolu_${done}`)], stop_reason: 'tool_use' }
            : { content: [text('done')], stop_reason: 'end_turn' }
        },
      },
    })
    running.push(simulator)
    const gateway = await world.gateway((await simulator.start()).url, { level: 'watch' })
    const late = await clearingLate(gateway.url)
    await runAgent(late.url, { steps: 8, resultChars: 24_000 })
    await until(() => gateway.savings.all.requests === 9)
    expect(gateway.savings.sessions()).toHaveLength(1)
    expect(gateway.breaks.count).toBe(6)
    for (const [at, { causes, cost, tokens }] of gateway.breaks.newest.entries()) {
      const { message, byte } = firstChange(late.sent[at + 2]!, late.sent[at + 3]!)
      expect(causes[0]).toContain(`the client changed message ${message}, block 0`)
      // The block begins before the text that was put in its place.
      const named = Number(/at byte (\d+)/u.exec(causes[0]!)?.[1])
      const nth = late.sent[at + 3]!.split('[cleared]').length - 2
      const place = nth === 0 ? byte : Buffer.from(late.sent[at + 3]!).lastIndexOf('[cleared]')
      expect(place - named).toBeGreaterThan(0)
      expect(place - named).toBeLessThan(100)
      expect(cost).toBeGreaterThan(0.01)
      expect(tokens).toBeGreaterThan(5000)
    }
    await gateway.stop()
    const facts = await factsIn(world.folder)
    expect(facts.filter(({ type }) => type === 'cache-break')).toHaveLength(6)
  })

  it('[GW26] names the tools, the model, the system prompt and the time that broke it, and nothing where nothing broke', async () => {
    const clock = createManualClock(1_763_000_000_000)
    const usages = [
      [0, 50_000],
      [50_000, 1000],
      [0, 52_000],
      [0, 53_000],
      [0, 54_000],
      [0, 55_000],
      [0, 56_000],
    ]
    const behind = await upstream(({ number }, response) => {
      const [read, write] = usages[number - 1] ?? [0, 0]
      answers(
        response,
        messageOf('ok', {
          cache_read_input_tokens: read,
          cache_creation_input_tokens: write,
          input_tokens: 3,
        }),
      )
    })
    const gateway = await world.gateway(behind.url, { level: 'watch', clock })
    const list = [says('go')]
    const tool = (name: string) => ({ name, description: 'd', input_schema: { type: 'object' } })
    const changes: object[] = [
      {},
      {},
      { tools: [tool('t'), tool('extra')] },
      { tools: [tool('t'), tool('extra')], model: 'claude-sonnet-5' },
      { tools: [tool('t'), tool('extra')], model: 'claude-sonnet-5', system: 'You are another.' },
      { tools: [tool('t'), tool('extra')], model: 'claude-sonnet-5', system: 'You are another.' },
      { tools: [tool('t'), tool('extra')], model: 'claude-sonnet-5', system: 'You are another.' },
    ]
    for (const [at, change] of changes.entries()) {
      if (at === 5) clock.advance(6 * 60_000)
      await send(`${gateway.url}/v1/messages`, asking(list, change), { 'x-session-id': 'one' })
      await until(() => gateway.savings.all.requests === at + 1)
      list.push(replies('ok'), says(`and ${at}`))
    }
    expect(gateway.breaks.newest.map(({ causes }) => causes.join('; '))).toEqual([
      expect.stringContaining('tools +1/−0 (+extra)'),
      'model: claude-opus-5 → claude-sonnet-5',
      expect.stringMatching(/^system prompt, static part: \+\d+ characters$/u),
      expect.stringContaining('the cache had expired: lifetime 5m'),
      'nothing on our side changed: the provider lost it',
    ])
    expect(gateway.savings.sessions()).toHaveLength(1)
  })

  it('[GW26] a client that marks its system prompt alone has nothing else to lose', async () => {
    const usages = [
      { cache_creation_input_tokens: 20_000, cache_read_input_tokens: 0, input_tokens: 10_000 },
      { cache_creation_input_tokens: 0, cache_read_input_tokens: 20_000, input_tokens: 30_000 },
      { cache_creation_input_tokens: 0, cache_read_input_tokens: 20_000, input_tokens: 50_000 },
      { cache_creation_input_tokens: 20_000, cache_read_input_tokens: 0, input_tokens: 70_000 },
    ]
    const behind = await upstream(({ number }, response) =>
      answers(response, messageOf('ok', usages[number - 1] ?? {})),
    )
    const gateway = await world.gateway(behind.url, { level: 'watch' })
    const list = [says('go')]
    for (const at of usages.keys()) {
      await send(`${gateway.url}/v1/messages`, asking(list), { 'x-session-id': 'one' })
      await until(() => gateway.savings.all.requests === at + 1)
      list.push(replies('ok'), says(`and ${at}`))
    }
    // The last one lost what was marked, and that alone.
    expect(gateway.breaks.newest.map(({ tokens }) => tokens)).toEqual([20_000])
    const { cost, untouchedCost } = gateway.savings.all
    expect(untouchedCost).toBe(cost)
  })

  it('[GW28] what a client clears itself keeps what was shortened behind it short', async () => {
    const behind = await upstream((_asked, response) => answers(response, messageOf('ok')))
    const { url } = await world.gateway(behind.url)
    const list = [says('go'), calls('a'), gives('a', lines(40_000, 1))]
    await send(`${url}/v1/messages`, asking(list))
    list.push(calls('b'), gives('b', lines(40_000, 2)))
    await send(`${url}/v1/messages`, asking(list))
    list[2] = gives('a', '[old result cleared]')
    list.push(calls('c'), gives('c', 'small'))
    const reply = await send(`${url}/v1/messages`, asking(list))
    expect(reply.headers['x-palimpsest']).toMatch(/^trim; blocks=1; /u)
    expect(behind.got.at(-1)!.body.length).toBeLessThan(12_000)
    expect(behind.got.at(-1)!.body).toContain('[old result cleared]')
  })
})

describe('a gateway whose changes do not pay', () => {
  it('[GW27] holds still: says so, changes nothing further, and sends what it sent in the same bytes', async () => {
    // An agent that reads every file it was pointed to: each reading is a request that nobody would have made untouched.
    const behind = await upstream(({ body }, response) => {
      const path = /in the file ([^:]+):(?!.*in the file)/u.exec(body)?.[1]
      const reads = [{ type: 'tool_use', id: 'r', name: 't', input: { path } }]
      const usage = { cache_read_input_tokens: 20_000, cache_creation_input_tokens: 2000 }
      const said = JSON.parse(messageOf('ok', usage)) as Record<string, unknown>
      answers(response, JSON.stringify(path === undefined ? said : { ...said, content: reads }))
    })
    const gateway = await world.gateway(behind.url)
    const list = [says('go')]
    let asked = 0
    const ask = async (): Promise<void> => {
      await send(`${gateway.url}/v1/messages`, asking(list))
      asked++
      await until(() => gateway.savings.all.requests === asked)
    }
    list.push(calls('a'), gives('a', lines(17_000, 0)))
    for (let round = 0; round < 30; round++) {
      await ask()
      list.push(calls(`r${round}`), gives(`r${round}`, `part ${round} of the file`))
    }
    expect(gateway.savings.all.readBacks).toBeGreaterThan(20)
    expect(gateway.savings.all.cost).toBeGreaterThan(gateway.savings.all.untouchedCost)
    expect(world.lines.join('\n')).toContain('has cost more than it saved')
    list.push(calls('z'), gives('z', lines(40_000, 9)))
    await ask()
    const last = behind.got.at(-1)!.body
    expect(last).toContain('line 500 of result 9')
    expect(last).not.toContain('line 200 of result 0:')
    await gateway.stop()
    const facts = await factsIn(world.folder)
    expect(facts.filter((fact) => fact.type === 'compaction-failed')).toHaveLength(1)
  })
})
