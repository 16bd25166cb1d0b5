// Conversations that the provider keeps: a request says what is new and names the answer it goes on from. And answers that say nothing
// of what they took.
import { join } from 'node:path'
import { request as httpRequest } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileStore } from '../../src/stores/index.ts'
import { isKnown, type Fact } from '../../src/transcript/fact.ts'
import { until } from '../until.ts'
import { answers, startUpstream, type Upstream } from './upstream.ts'
import { lines, newWorld, send, type World } from './world.ts'

let world: World
const running: Upstream[] = []
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

const model = 'gpt-6-sol'
const tools = [{ type: 'function', name: 't', parameters: { type: 'object' } }]
const usageOf = (tokens: number) => ({
  input_tokens: tokens,
  output_tokens: 5,
  input_tokens_details: { cached_tokens: tokens > 20_000 ? tokens - 1000 : 0 },
})
/** Every other answer calls the tool. */
const keeper = () =>
  upstream(({ number }, response) =>
    answers(
      response,
      JSON.stringify({
        id: `resp_${number}`,
        object: 'response',
        status: 'completed',
        model,
        output:
          number % 2 === 1
            ? [{ type: 'function_call', call_id: `c${number}`, name: 't', arguments: '{}' }]
            : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'fine' }] }],
        usage: usageOf(19_000 + number * 1000),
      }),
    ),
  )

async function factsIn(folder: string): Promise<readonly (readonly Fact[])[]> {
  const store = fileStore({ root: join(folder, 'sessions') })
  const sessions: Fact[][] = []
  for await (const info of store.list()) {
    if (!info.ok) continue
    const facts: Fact[] = []
    for await (const item of store.read(info.session))
      if (item.kind === 'entry' && isKnown(item.entry)) facts.push(item.entry.fact)
    sessions.push(facts)
  }
  return sessions
}

describe.each([
  ['and a name for it', { prompt_cache_key: 'mine' }],
  ['and no name', {}],
])('a conversation that the provider keeps, %s', (_, more) => {
  it('[GW38] is one session with every result under its call, shortened as elsewhere', async () => {
    const behind = await keeper()
    const gateway = await world.gateway(behind.url, { level: 'compact' })
    const ask = (input: object, before: number) =>
      send(
        `${gateway.url}/v1/responses`,
        JSON.stringify({
          model,
          tools,
          input: [input],
          ...more,
          ...(before === 0 ? {} : { previous_response_id: `resp_${before}` }),
        }),
      )
    const gives = (call: number) => ({
      type: 'function_call_output',
      call_id: `c${call}`,
      output: lines(30_000, call),
    })
    for (let turn = 0; turn < 3; turn++) {
      // The same words each time: what tells them apart is what they follow.
      await ask({ role: 'user', content: 'go on' }, turn * 2)
      await ask(gives(turn * 2 + 1), turn * 2 + 1)
    }
    await until(() => gateway.savings.all.requests === 6)
    expect(gateway.savings.sessions()).toHaveLength(1)
    expect(gateway.breaks.count).toBe(0)
    // What was left out is counted by its characters: a body of a few bytes says nothing of a prompt of 20,000 tokens.
    const { cost, untouchedCost } = gateway.savings.all
    expect(untouchedCost).toBeGreaterThan(cost)
    expect(untouchedCost).toBeLessThan(cost * 2)
    for (const nth of [1, 3, 5]) expect(behind.got[nth]!.body.length).toBeLessThan(10_000)
    await gateway.stop()
    const [facts, ...others] = await factsIn(world.folder)
    expect(others).toEqual([])
    const results = facts!.flatMap((fact) => (fact.type === 'tool-result' ? [fact] : []))
    expect(results.map(({ call, isError }) => [call, isError])).toEqual([
      ['c1', false],
      ['c3', false],
      ['c5', false],
    ])
    expect(facts!.filter(({ type }) => type === 'assistant-message')).toHaveLength(6)
    expect(facts!.flatMap((fact) => (fact.type === 'view-edit' ? [fact.layer] : []))).toEqual(
      Array<string>(3).fill('gateway-trim'),
    )
  })
})

describe('a conversation that the provider keeps', () => {
  it('[GW38] of another answer is another, although it says the same', async () => {
    const behind = await keeper()
    const gateway = await world.gateway(behind.url)
    const ask = (more: object) =>
      send(
        `${gateway.url}/v1/responses`,
        JSON.stringify({ model, tools, input: [{ role: 'user', content: 'go on' }], ...more }),
      )
    await ask({ conversation: 'conv_a' })
    await ask({ conversation: { id: 'conv_b' } })
    await ask({ conversation: 'conv_a', input: [{ role: 'user', content: 'and on' }] })
    await until(() => gateway.savings.all.requests === 3)
    expect(gateway.savings.sessions().map(([, { requests }]) => requests)).toEqual([1, 2])
    await ask({ previous_response_id: 'resp_1' })
    await ask({ previous_response_id: 'resp_2' })
    await until(() => gateway.savings.all.requests === 5)
    expect(gateway.savings.sessions().map(([, { requests }]) => requests)).toEqual([3, 2])
  })

  it('[GW18] is not compacted where its client has the server do it', async () => {
    const refusal = { error: { code: 'context_length_exceeded', message: 'exceeds the context window' } }
    const behind = await upstream((_asked, response) => answers(response, JSON.stringify(refusal), 400))
    const { url } = await world.gateway(behind.url, { level: 'compact' })
    const input = [
      { role: 'user', content: 'go' },
      ...Array.from({ length: 12 }, (_, at) => [
        { type: 'function_call', call_id: `c${at}`, name: 't', arguments: '{}' },
        { type: 'function_call_output', call_id: `c${at}`, output: lines(9000, at) },
      ]).flat(),
      { role: 'assistant', content: 'so' },
      { role: 'user', content: 'on' },
    ]
    const ask = (more: object) =>
      send(`${url}/v1/responses`, JSON.stringify({ model, tools, input, ...more }))
    await ask({ context_management: [{ type: 'compaction', compact_threshold: 200_000 }] })
    expect(behind.got).toHaveLength(1)
    await ask({})
    expect(behind.got).toHaveLength(3)
  })
})

describe('an answer that says nothing of what it took', () => {
  it('[GW39] is no loss of the cache and in no figure but the count of such answers', async () => {
    const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
    const behind = await upstream(({ number }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event({ id: `c${number}`, model, choices: [{ index: 0, delta: { content: 'so' } }] }))
      // The client has heard enough of the third.
      if (number === 3) return
      const prompt = 50_000 + number * 100
      const cached = number === 1 ? 0 : prompt - 100
      response.end(
        event({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
          event({
            id: 'c',
            choices: [],
            usage: {
              prompt_tokens: prompt,
              completion_tokens: 5,
              prompt_tokens_details: { cached_tokens: cached },
            },
          }) +
          'data: [DONE]\n\n',
      )
    })
    const gateway = await world.gateway(behind.url)
    const messages: object[] = [{ role: 'user', content: 'go' }]
    const url = `${gateway.url}/v1/chat/completions`
    for (const turn of [1, 2, 3, 4, 5]) {
      const body = JSON.stringify({
        model,
        stream: true,
        tools: [{ type: 'function', function: { name: 't' } }],
        messages,
      })
      if (turn === 3) await heardInPart(url, body)
      else await send(url, body)
      await until(() => gateway.savings.all.requests === turn)
      messages.push({ role: 'assistant', content: 'so' }, { role: 'user', content: `on ${turn}` })
    }
    expect(gateway.breaks.newest).toEqual([])
    expect(gateway.savings.sessions()).toHaveLength(1)
    expect(gateway.savings.all).toMatchObject({ requests: 5, unreported: 1, unpriced: 0, output: 20 })
    expect(gateway.savings.all.untouchedCost).toBe(gateway.savings.all.cost)
  })
})

describe('an answer in a coding that could not be heard', () => {
  it('[GW40] is not asked for', async () => {
    const asked: (string | undefined)[] = []
    const behind = await upstream(({ incoming }, response) => {
      asked.push(incoming.headers['accept-encoding'])
      answers(response, '{}')
    })
    const { url } = await world.gateway(behind.url)
    for (const coding of ['gzip, deflate, br, zstd', 'zstd;q=1, *', 'br;q=0.5'])
      await send(`${url}/v1/messages`, '{}', { 'accept-encoding': coding })
    await send(`${url}/v1/messages`, '{}')
    expect(asked).toEqual(['gzip, deflate, br', 'identity', 'br;q=0.5', undefined])
  })
})

/** A client that goes away after the first words. */
const heardInPart = (url: string, body: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': 'k-canary-123' }
    const outgoing = httpRequest(url, { method: 'POST', headers }, (incoming) => {
      incoming.once('error', () => undefined)
      incoming.once('data', () => {
        outgoing.destroy()
        resolve()
      })
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })
