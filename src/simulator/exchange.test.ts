import { describe, expect, it } from 'vitest'
import type { WireBlock, WireMessage, WireRequest } from '../model/wire.ts'
import type { Answer } from './answer.ts'
import { createExchange, createManualClock, type ExchangeOptions, type Reply } from './exchange.ts'

const text = (words: string): WireBlock => ({ type: 'text', text: words })
const think = (words: string): WireBlock => ({ type: 'thinking', thinking: words })
const call = (id: string, input = {}): WireBlock => ({ type: 'tool_use', id, name: 'read', input })
const result = (id: string, content = 'ok'): WireBlock => ({ type: 'tool_result', tool_use_id: id, content })
const user = (...content: WireBlock[]): WireMessage => ({ role: 'user', content })
const assistant = (content: readonly WireBlock[]): WireMessage => ({ role: 'assistant', content })
const BINDING = 'thinking-binding-controls-2026-08-01'
const EDITING = 'context-management-2025-06-27'
const tools = [{ name: 'read', description: 'Reads.', input_schema: { type: 'object' } }]

/** Answers in turn, then with plain text for ever. */
function exchange(answers: readonly Answer[] = [], options: Partial<ExchangeOptions> = {}) {
  const clock = createManualClock(1_000_000)
  const left = [...answers]
  const made = createExchange({
    clock,
    answerer: { answer: () => left.shift() ?? { content: [text('fine')], stop_reason: 'end_turn' } },
    ...options,
  })
  const ask = async (
    messages: readonly WireMessage[],
    more: Partial<WireRequest> = {},
    betas: readonly string[] = [],
  ) => {
    const body = { model: 'claude-fable-5-2', max_tokens: 4000, messages, ...more }
    const outcome = await made.create(body, { 'anthropic-beta': betas.join(',') })
    if (outcome.ok) outcome.reply.begin()
    return outcome
  }
  const reply = async (...args: Parameters<typeof ask>): Promise<Reply> => {
    const outcome = await ask(...args)
    if (!outcome.ok) throw new Error(outcome.error.error.message)
    return outcome.reply
  }
  const refusal = async (...args: Parameters<typeof ask>): Promise<string> => {
    const outcome = await ask(...args)
    return outcome.ok ? 'accepted' : outcome.error.error.message
  }
  return { ask, reply, refusal, clock, made }
}

const rounds = (): readonly Answer[] => [
  { content: [think('first'), text('a'), think('second'), call('t1')], stop_reason: 'tool_use' },
  { content: [think('third'), call('t2')], stop_reason: 'tool_use' },
]

/** Two rounds of a tool loop on a binding model, as a faithful client would send them. */
async function talk(
  options: Partial<ExchangeOptions> = {},
  more: Partial<WireRequest> = {},
  later: readonly Answer[] = [],
) {
  const talker = exchange([...rounds(), ...later], options)
  const one = await talker.reply([user(text('go'))], { tools, ...more })
  const first = [user(text('go')), assistant(one.response.content), user(result('t1'))]
  const two = await talker.reply(first, { tools, ...more })
  const messages = [...first, assistant(two.response.content), user(result('t2'))]
  return { ...talker, messages }
}

function without(messages: readonly WireMessage[], paths: readonly string[]): readonly WireMessage[] {
  return messages.map((message, index) => ({
    ...message,
    content: (message.content as readonly WireBlock[]).filter(
      (_, position) => !paths.includes(`${index}.${position}`),
    ),
  }))
}
const edited = (messages: readonly WireMessage[], index: number, ...content: WireBlock[]) =>
  messages.map((message, at) => (at === index ? { ...message, content } : message))

const BOUND = (path: string) =>
  `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`

describe('reasoning', () => {
  it('[V15] what the simulator signed is accepted, what it did not sign is refused', async () => {
    const { messages, refusal } = await talk()
    expect(await refusal(messages, { tools })).toBe('accepted')
    const foreign = edited(
      messages,
      1,
      { type: 'thinking', thinking: '', signature: 'EqQBforeign' },
      call('t1'),
    )
    expect(await refusal(foreign, { tools })).toBe(
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    )
  })

  it('[V15] redacted reasoning goes there and back under its own seal', async () => {
    const redacted: Answer = {
      content: [{ type: 'redacted_thinking', data: 'hidden' }, text('so')],
      stop_reason: 'end_turn',
    }
    const { reply, refusal } = exchange([redacted])
    const { response } = await reply([user(text('go'))])
    const back = (content: readonly WireBlock[]) => [user(text('go')), assistant(content), user(text('on'))]
    expect(await refusal(back(response.content))).toBe('accepted')
    expect(await refusal(back(redacted.content))).toBe(
      'messages.1.content.0: Invalid `data` in `redacted_thinking` block',
    )
  })

  it('[V14] reasoning that was altered is refused, with its own words in the latest turn', async () => {
    const { messages, refusal } = await talk()
    const alter = (block: WireBlock) => (block.type === 'thinking' ? { ...block, thinking: 'other' } : block)
    const altered = messages.map((each, index) =>
      index === 3 ? { ...each, content: (each.content as readonly WireBlock[]).map(alter) } : each,
    )
    expect(await refusal(altered, { tools })).toBe(
      'messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    )
    const earlier = messages.map((each, index) =>
      index === 1 ? { ...each, content: (each.content as readonly WireBlock[]).map(alter) } : each,
    )
    expect(await refusal(earlier, { tools })).toBe(
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    )
  })

  it('[V25] a bound block is refused after any change before it, and accepted after none', async () => {
    const { messages, refusal } = await talk()
    const header = `${BOUND('messages.1.content.0')} That setting requires the \`${BINDING}\` value in the \`anthropic-beta\` header.`
    expect(await refusal(edited(messages, 0, text('Go')), { tools })).toBe(header)
    expect(await refusal(messages, { tools, system: 'new' }, [BINDING])).toBe(BOUND('messages.1.content.0'))
    expect(await refusal(messages, {}, [BINDING])).toBe(BOUND('messages.1.content.0'))
    expect(await refusal(edited(messages, 2, result('t1', 'shorter')), { tools }, [BINDING])).toBe(
      BOUND('messages.3.content.0'),
    )
    const marked = edited(messages, 0, { ...text('go'), cache_control: { type: 'ephemeral' } })
    expect(
      await refusal([{ role: 'user', content: 'go' }, ...messages.slice(1)], { tools, max_tokens: 9 }),
    ).toBe('accepted')
    expect(
      await refusal(marked, {
        tools: [...tools, { name: 'later', input_schema: { type: 'object' }, defer_loading: true }],
      }),
    ).toBe('accepted')
  })

  it('[V25] reasoning may be missing at the start and the end, not in the middle', async () => {
    const { messages, refusal } = await talk()
    expect(await refusal(without(messages, ['1.0']), { tools })).toBe('accepted')
    expect(await refusal(without(messages, ['1.0', '1.2']), { tools })).toBe('accepted')
    expect(await refusal(without(messages, ['3.0']), { tools })).toBe('accepted')
    expect(await refusal(without(messages, ['1.0', '1.2', '3.0']), { tools })).toBe('accepted')
    expect(await refusal(without(messages, ['1.2']), { tools }, [BINDING])).toBe(
      BOUND('messages.3.content.0'),
    )
  })

  it('[V25] reasoning that was taken out cannot be put back', async () => {
    const again: Answer = { content: [think('fourth'), call('t3')], stop_reason: 'tool_use' }
    const { messages, refusal, reply } = await talk({}, {}, [again])
    const bare = without(messages, ['1.0', '1.2', '3.0'])
    const { response } = await reply(bare, { tools })
    const after = [assistant(response.content), user(result('t3'))]
    expect(await refusal([...bare, ...after], { tools })).toBe('accepted')
    expect(await refusal([...messages, ...after], { tools }, [BINDING])).toBe(BOUND('messages.5.content.0'))
  })

  it('[V25] drop_block drops the block and every later one, says so and does not count them', async () => {
    const { messages, reply } = await talk()
    const binding = {
      thinking: {
        type: 'adaptive' as const,
        block_binding: { prefix_mismatch_behavior: 'drop_block' as const },
      },
    }
    const changed = edited(messages, 2, result('t1', 'shorter'))
    const dropped = await reply(changed, { tools, ...binding }, [BINDING])
    expect(dropped.response.input_transformations).toEqual([
      { type: 'thinking_dropped', path: 'messages.3.content.0', reason: 'prefix_binding_mismatch' },
    ])
    const bare = await reply(without(changed, ['3.0']), { tools, ...binding }, [BINDING])
    expect(dropped.reading.prompt.totalTokens).toBe(bare.reading.prompt.totalTokens)
    const all = await reply(edited(messages, 0, text('Go')), { tools, ...binding }, [BINDING])
    expect(all.response.input_transformations?.map((each) => each['path'])).toEqual([
      'messages.1.content.0',
      'messages.1.content.2',
      'messages.3.content.0',
    ])
  })

  it('[V25] while a dropped block is still sent, even reasoning made after the drop is dropped', async () => {
    const again: Answer = { content: [think('fourth'), call('t3')], stop_reason: 'tool_use' }
    const { messages, reply } = await talk({}, {}, [again])
    const more = {
      tools,
      thinking: {
        type: 'adaptive' as const,
        block_binding: { prefix_mismatch_behavior: 'drop_block' as const },
      },
    }
    const changed = edited(messages, 2, result('t1', 'shorter'))
    const { response } = await reply(changed, more, [BINDING])
    const after = [assistant(response.content), user(result('t3'))]
    const paths = async (sent: readonly WireMessage[]) =>
      ((await reply(sent, more, [BINDING])).response.input_transformations ?? []).map((each) => each['path'])
    expect(await paths([...changed, ...after])).toEqual(['messages.3.content.0', 'messages.5.content.0'])
    expect(await paths([...without(changed, ['3.0']), ...after])).toEqual([])
  })

  it('[V25] an older account is bound only where it asks to be', async () => {
    const { messages, refusal } = await talk({ newAccount: false }, { model: 'claude-opus-5-5' })
    const changed = edited(messages, 0, text('Go'))
    const more = { tools, model: 'claude-opus-5-5' }
    expect(await refusal(changed, more)).toBe('accepted')
    const asked = {
      ...more,
      thinking: { type: 'adaptive' as const, block_binding: { prefix_mismatch_behavior: 'error' as const } },
    }
    expect(await refusal(changed, asked, [BINDING])).toBe(BOUND('messages.1.content.0'))
    expect(await refusal(messages, asked, [BINDING])).toBe('accepted')
    expect(await refusal(messages, asked)).toBe(
      'thinking.adaptive.block_binding: Extra inputs are not permitted',
    )
  })

  it('[V25] reasoning of another model is dropped without a word', async () => {
    const { messages, reply } = await talk()
    const other = await reply(messages, { tools, model: 'claude-opus-5' })
    const bare = await reply(without(messages, ['1.0', '1.2', '3.0']), { tools, model: 'claude-opus-5' })
    expect(other.response.input_transformations).toBeUndefined()
    expect(other.reading.prompt.totalTokens).toBe(bare.reading.prompt.totalTokens)
  })

  it('[V39] hidden reasoning is empty but weighs what it weighed, shown reasoning keeps its text', async () => {
    const words = 'a long thought '.repeat(50)
    const hidden = exchange([{ content: [think(words), text('so')], stop_reason: 'end_turn' }])
    const shown = exchange([{ content: [think(words), text('so')], stop_reason: 'end_turn' }])
    const one = await hidden.reply([user(text('go'))])
    const two = await shown.reply([user(text('go'))], {
      thinking: { type: 'adaptive', display: 'summarized' },
    })
    expect(one.response.content[0]?.['thinking']).toBe('')
    expect(two.response.content[0]?.['thinking']).toBe(words)
    expect(one.response.usage.output_tokens).toBe(two.response.usage.output_tokens)
    const next = async (talker: typeof hidden, { response }: Reply) =>
      (await talker.reply([user(text('go')), assistant(response.content), user(text('on'))])).reading.prompt
        .totalTokens
    expect(await next(hidden, one)).toBe(await next(shown, two))
  })
})

describe('sizes', () => {
  const long = (tokens: number) => text('abcd'.repeat(tokens))
  it('[V40] a prompt over the window is refused with both numbers', async () => {
    const { refusal, reply } = exchange()
    expect(await refusal([user(long(200_001))], { model: 'claude-sonnet-4-5' })).toBe(
      'prompt is too long: 200004 tokens > 200000 maximum',
    )
    expect((await reply([user(long(190_000))], { model: 'claude-sonnet-4-5' })).response.stop_reason).toBe(
      'end_turn',
    )
  })

  it('[V40] older models refuse what input and max_tokens exceed together, newer ones end with the window', async () => {
    const { refusal } = exchange()
    const more = { model: 'claude-opus-4-1', max_tokens: 20_000 }
    expect(await refusal([user(long(188_056))], more)).toBe(
      'input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    )
    expect(await refusal([user(long(179_000))], more)).toBe('accepted')
    const filled = exchange([{ content: [long(5000)], stop_reason: 'end_turn' }])
    const { response } = await filled.reply([user(long(199_000))], {
      model: 'claude-sonnet-4-5',
      max_tokens: 20_000,
    })
    expect(response.stop_reason).toBe('model_context_window_exceeded')
    expect(response.usage.output_tokens).toBe(997)
  })

  it('[V41] an answer is cut at max_tokens, and a call that was cut has no input', async () => {
    const answer: Answer = {
      content: [text('ab'), call('t1', { path: 'x'.repeat(400) })],
      stop_reason: 'tool_use',
    }
    const { reply } = exchange([answer, answer])
    const { response, emission } = await reply([user(text('go'))], { max_tokens: 40 })
    expect(response.stop_reason).toBe('max_tokens')
    expect(response.usage.output_tokens).toBe(40)
    expect(response.content[1]?.['input']).toEqual({})
    expect(() => void JSON.parse(emission.blocks[1]?.inputJson ?? '{}')).toThrow()
    expect((await reply([user(text('go'))], { max_tokens: 400 })).response.stop_reason).toBe('tool_use')
  })

  it('[V27] a pre-warm writes the cache and says nothing', async () => {
    const { reply } = exchange()
    const marked = { ...long(3000), cache_control: { type: 'ephemeral' as const } }
    const { response } = await reply([user(marked)], { max_tokens: 0 })
    expect(response).toMatchObject({ content: [], stop_reason: 'max_tokens', usage: { output_tokens: 0 } })
    expect(response.usage.cache_creation_input_tokens).toBeGreaterThan(3000)
    expect((await reply([user(marked)])).response.usage.cache_read_input_tokens).toBe(
      response.usage.cache_creation_input_tokens,
    )
  })
})

describe('context editing', () => {
  const loop = (count: number): WireMessage[] => [
    user(text('go')),
    ...Array.from({ length: count }, (_, index) => [
      assistant([call(`t${index}`, { path: 'p'.repeat(200) })]),
      user(result(`t${index}`, 'word '.repeat(400))),
    ]).flat(),
  ]
  const clearing = (more: object = {}) => ({
    tools,
    context_management: {
      edits: [
        {
          type: 'clear_tool_uses_20250919' as const,
          trigger: { type: 'tool_uses' as const, value: 4 },
          ...more,
        },
      ],
    },
  })

  it('[V42] old results are cleared past the trigger, the newest kept, and the report matches the count', async () => {
    const { reply } = exchange()
    const below = await reply(loop(4), clearing(), [EDITING])
    expect(below.response.context_management).toEqual({ applied_edits: [] })
    const plain = await reply(loop(8), { tools })
    const above = await reply(loop(8), clearing(), [EDITING])
    const freed = plain.reading.prompt.totalTokens - above.reading.prompt.totalTokens
    expect(above.response.context_management?.applied_edits).toEqual([
      { type: 'clear_tool_uses_20250919', cleared_tool_uses: 5, cleared_input_tokens: freed },
    ])
    expect(freed).toBeGreaterThan(2000)
  })

  it('[V42] keep, exclude_tools, clear_at_least and clear_tool_inputs are respected', async () => {
    const { reply } = exchange()
    const cleared = async (more: object) =>
      (await reply(loop(8), clearing(more), [EDITING])).response.context_management?.applied_edits[0] ?? null
    expect(await cleared({ keep: { type: 'tool_uses', value: 6 } })).toMatchObject({ cleared_tool_uses: 2 })
    expect(await cleared({ exclude_tools: ['read'] })).toBeNull()
    expect(await cleared({ clear_at_least: { type: 'input_tokens', value: 100_000 } })).toBeNull()
    const inputs = await cleared({ clear_tool_inputs: ['read'] })
    expect(Number(inputs?.['cleared_input_tokens'])).toBeGreaterThan(
      Number((await cleared({}))?.['cleared_input_tokens']),
    )
  })

  it('[V42] old reasoning is cleared by turns, and clearing does not break what is bound', async () => {
    const talker = exchange([
      { content: [think('one '.repeat(99)), text('a')], stop_reason: 'end_turn' },
      { content: [think('two '.repeat(99)), text('b')], stop_reason: 'end_turn' },
    ])
    const one = await talker.reply([user(text('x'))])
    const first = [user(text('x')), assistant(one.response.content), user(text('y'))]
    const two = await talker.reply(first)
    const both = [...first, assistant(two.response.content), user(text('z'))]
    const keep = (value: number) => ({
      context_management: {
        edits: [
          { type: 'clear_thinking_20251015' as const, keep: { type: 'thinking_turns' as const, value } },
        ],
      },
    })
    expect((await talker.reply(both, keep(2), [EDITING])).response.context_management?.applied_edits).toEqual(
      [],
    )
    const { response } = await talker.reply(both, keep(1), [EDITING])
    expect(response.context_management?.applied_edits).toEqual([
      {
        type: 'clear_thinking_20251015',
        cleared_thinking_turns: 1,
        cleared_input_tokens: expect.any(Number),
      },
    ])
  })

  it('[V43] counting gives what creating bills, and the tokens before clearing', async () => {
    const { reply, made } = exchange()
    const body = { model: 'claude-fable-5-2', messages: loop(8), ...clearing() }
    const counted = made.count(body, { 'anthropic-beta': EDITING })
    const { reading } = await reply(loop(8), clearing(), [EDITING])
    const plain = await reply(loop(8), { tools })
    expect(counted).toEqual({
      ok: true,
      body: {
        input_tokens: reading.prompt.totalTokens,
        context_management: { original_input_tokens: plain.reading.prompt.totalTokens },
      },
    })
  })
})

describe('diagnostics', () => {
  it('[V44] the level that changed is named with the tokens that were lost', async () => {
    const { reply } = exchange()
    const base = { tools, system: 'You help.', diagnostics: { previous_message_id: null } }
    const messages = [user(text('a '.repeat(2000)))]
    const first = await reply(messages, base)
    const diagnose = async (
      next: readonly WireMessage[],
      more: Partial<WireRequest>,
      id = first.response.id,
    ) =>
      (await reply(next, { ...base, ...more, diagnostics: { previous_message_id: id } })).response.diagnostics
    const longer = [...messages, assistant([text('b')]), user(text('c'))]
    expect(first.response.diagnostics).toBeNull()
    expect(await diagnose(longer, {})).toBeNull()
    const total = first.reading.prompt.totalTokens
    expect(await diagnose(longer, { model: 'claude-opus-5' })).toEqual({
      cache_miss_reason: { type: 'model_changed', cache_missed_input_tokens: total },
    })
    expect(await diagnose(longer, { tools: [] })).toEqual({
      cache_miss_reason: { type: 'tools_changed', cache_missed_input_tokens: total },
    })
    expect(await diagnose(longer, { system: 'You hinder.' })).toMatchObject({
      cache_miss_reason: { type: 'system_changed' },
    })
    expect(await diagnose([user(text('other')), ...longer.slice(1)], {})).toMatchObject({
      cache_miss_reason: { type: 'messages_changed' },
    })
    expect(await diagnose(longer, {}, 'msg_none')).toEqual({
      cache_miss_reason: { type: 'previous_message_not_found' },
    })
    await expect(reply(longer, { ...base, diagnostics: { previous_message_id: 'resp_1' } })).rejects.toThrow(
      /^diagnostics\.previous_message_id: must be/u,
    )
  })
})
