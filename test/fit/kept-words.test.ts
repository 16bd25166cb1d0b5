// What a compaction must not lose: what a program told its model in the middle of a conversation, and what a provider has compacted
// itself, which nobody but its model can read.
import { describe, expect, it } from 'vitest'
import { fit } from '../../src/fit/index.ts'
import { fitted } from './rounds.ts'
import { linesOf } from './lists.ts'

type Fields = Readonly<Record<string, unknown>>
const rule = Array.from(
  { length: 12 },
  (_, at) => `${at + 1}. Part ${'abcdefghijkl'[at]} of the house is left as it stands, whoever asks for it.`,
).join('\n')

const item = (role: string, text: string): Fields => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})
const itemsOf = (rounds: number, from = 0): readonly Fields[] =>
  Array.from({ length: rounds }, (_, at) => at + from).flatMap((at) => [
    { type: 'function_call', call_id: `c${at}`, name: 'read', arguments: `{"page":${at}}` },
    { type: 'function_call_output', call_id: `c${at}`, output: linesOf(at, 12_000) },
    item('assistant', `page ${at} is read`),
    item('user', `read the next one, ${at}`),
  ])
const turnsOf = (rounds: number): readonly Fields[] =>
  Array.from({ length: rounds }, (_, at) => at).flatMap((at) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: `c${at}`, type: 'function', function: { name: 'read', arguments: `{"page":${at}}` } },
      ],
    },
    { role: 'tool', tool_call_id: `c${at}`, content: linesOf(at, 12_000) },
    { role: 'assistant', content: `page ${at} is read` },
    { role: at === 2 ? 'developer' : 'user', content: at === 2 ? rule : `read the next one, ${at}` },
  ])

describe('a compaction', () => {
  it('[FI27] quotes what the program told its model in the middle of a chat, and not its system prompt again', () => {
    const list = [
      { role: 'system', content: 'You read pages, first and last.' },
      { role: 'user', content: 'go' },
      ...turnsOf(16),
    ]
    const { messages, report } = fitted(
      fit(list, { wire: 'openai-chat', model: 'gpt-6-sol', window: 60_000, reserve: 20_000 }),
    )
    expect(report.boundary?.isNew).toBe(true)
    expect(JSON.stringify(messages).split(JSON.stringify(rule).slice(1, -1))).toHaveLength(2)
    expect(JSON.stringify(messages).split('You read pages')).toHaveLength(2)
  })

  it('[FI27] leaves what a provider has compacted and sealed in its place, with all before it', () => {
    const sealed = { type: 'compaction', id: 'cmp_1', encrypted_content: 'SEALED'.repeat(80) }
    const list = [item('user', 'go'), item('assistant', 'gone'), sealed, item('user', 'on'), ...itemsOf(16)]
    const { messages, report } = fitted(
      fit(list, {
        wire: 'openai-responses',
        model: 'gpt-6-sol',
        window: 60_000,
        reserve: 20_000,
        store: false,
      }),
    )
    expect(report.boundary?.isNew).toBe(true)
    expect(messages.slice(0, 4)).toEqual(list.slice(0, 4))
    expect(JSON.stringify(messages).split('SEALEDSEALED')[1]).toBeDefined()
    expect(JSON.stringify(messages.slice(4))).not.toContain('SEALED')
  })

  it('[FI27] is none of what is only referred to: nobody here can read it', () => {
    const referred = itemsOf(16).map((each, at) =>
      each['type'] === 'function_call' ? { type: 'item_reference', id: `fc_${at}` } : each,
    )
    const made = fit([item('user', 'go'), ...referred], {
      wire: 'openai-responses',
      model: 'gpt-6-sol',
      window: 60_000,
      reserve: 20_000,
    })
    expect(made).toMatchObject({ ok: false, code: 'too-large' })
    expect(made.ok ? '' : made.message).toContain('it refers to what the provider keeps')
  })

  it('[FI27] replaces what lies before a sealed one where all behind it is new', () => {
    const sealed = { type: 'compaction', id: 'cmp_1', encrypted_content: 'SEALED' }
    const list = [item('user', 'go'), ...itemsOf(16), sealed, item('user', 'on')]
    const made = fit(list, { wire: 'openai-responses', model: 'gpt-6-sol', window: 60_000, reserve: 20_000 })
    expect(made).toMatchObject({ ok: true })
    const { messages, report } = fitted(made)
    expect(report.boundary).toMatchObject({ isNew: true, from: 1, to: list.length - 2 })
    expect([messages[0], ...messages.slice(2)]).toEqual([list[0], ...list.slice(-2)])
  })
})

it('[WG6] results of Gemini in either spelling are shortened, and no compaction parts one from its call', () => {
  const turns = Array.from({ length: 16 }, (_, at) => [
    { role: 'model', parts: [{ function_call: { name: 'read', args: { page: at } } }] },
    {
      role: 'user',
      parts: [{ function_response: { name: 'read', response: { output: linesOf(at, 20_000) } } }],
    },
  ])
  const list = [{ role: 'user', parts: [{ text: 'read all' }] }, ...turns.flat()]
  const { messages, report } = fitted(
    fit(list, { wire: 'gemini', model: 'gemini-2.5-pro', window: 60_000, reserve: 20_000 }),
  )
  expect(report.edits.map(({ why }) => why)).toEqual(['large'])
  expect(report.boundary?.isNew).toBe(true)
  const said = messages.map((message) => JSON.stringify(message))
  for (const [at, text] of said.entries())
    if (text.includes('function_response')) expect(said[at - 1]).toContain('function_call')
})

describe('what the provider runs itself', () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
  const sent = (list: readonly Fields[]): readonly unknown[] =>
    fitted(fit(list, { wire: 'anthropic', model: 'claude-opus-5-5' })).messages

  it('[R18] a turn that it paused is sent back as it is, also to a model that continues no answer', () => {
    for (const content of [[search], [search, found]]) {
      const list = [
        { role: 'user', content: 'go' },
        { role: 'assistant', content },
      ]
      expect(sent(list)).toEqual(list)
    }
  })

  it('[R18] a call of code that calls a tool of ours stays beside it until its own result comes', () => {
    const run = { type: 'server_tool_use', id: 'srvtoolu_2', name: 'code_execution', input: { code: 'x' } }
    const caller = { type: 'code_execution_20250825', tool_id: 'srvtoolu_2' }
    const list: Fields[] = [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [run, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {}, caller }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
    ]
    expect(sent(list)).toEqual(list)
    list.push(
      {
        role: 'assistant',
        content: [{ type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_2', content: {} }],
      },
      { role: 'user', content: 'and on' },
    )
    expect(sent(list)).toEqual(list)
  })
})
