import OpenAI, { AuthenticationError, NotFoundError } from 'openai'
import { describe, expect, it } from 'vitest'
import { servers } from '../../../../../test/simulated-server.ts'
import { call, ruleModel, scripted, text, thinking } from '../../../index.ts'

const serve = servers()
const client = (url: string, path = '/v1') =>
  new OpenAI({ apiKey: 'test-key', baseURL: `${url}${path}`, maxRetries: 0 })
const model = 'gpt-6-sol'
const read = {
  type: 'function' as const,
  function: { name: 'read', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
}
const hello = { model, messages: [{ role: 'user' as const, content: 'hello' }] }
const LONG = 'a sentence that is long enough to be kept. '.repeat(200)

describe('the official SDK on Chat Completions', () => {
  it('[V57] creates and lists, with usage that adds up', async () => {
    const { url, last } = await serve(scripted(['Hello there.']))
    const answer = await client(url).chat.completions.create(hello)
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Hello there.', refusal: null },
    })
    const { usage } = answer
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0))
    expect(last()).toMatchObject({ path: '/v1/chat/completions', status: 200, model, stopReason: 'stop' })
    const models = await client(url).models.list()
    expect(models.data.map((each) => each.id)).toContain(model)
    expect((await client(url).models.retrieve(model)).id).toBe(model)
    await expect(client(url).models.retrieve('gpt-9')).rejects.toMatchObject({ status: 404 })
  })

  it('[V58] streams the same as it gives whole: parallel calls, id and name once, arguments in pieces', async () => {
    const calls = [
      call('read', { path: 'a.ts', deep: { words: 'é🙂'.repeat(20) } }),
      call('read', { path: 'b.ts' }),
    ]
    const { url } = await serve({
      answer: () => ({ content: [thinking('hm'), text('Reading.'), ...calls], stop_reason: 'tool_use' }),
    })
    const body = { ...hello, tools: [read] }
    const whole = await client(url).chat.completions.create(body)
    const stream = client(url).chat.completions.stream({ ...body, stream_options: { include_usage: true } })
    const chunks: OpenAI.ChatCompletionChunk[] = []
    stream.on('chunk', (chunk) => chunks.push(chunk))
    const final = await stream.finalChatCompletion()
    const plain = (made: typeof whole) =>
      made.choices[0]?.message.tool_calls?.map((each) => (each.type === 'function' ? each.function : null))
    expect(plain(final)?.map((each) => JSON.parse(each?.arguments ?? ''))).toEqual(
      plain(whole)?.map((each) => JSON.parse(each?.arguments ?? '')),
    )
    expect(final.choices[0]?.message.content).toBe('Reading.')
    expect(final.choices[0]?.finish_reason).toBe('tool_calls')
    expect(final.usage).toEqual(whole.usage)
    const named = chunks
      .flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
      .filter((each) => each.id)
    expect(named.map((each) => [each.index, each.function?.name, each.function?.arguments])).toEqual([
      [0, 'read', ''],
      [1, 'read', ''],
    ])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: whole.usage?.prompt_tokens } })
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
    expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0)
    expect(JSON.stringify(whole)).not.toContain('"hm"')
  })

  it('[V58] without include_usage no chunk speaks of usage', async () => {
    const { url } = await serve(scripted(['Hello there.']))
    const stream = await client(url).chat.completions.create({ ...hello, stream: true })
    for await (const chunk of stream) {
      expect(chunk).not.toHaveProperty('usage')
      expect(chunk.choices).toHaveLength(1)
    }
  })

  it('[V57] a tool loop of the rule-based model goes through', async () => {
    const { url } = await serve(ruleModel())
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'You work.' },
      { role: 'user', content: '<task name="t">\n1. read a.ts\n2. say Done.\n</task>' },
    ]
    const first = await client(url).chat.completions.create({ model, messages, tools: [read] })
    const made = first.choices[0]?.message
    const asked = made?.tool_calls?.[0]
    expect(asked).toMatchObject({
      type: 'function',
      function: { name: 'read', arguments: '{"path":"a.ts"}' },
    })
    const second = await client(url).chat.completions.create({
      model,
      tools: [read],
      messages: [
        ...messages,
        { role: 'assistant', content: made?.content ?? null, tool_calls: made?.tool_calls ?? [] },
        { role: 'tool', tool_call_id: asked?.id ?? '', content: 'const a = 1' },
      ],
    })
    expect(second.choices[0]?.message.content).toContain('Done.')
  })

  it('[V59] refusals arrive as the SDK’s own errors', async () => {
    const { url, last } = await serve(scripted([]), { keys: ['right'] })
    const good = new OpenAI({ apiKey: 'right', baseURL: `${url}/v1`, maxRetries: 0 })
    await expect(client(url).chat.completions.create(hello)).rejects.toBeInstanceOf(AuthenticationError)
    const unknown = await good.chat.completions
      .create({ ...hello, model: 'gpt-9' })
      .catch((each: unknown) => each)
    expect(unknown).toBeInstanceOf(NotFoundError)
    expect(unknown).toMatchObject({ code: 'model_not_found', requestID: last().id })
    const empty = await good.chat.completions
      .create({ ...hello, messages: [] })
      .catch((each: unknown) => each)
    expect(empty).toMatchObject({
      status: 400,
      code: 'empty_array',
      param: 'messages',
      type: 'invalid_request_error',
    })
  })

  it('[V60] a prefix is read in steps of 128 from 1,024 tokens on, under its key, for five minutes', async () => {
    const { url, clock, last } = await serve({
      answer: () => ({ content: [text('ok')], stop_reason: 'end_turn' }),
    })
    const ask = async (key: string | undefined, content = LONG) => {
      const { usage } = await client(url).chat.completions.create({
        model: 'gpt-5.5',
        messages: [
          { role: 'system', content },
          { role: 'user', content: 'go' },
        ],
        ...(key === undefined ? {} : { prompt_cache_key: key }),
      })
      return usage?.prompt_tokens_details?.cached_tokens ?? -1
    }
    expect(await ask('a')).toBe(0)
    const cached = await ask('a')
    expect(cached).toBeGreaterThan(1024)
    expect(cached % 128).toBe(0)
    expect(await ask('b')).toBe(0)
    expect(await ask(undefined)).toBe(0)
    expect(await ask('a', `${LONG.slice(0, 6000)} another way`)).toBe(Math.floor(6000 / 4 / 128) * 128)
    expect(await ask('a', 'short')).toBe(0)
    clock.advance(301_000)
    expect(await ask('a')).toBe(0)
    expect(last().usage?.cache_creation_input_tokens).toBe(0)
  })

  it('[V60] since 5.6 what is written is reported and billed', async () => {
    const { url, last } = await serve({ answer: () => ({ content: [text('ok')], stop_reason: 'end_turn' }) })
    const body = {
      model: 'gpt-5.6-sol',
      messages: [{ role: 'user' as const, content: LONG }],
      prompt_cache_key: 'k',
    }
    const first = await client(url).chat.completions.create(body)
    const details = first.usage?.prompt_tokens_details
    expect(details?.cache_write_tokens).toBeGreaterThan(1024)
    const bill = last().bill
    expect(bill?.dollars).toBeCloseTo(
      ((bill?.uncachedTokens ?? 0) * 4 + (bill?.writtenTokens ?? 0) * 5 + (bill?.outputTokens ?? 0) * 20) /
        1e6,
      12,
    )
    const second = await client(url).chat.completions.create(body)
    expect(second.usage?.prompt_tokens_details).toMatchObject({
      cached_tokens: details?.cache_write_tokens,
      cache_write_tokens: 0,
    })
  })
})
