import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { servers } from '../../../../../test/simulated-server.ts'
import { call, ruleModel, scripted, text, thinking, type Answerer } from '../../../index.ts'

const serve = servers()
const client = (url: string, apiKey = 'test-key') =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 })
const model = 'gpt-6-sol'
const read = {
  type: 'function' as const,
  name: 'read',
  strict: false,
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
}
const stateless = { store: false, include: ['reasoning.encrypted_content' as const] }
const LONG = 'a sentence that is long enough to be kept. '.repeat(200)

/** Thinks, says a word and calls twice; then says what came back. */
const worker: Answerer = {
  answer: ({ request }) => {
    const results = request.messages.flatMap((each) =>
      typeof each.content === 'string' ? [] : each.content.filter((block) => block.type === 'tool_result'),
    )
    return results.length > 0
      ? { content: [thinking('It is clear.'), text(`Got ${results.length}.`)], stop_reason: 'end_turn' }
      : {
          content: [
            thinking('Two files are needed.'),
            text('Reading.'),
            call('read', { path: 'a' }),
            call('read', { path: 'b' }),
          ],
          stop_reason: 'tool_use',
        }
  },
}

describe('the official SDK on Responses', () => {
  it('[V61] a stateless tool loop goes through with its sealed reasoning', async () => {
    const { url, last } = await serve(worker)
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'go' }]
    const first = await client(url).responses.create({ model, input, tools: [read], ...stateless })
    expect(first.output.map((each) => each.type)).toEqual([
      'reasoning',
      'message',
      'function_call',
      'function_call',
    ])
    expect(first.output[0]).toMatchObject({ summary: [], encrypted_content: expect.any(String) })
    expect(first.output[1]).toMatchObject({ phase: 'commentary' })
    const outputs = first.output.flatMap((each) =>
      each.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: each.call_id, output: 'text' }]
        : [],
    )
    const whole = [...input, ...first.output, ...outputs] as OpenAI.Responses.ResponseInput
    const again = { model, tools: [read], ...stateless, input: whole }
    const second = await client(url).responses.create(again)
    expect(second.output_text).toBe('Got 2.')
    expect(second.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0)
    expect(Object.values(second.usage?.input_tokens_details ?? {}).every(Number.isInteger)).toBe(true)
    expect(last()).toMatchObject({ path: '/v1/responses', status: 200, stopReason: 'completed' })
    const counted = await client(url).responses.inputTokens.count({
      model,
      input: again.input,
      tools: [read],
    })
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: second.usage?.input_tokens })
  })

  it('[V62] events come in order, numbered, and tell the same as the whole response', async () => {
    const { url } = await serve(worker)
    const body = { model, input: 'go', tools: [read], reasoning: { summary: 'auto' as const }, ...stateless }
    const whole = await client(url).responses.create(body)
    const stream = await client(url).responses.create({ ...body, stream: true })
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of stream) events.push(event)
    expect(events.map((each) => each.sequence_number)).toEqual(events.map((_, index) => index))
    const seen = events.map((each) => each.type).filter((each, index, all) => each !== all[index - 1])
    expect(seen).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      ...Array.from({ length: 2 }, () => [
        'response.output_item.added',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done',
      ]).flat(),
      'response.completed',
    ])
    const done = events.at(-1)
    const plain = (items: readonly OpenAI.Responses.ResponseOutputItem[]) =>
      items.map((item) => ({ ...item, id: '', call_id: '', encrypted_content: '' }))
    expect(done?.type === 'response.completed' && plain(done.response.output)).toEqual(plain(whole.output))
    expect(done?.type === 'response.completed' && done.response.usage).toEqual(whole.usage)
    const added = events.find((each) => each.type === 'response.output_item.added')
    const filled = events.find((each) => each.type === 'response.output_item.done')
    const sealed = (event: typeof added | typeof filled) =>
      event !== undefined && event.item.type === 'reasoning' ? (event.item.encrypted_content ?? '') : ''
    expect(sealed(filled).length).toBeGreaterThan(sealed(added).length)
  })

  it('[V63] reasoning goes or stays with the item behind it', async () => {
    const { url } = await serve(worker)
    const { output } = await client(url).responses.create({ model, input: 'go', tools: [read], ...stateless })
    const [reasoning, message, one, two] = output
    const said = { role: 'user' as const, content: 'go' }
    const send = (...items: readonly unknown[]) =>
      client(url)
        .responses.create({ model, ...stateless, input: [said, ...items] as OpenAI.Responses.ResponseInput })
        .then(
          () => 'taken',
          (error: unknown) => (error instanceof Error ? error.message : ''),
        )
    const result = (item: typeof one) => ({
      type: 'function_call_output',
      call_id: item?.type === 'function_call' ? item.call_id : '',
      output: 'x',
    })
    expect(await send(reasoning, message, one, two, result(one), result(two))).toBe('taken')
    expect(await send(reasoning, said)).toBe(
      `400 Item '${reasoning?.id}' of type 'reasoning' was provided without its required following item.`,
    )
    expect(await send(one, result(one))).toBe(
      `400 Item '${one?.id}' of type 'function_call' was provided without its required 'reasoning' item: '${reasoning?.id}'.`,
    )
    expect(await send({ ...one, id: undefined }, result(one))).toBe('taken')
    expect(await send(reasoning, message, one)).toMatch(/^400 No tool output found for function call call_/)
    expect(await send(result(one))).toMatch(
      /^400 No tool call found for function call output with call_id call_/,
    )
    expect(await send(reasoning, message, reasoning, message)).toMatch(
      /^400 Duplicate item found with id rs_/,
    )
    const bare = { ...reasoning, encrypted_content: undefined }
    expect(await send(bare, message)).toBe(
      `404 Item with id '${reasoning?.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    )
  })

  it('[V64] sealed reasoning is for one model and one tenant', async () => {
    const { url } = await serve(worker)
    const { output } = await client(url).responses.create({ model, input: 'go', ...stateless })
    const said = { role: 'user' as const, content: 'go' }
    const input = [said, ...output.slice(0, 2), said] as OpenAI.Responses.ResponseInput
    expect((await client(url).responses.create({ model, input, ...stateless })).status).toBe('completed')
    const other = await client(url)
      .responses.create({ model: 'gpt-5.5', input, ...stateless })
      .catch((each: unknown) => each)
    expect(other).toMatchObject({ status: 400, code: 'invalid_encrypted_content' })
    const foreign = await client(url, 'another')
      .responses.create({ model, input, ...stateless })
      .catch((each: unknown) => each)
    expect(foreign).toMatchObject({
      code: 'invalid_encrypted_content',
      message: expect.stringContaining('organization'),
    })
  })

  it('[V65] a stored response can be continued, read and removed; an unstored one cannot', async () => {
    const { url } = await serve(worker)
    const first = await client(url).responses.create({ model, input: 'go', tools: [read] })
    expect(first.output[0]).not.toHaveProperty('encrypted_content')
    const outputs = first.output.flatMap((each) =>
      each.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: each.call_id, output: 'x' }]
        : [],
    )
    const second = await client(url).responses.create({
      model,
      input: outputs,
      previous_response_id: first.id,
    })
    expect(second.output_text).toBe('Got 2.')
    expect((await client(url).responses.retrieve(first.id)).id).toBe(first.id)
    await client(url).responses.delete(first.id)
    await expect(client(url).responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
    const unstored = await client(url).responses.create({ model, input: 'go', store: false })
    const gone = await client(url)
      .responses.create({ model, input: 'on', previous_response_id: unstored.id })
      .catch((each: unknown) => each)
    expect(gone).toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      message: `400 Previous response with id '${unstored.id}' not found.`,
    })
  })

  it('[V66] tools with free text, and tools that come as an item', async () => {
    const patch = '*** Begin Patch\n*** End Patch'
    const { url } = await serve(scripted([[call('apply_patch', { input: patch })], 'done']))
    const tools = [{ type: 'custom' as const, name: 'apply_patch' }]
    const said = { role: 'user' as const, content: 'go' }
    const item = { type: 'additional_tools' as const, role: 'developer' as const, tools }
    const first = await client(url).responses.create({ model, input: [item, said], ...stateless })
    expect(first.output[0]).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input: patch })
    const made = first.output[0]
    const id = made?.type === 'custom_tool_call' ? made.call_id : ''
    const output = { type: 'custom_tool_call_output' as const, call_id: id, output: 'ok' }
    const input = [item, said, ...first.output, output] as OpenAI.Responses.ResponseInput
    expect((await client(url).responses.create({ model, input, ...stateless })).output_text).toBe('done')
    const orphan = await client(url)
      .responses.create({ model, input: [said, output], ...stateless })
      .catch((each: unknown) => each)
    expect(orphan).toMatchObject({
      message: `400 No tool call found for custom tool call output with call_id ${id}.`,
    })
  })

  it('[V67] a prompt over the window is refused, or told after the stream has begun', async () => {
    const small = [{ id: 'gpt-small', window: 2000 }]
    const { dialectModels } = await import('../../../index.ts')
    const base = dialectModels[0]
    if (base === undefined) throw new Error('no model')
    const models = small.map((each) => ({ ...base, ...each }))
    const body = { model: 'gpt-small', input: LONG }
    const refused = await serve(worker, { dialectModels: models })
    await expect(client(refused.url).responses.create(body)).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    })
    const late = await serve(worker, { dialectModels: models, overflow: 'in-stream' })
    const stream = await client(late.url).responses.create({ ...body, stream: true })
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of stream) events.push(event)
    expect(events.map((each) => each.type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
    ])
    expect(events.at(-1)).toMatchObject({ response: { error: { code: 'context_length_exceeded' } } })
    const input = [
      { role: 'user' as const, content: LONG },
      { role: 'user' as const, content: 'last' },
    ]
    const cut = await client(refused.url).responses.create({ model: 'gpt-small', input, truncation: 'auto' })
    expect([cut.status, (cut.usage?.input_tokens ?? 0) < 2000]).toEqual(['completed', true])
  })

  it('[V68] a marked prefix is exact, and who broke it is told', async () => {
    const { url, clock } = await serve({ answer: () => ({ content: [text('ok')], stop_reason: 'end_turn' }) })
    const ask = async (words: string, more: object = {}) => {
      const response = await client(url).responses.create({
        model,
        prompt_cache_key: 'k',
        prompt_cache_options: { mode: 'explicit', ...more },
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: LONG, prompt_cache_breakpoint: { mode: 'explicit' } },
              { type: 'input_text', text: words },
            ],
          },
        ],
      })
      const { cached_tokens, cache_write_tokens } = response.usage?.input_tokens_details ?? {}
      return {
        id: response.id,
        seen: [cached_tokens, cache_write_tokens],
        why: response.prompt_cache_diagnostics,
      }
    }
    const first = await ask('one')
    const written = first.seen[1] ?? 0
    expect(first.seen[0]).toBe(0)
    expect(written).toBeGreaterThan(1024)
    expect(written % 128).not.toBe(0)
    expect((await ask('two')).seen).toEqual([written, 0])
    clock.advance(29 * 60_000)
    expect((await ask('three')).seen).toEqual([written, 0])
    clock.advance(31 * 60_000)
    expect((await ask('four')).seen).toEqual([0, written])
    expect((await ask('four', { comparison_response_id: first.id })).why).toMatchObject({
      type: expect.any(String),
    })
    expect((await ask('four', { comparison_response_id: 'resp_none' })).why).toEqual({
      type: 'comparison_response_not_found',
    })
  })

  it('[V68] a mark is no part of what is cached, on a picture as on a text', async () => {
    const { url } = await serve({ answer: () => ({ content: [text('ok')], stop_reason: 'end_turn' }) })
    const image = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,iVBORw0KGgo=' }
    const ask = async (more: object) => {
      const { usage } = await client(url).responses.create({
        model,
        input: [{ role: 'user', content: [image, { ...image, ...more }] as never }],
      })
      return usage?.input_tokens_details?.cached_tokens
    }
    expect(await ask({})).toBe(0)
    const plain = await ask({})
    expect(plain).toBeGreaterThan(1024)
    expect(await ask({ prompt_cache_breakpoint: { mode: 'explicit' } })).toBeGreaterThanOrEqual(plain!)
  })

  it('[V68] a request that asks for explicit marks reads and writes nothing else', async () => {
    const { url } = await serve({ answer: () => ({ content: [text('ok')], stop_reason: 'end_turn' }) })
    const ask = async (mode: 'implicit' | 'explicit') => {
      const { usage } = await client(url).responses.create({
        model,
        input: LONG,
        prompt_cache_key: 'k',
        prompt_cache_options: { mode },
      })
      const { cached_tokens, cache_write_tokens } = usage?.input_tokens_details ?? {}
      return [cached_tokens, cache_write_tokens]
    }
    const [, written] = await ask('implicit')
    expect(written).toBeGreaterThan(1024)
    expect(await ask('explicit')).toEqual([0, 0])
    expect(await ask('implicit')).toEqual([written, 0])
  })

  it('[V69] compaction gives one sealed account that a later request can begin with', async () => {
    const { url } = await serve(
      scripted(['<summary>all is well</summary>', ({ messages }) => JSON.stringify(messages)]),
    )
    const said = { role: 'user' as const, content: 'go' }
    const compacted = await client(url).responses.compact({
      model,
      input: [said, { role: 'assistant', content: 'so' }],
    })
    expect(compacted.object).toBe('response.compaction')
    expect(compacted.output.map((each) => each.type)).toEqual(['message', 'compaction'])
    const input = [...compacted.output, said] as OpenAI.Responses.ResponseInput
    const next = await client(url).responses.create({ model, input, ...stateless })
    expect(next.output_text).toContain('all is well')
    const twice = await client(url)
      .responses.create({
        model,
        input: [
          ...compacted.output,
          { ...compacted.output[1], id: 'cmp_2' },
        ] as OpenAI.Responses.ResponseInput,
      })
      .catch((each: unknown) => each)
    expect(twice).toMatchObject({ status: 400 })
  })

  it('[V61] the rule-based model follows a task through function calls', async () => {
    const { url } = await serve(ruleModel())
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { role: 'user', content: '<task name="t">\n1. read a.ts\n2. say Done.\n</task>' },
    ]
    const first = await client(url).responses.create({ model, input, tools: [read], ...stateless })
    const made = first.output.find((each) => each.type === 'function_call')
    const output = {
      type: 'function_call_output' as const,
      call_id: made?.call_id ?? '',
      output: 'const a = 1',
    }
    const second = await client(url).responses.create({
      model,
      input: [...input, ...first.output, output] as OpenAI.Responses.ResponseInput,
      tools: [read],
      ...stateless,
    })
    expect(second.output_text).toContain('Done.')
  })
})
