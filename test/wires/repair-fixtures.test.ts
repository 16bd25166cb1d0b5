// What each repair of a wire does, one fixture a rule: what came in, what goes out, what is said about it.
import { describe, expect, it } from 'vitest'
import { repairGemini } from '../../src/wires/gemini/repair.ts'
import { dummySignature } from '../../src/wires/gemini/request.ts'
import { repairChat } from '../../src/wires/openai-chat/repair.ts'
import { repairResponses } from '../../src/wires/openai-responses/repair.ts'
import { plainDigest } from '../../src/wires/plain-digest.ts'
import { missingResult } from '../../src/wires/anthropic/block-rules.ts'
import type { Quirks } from '../../src/wires/wire.ts'

type Fields = Readonly<Record<string, unknown>>
interface Fixture {
  readonly title: string
  readonly list: readonly unknown[]
  readonly becomes: readonly unknown[]
  readonly rules: readonly string[]
  readonly quirks?: Quirks
  readonly model?: string
}

const user = (content: unknown) => ({ role: 'user', content })
const chatCall = (id: string, name = 'Read', args: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const asks = (...calls: readonly object[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const tool = (id: string, content: unknown = 'ok') => ({ role: 'tool', tool_call_id: id, content })
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }

const longId = `chatcmpl-tool-${'0123456789abcdef'.repeat(4)}`
/** Its beginning and eight characters of its hash. */
const shortId = (chars: number): string => `${longId.slice(0, chars - 9)}_${plainDigest(longId).slice(0, 8)}`

const chat: readonly Fixture[] = [
  {
    title: '[WC1] a result stands directly behind its call',
    list: [user('go'), asks(chatCall('a')), user('wait'), tool('a')],
    becomes: [user('go'), asks(chatCall('a')), tool('a'), user('wait')],
    rules: ['result-order'],
  },
  {
    title: '[WC1] a call without a result gets one that says so',
    list: [user('go'), asks(chatCall('a'), chatCall('b')), tool('b')],
    becomes: [user('go'), asks(chatCall('a'), chatCall('b')), tool('b'), tool('a', missingResult)],
    rules: ['missing-result'],
  },
  {
    title: '[WC2] a result of no call, and a second one, are left out',
    list: [tool('x'), user('go'), asks(chatCall('a')), tool('a'), tool('a', 'again')],
    becomes: [user('go'), asks(chatCall('a')), tool('a')],
    rules: ['orphan-result', 'orphan-result'],
  },
  {
    title: '[WC2] calls of one id in a message, or of none, get ids of their own, and so do their results',
    list: [
      user('go'),
      asks(chatCall('a'), chatCall('a', 'Bash'), chatCall('', 'Grep')),
      tool('a', 'read'),
      tool('a', 'run'),
      tool('', 'found'),
      asks(chatCall('a'), chatCall('', 'Grep')),
      tool('a'),
      tool(''),
    ],
    becomes: [
      user('go'),
      asks(chatCall('a'), chatCall('a-2', 'Bash'), chatCall('call-1', 'Grep')),
      tool('a', 'read'),
      tool('a-2', 'run'),
      tool('call-1', 'found'),
      asks(chatCall('a'), chatCall('call-1', 'Grep')),
      tool('a'),
      tool('call-1'),
    ],
    rules: ['call-id', 'call-id', 'call-id'],
  },
  {
    title: '[WC2] a call that repeats another word for word and has no result is left out',
    list: [user('go'), asks(chatCall('a'), chatCall('a')), tool('a')],
    becomes: [user('go'), asks(chatCall('a')), tool('a')],
    rules: ['call-id'],
  },
  {
    title: '[WC3] an answer that says and calls nothing goes; beside calls its content is null',
    list: [
      user('go'),
      { role: 'assistant', content: '' },
      { role: 'assistant', content: [], tool_calls: [chatCall('a')] },
      tool('a'),
    ],
    becomes: [user('go'), asks(chatCall('a')), tool('a')],
    rules: ['empty-message', 'empty-message'],
  },
  {
    title: '[WC3] speech, and a call as they were made before tools, say something',
    list: [
      user('go'),
      { role: 'assistant', content: null, audio: { id: 'audio_1' } },
      { role: 'assistant', content: null, function_call: { name: 'Read', arguments: '{}' } },
      { role: 'function', name: 'Read', content: 'ok' },
      { role: 'assistant', content: null },
    ],
    becomes: [
      user('go'),
      { role: 'assistant', content: null, audio: { id: 'audio_1' } },
      { role: 'assistant', content: null, function_call: { name: 'Read', arguments: '{}' } },
      { role: 'function', name: 'Read', content: 'ok' },
    ],
    rules: ['empty-message'],
  },
  {
    title: '[WC3] the empty text of a result stays, one without content says so',
    list: [user('go'), asks(chatCall('a'), chatCall('b')), tool('a', ''), tool('b', null)],
    becomes: [user('go'), asks(chatCall('a'), chatCall('b')), tool('a', ''), tool('b', '(no output)')],
    rules: ['empty-message'],
  },
  {
    title: '[WC10] parts of a newer type go along, a known one in the wrong place does not',
    list: [
      user([
        { type: 'video_url', video_url: { url: 'x' } },
        { type: 'refusal', refusal: 'no' },
      ]),
    ],
    becomes: [user([{ type: 'video_url', video_url: { url: 'x' } }])],
    rules: ['part'],
  },
  {
    title: '[WC4] an image in a result follows the results of its group in a user message',
    list: [
      user('go'),
      asks(chatCall('a'), chatCall('b')),
      tool('a', [{ type: 'text', text: 'see' }, image]),
      tool('b'),
    ],
    becomes: [
      user('go'),
      asks(chatCall('a'), chatCall('b')),
      tool('a', [{ type: 'text', text: 'see' }]),
      tool('b'),
      user([image]),
    ],
    rules: ['media-in-result'],
  },
  {
    title: '[WC5] open reasoning goes back only to a server that asks for it',
    list: [user('go'), { role: 'assistant', content: 'so', reasoning_content: 'hm' }],
    becomes: [user('go'), { role: 'assistant', content: 'so' }],
    rules: ['reasoning'],
  },
  {
    title: '[WC5] where it is asked for, each call has it, empty if nobody knows it',
    list: [
      user('go'),
      { ...asks(chatCall('a')), reasoning_content: 'hm' },
      tool('a'),
      asks(chatCall('b')),
      tool('b'),
    ],
    becomes: [
      user('go'),
      { ...asks(chatCall('a')), reasoning_content: 'hm' },
      tool('a'),
      { ...asks(chatCall('b')), reasoning_content: '' },
      tool('b'),
    ],
    rules: ['reasoning'],
    quirks: { reasoningBack: true },
  },
  {
    title: '[WC6] a developer is a system where the server knows no other, an unknown role is the user',
    list: [
      { role: 'developer', content: 'be brief' },
      { role: 'human', content: 'hi' },
    ],
    becomes: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ],
    rules: ['role', 'role'],
    quirks: { systemRole: 'system' },
  },
  {
    title: '[WC6] names and arguments of calls are spelled as the server takes them',
    list: [user('go'), asks(chatCall('a', 'my tool!', { b: 1 })), tool('a', [])],
    becomes: [user('go'), asks(chatCall('a', 'my_tool_', '{"b":1}')), tool('a', '(no output)')],
    rules: ['call-name', 'call-arguments', 'empty-message'],
  },
  {
    title: '[WC6] an id that is too long is shortened alike in call and result',
    list: [user('go'), asks(chatCall(longId)), tool(longId)],
    becomes: [user('go'), asks(chatCall(shortId(40))), tool(shortId(40))],
    rules: ['call-id', 'call-id'],
  },
  {
    title: '[WC3] nothing at all becomes an empty message',
    list: [],
    becomes: [user('(no content)')],
    rules: ['some-message'],
  },
]

const said = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})
const call = (id: string, more: object = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'Read',
  arguments: '{}',
  ...more,
})
const output = (id: string, text = 'ok') => ({ type: 'function_call_output', call_id: id, output: text })
const thought = (id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: 'sealed' })

const responses: readonly Fixture[] = [
  {
    title: '[WR5] a call_id that is too long is shortened alike in call and output',
    list: [said('user', 'go'), call(longId), output(longId)],
    becomes: [said('user', 'go'), call(shortId(64)), output(shortId(64))],
    rules: ['call-id', 'call-id'],
  },
  {
    title: '[WR1] a call without a result gets one behind all that belongs to it',
    list: [
      said('user', 'go'),
      thought('rs_1'),
      call('a', { id: 'fc_1' }),
      call('b', { id: 'fc_2' }),
      output('b'),
    ],
    becomes: [
      said('user', 'go'),
      thought('rs_1'),
      call('a', { id: 'fc_1' }),
      call('b', { id: 'fc_2' }),
      output('a', missingResult),
      output('b'),
    ],
    rules: ['missing-result'],
  },
  {
    title: '[WR1] a result before or without its call, and a repeated call without one, are left out',
    list: [output('a'), said('user', 'go'), call('a'), call('a'), output('a')],
    becomes: [said('user', 'go'), call('a'), output('a')],
    rules: ['call-id', 'orphan-result'],
  },
  {
    title: '[WR1] calls of one id get ids of their own, and so do their results',
    list: [
      said('user', 'go'),
      call('a'),
      output('a', 'one'),
      call('a'),
      call('a', { name: 'Bash' }),
      output('a', 'two'),
      output('a', 'three'),
    ],
    becomes: [
      said('user', 'go'),
      call('a'),
      output('a', 'one'),
      call('a-2'),
      call('a-3', { name: 'Bash' }),
      output('a-2', 'two'),
      output('a-3', 'three'),
    ],
    rules: ['call-id', 'call-id'],
  },
  {
    title: '[WR9] what stands behind a reference is nobody’s orphan, and a reference is left as it is',
    list: [
      said('user', 'go'),
      { id: 'rs_1' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sealed' },
      { type: 'item_reference', id: 'fc_1' },
      output('a'),
      call('b', { id: 'fc_2' }),
      said('user', 'stop'),
    ],
    becomes: [
      said('user', 'go'),
      { id: 'rs_1' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sealed' },
      { type: 'item_reference', id: 'fc_1' },
      output('a'),
      call('b'),
      output('b', missingResult),
      said('user', 'stop'),
    ],
    rules: ['missing-result', 'lone-id'],
  },
  {
    title: '[WR8] parts of a newer type go along',
    list: [
      { type: 'message', role: 'user', content: [{ type: 'input_video', video_url: 'x' }] },
      { type: 'message', role: 'user', content: [] },
    ],
    becomes: [{ type: 'message', role: 'user', content: [{ type: 'input_video', video_url: 'x' }] }],
    rules: ['empty-message'],
  },
  {
    title: '[WR1] a result of another kind than its call becomes one of its kind',
    list: [said('user', 'go'), call('a'), { type: 'custom_tool_call_output', call_id: 'a', output: 'ok' }],
    becomes: [said('user', 'go'), call('a'), output('a')],
    rules: ['result-kind'],
  },
  {
    title: '[WR2] reasoning goes with what it led to',
    list: [said('user', 'go'), thought('rs_1'), said('user', 'stop')],
    becomes: [said('user', 'go'), said('user', 'stop')],
    rules: ['reasoning'],
  },
  {
    title: '[WR2] reasoning that is neither stored nor sealed goes, and the id behind it with it',
    list: [
      said('user', 'go'),
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { ...said('assistant', 'so'), id: 'msg_1' },
    ],
    becomes: [said('user', 'go'), said('assistant', 'so')],
    rules: ['reasoning', 'lone-id'],
  },
  {
    title: '[WR3] an id without its reasoning, and one that stands twice, is left out',
    list: [
      said('user', 'go'),
      call('a', { id: 'fc_1' }),
      output('a'),
      thought('rs_1'),
      thought('rs_1'),
      said('assistant', 'so'),
    ],
    becomes: [said('user', 'go'), call('a'), output('a'), thought('rs_1'), said('assistant', 'so')],
    rules: ['reasoning', 'lone-id'],
  },
  {
    title: '[WR4] the newest compaction stays, a trigger stands last or not at all',
    list: [
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'old' },
      { type: 'compaction_trigger' },
      { type: 'compaction', id: 'cmp_2', encrypted_content: 'new' },
      said('user', 'go'),
    ],
    becomes: [{ type: 'compaction', id: 'cmp_2', encrypted_content: 'new' }, said('user', 'go')],
    rules: ['compaction', 'compaction'],
  },
  {
    title: '[WR5] texts are named for who says them, empty messages go',
    list: [
      { type: 'message', role: 'assistant', content: [{ type: 'input_text', text: 'so' }] },
      { type: 'message', role: 'user', content: [] },
      said('user', 'go'),
    ],
    becomes: [said('assistant', 'so'), said('user', 'go')],
    rules: ['part', 'empty-message'],
  },
]

const searched = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } }
it('[WR3] what the provider ran itself keeps its id where it is kept, and loses it where nothing is', () => {
  const input = [
    said('user', 'go'),
    searched,
    { ...said('assistant', 'so'), id: 'msg_1' },
    said('user', 'on'),
  ]
  const { id: _, ...unnamed } = searched
  const becomes = (store: boolean): unknown =>
    repairResponses({ model: 'gpt-4.1', store, input }).request.input
  expect(becomes(true)).toEqual([input[0], searched, said('assistant', 'so'), input[3]])
  expect(becomes(false)).toEqual([input[0], unnamed, said('assistant', 'so'), input[3]])
})

const content = (role: string, ...parts: readonly object[]) => ({ role, parts })
const asked = (name: string, more: object = {}) => ({ functionCall: { name, args: {} }, ...more })
const askedAs = (id: string, name: string, more: object = {}) => ({
  functionCall: { id, name, args: {} },
  ...more,
})
const gave = (name: string, response: unknown = { output: 'ok' }, more: object = {}) => ({
  functionResponse: { ...more, name, response },
})
const signed = { thoughtSignature: 'c2ln' }

const gemini: readonly Fixture[] = [
  {
    title: '[WG1] the user begins, and neighbours of one role are joined',
    list: [content('model', { text: 'a' }), content('user', { text: 'b' }), content('user', { text: 'c' })],
    becomes: [
      content('user', { text: '(The earlier part of this conversation is not shown.)' }),
      content('model', { text: 'a' }),
      content('user', { text: 'b' }, { text: 'c' }),
    ],
    rules: ['same-role', 'first-user'],
  },
  {
    title: '[WG2] as many results as calls, in their order, before everything else',
    list: [
      content('user', { text: 'go' }),
      content('model', asked('A', signed), asked('B')),
      content('user', { text: 'hm' }, gave('B'), gave('C')),
    ],
    becomes: [
      content('user', { text: 'go' }),
      content('model', asked('A', signed), asked('B')),
      content('user', gave('A', { error: missingResult }), gave('B'), { text: 'hm' }),
    ],
    rules: ['missing-result', 'orphan-result', 'result-order'],
  },
  {
    title: '[WG2] calls of one id get ids of their own, and so do their results',
    list: [
      content('user', { text: 'go' }),
      content('model', askedAs('a', 'A', signed), askedAs('a', 'B'), askedAs('a', 'A')),
      content('user', gave('A', { output: 'one' }, { id: 'a' }), gave('B', { output: 'two' }, { id: 'a' })),
    ],
    becomes: [
      content('user', { text: 'go' }),
      content('model', askedAs('a', 'A', signed), askedAs('a-2', 'B')),
      content('user', gave('A', { output: 'one' }, { id: 'a' }), gave('B', { output: 'two' }, { id: 'a-2' })),
    ],
    rules: ['call-id', 'call-id'],
  },
  {
    title: '[WG6] both spellings of a name are read, and what is repaired keeps its own',
    list: [
      content('user', { text: 'go' }),
      content('model', { function_call: { name: 'A', args: {} }, thought_signature: 'c2ln' }),
      content('user', { function_response: { name: 'A', response: 'plain' } }),
    ],
    becomes: [
      content('user', { text: 'go' }),
      content('model', { function_call: { name: 'A', args: {} }, thought_signature: 'c2ln' }),
      content('user', { function_response: { name: 'A', response: { output: 'plain' } } }),
    ],
    rules: ['response'],
  },
  {
    title: '[WG2] calls at the end get their results',
    list: [content('user', { text: 'go' }), content('model', asked('A', signed))],
    becomes: [
      content('user', { text: 'go' }),
      content('model', asked('A', signed)),
      content('user', gave('A', { error: missingResult })),
    ],
    rules: ['missing-result', 'result-order'],
  },
  {
    title: '[WG3] empty parts go, what a call returned stands in an object',
    list: [
      content('user', { text: 'go' }, { text: '' }),
      content('model', asked('A', signed)),
      content('function', gave('A', 'plain')),
    ],
    becomes: [
      content('user', { text: 'go' }),
      content('model', asked('A', signed)),
      content('user', gave('A', { output: 'plain' })),
    ],
    rules: ['empty-part', 'role', 'response'],
  },
  {
    title:
      '[WG4] in the turn under way the first call of each step carries a signature, earlier turns are left alone',
    list: [
      content('user', { text: 'one' }),
      content('model', asked('A')),
      content('user', gave('A')),
      content('model', { text: 'done' }),
      content('user', { text: 'two' }),
      content('model', asked('A'), asked('B')),
      content('user', gave('A'), gave('B')),
    ],
    becomes: [
      content('user', { text: 'one' }),
      content('model', asked('A')),
      content('user', gave('A')),
      content('model', { text: 'done' }),
      content('user', { text: 'two' }),
      content('model', asked('A', { thoughtSignature: dummySignature }), asked('B')),
      content('user', gave('A'), gave('B')),
    ],
    rules: ['signature'],
  },
  {
    title: '[WG4] a model that signs nothing is asked for nothing',
    list: [content('user', { text: 'go' }), content('model', asked('A')), content('user', gave('A'))],
    becomes: [content('user', { text: 'go' }), content('model', asked('A')), content('user', gave('A'))],
    rules: [],
    model: 'gemini-2.5-pro',
  },
]

const wires = [
  [
    'openai-chat',
    chat,
    'messages',
    (list: readonly Fields[], fixture: Fixture) =>
      repairChat({ model: 'gpt-6-sol', messages: list }, { model: 'gpt-6-sol', quirks: fixture.quirks }),
  ],
  [
    'openai-responses',
    responses,
    'input',
    (list: readonly Fields[]) => repairResponses({ model: 'gpt-6-sol', store: false, input: list }),
  ],
  [
    'gemini',
    gemini,
    'contents',
    (list: readonly Fields[], fixture: Fixture) =>
      repairGemini({ contents: list }, { model: fixture.model ?? 'gemini-4-argon' }),
  ],
] as const

describe.each(wires)('%s', (_, fixtures, key, repair) => {
  it.each(fixtures.map((fixture) => [fixture.title, fixture] as const))('%s', (_title, fixture) => {
    const once = repair(fixture.list as readonly Fields[], fixture)
    expect((once.request as Fields)[key]).toEqual(fixture.becomes)
    expect(once.repairs.map(({ rule }) => rule)).toEqual(fixture.rules)
    for (const { what, path } of once.repairs) expect(`${path} ${what}`.length).toBeGreaterThan(10)
    const again = repair((once.request as Fields)[key] as readonly Fields[], fixture)
    expect(again.repairs).toEqual([])
  })
})
