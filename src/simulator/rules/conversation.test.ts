import { describe, expect, it } from 'vitest'
import {
  assistant,
  body,
  call,
  old,
  plain,
  result,
  text,
  user,
  type Body,
} from '../../../test/wire-bodies.ts'
import { checkRequest } from '../rules.ts'

interface Case {
  readonly rule: string
  readonly says: string
  readonly bad: Body
  readonly text: string
  readonly good: Body
}

const system = (content: string) => ({ role: 'system', content })
const thinking = { type: 'thinking', thinking: 'hm', signature: 'x' }
const picture = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
}
const pair = [user(text('hi')), assistant(call('t1')), user(result('t1'))]
const unanswered = (index: number, ids: string) =>
  `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`

const conversation: readonly Case[] = [
  {
    rule: 'V54',
    says: 'an answer that ends in reasoning is refused',
    bad: body([user(text('hi')), assistant(thinking), user(text('and'))]),
    text: 'messages.1: The final block in an assistant message cannot be `thinking`.',
    good: body([user(text('hi')), assistant(thinking, text('so')), user(text('and'))]),
  },
  {
    rule: 'V54',
    says: 'a failed result with an image is refused',
    bad: body([...pair.slice(0, 2), user({ ...result('t1'), content: [picture], is_error: true })]),
    text: "messages.2.content.0.content: all content must be type 'text' if 'is_error' is true",
    good: body([...pair.slice(0, 2), user({ ...result('t1'), content: [picture] })]),
  },
  {
    rule: 'V1',
    says: 'a call without a result in the next message is refused',
    bad: body([user(text('hi')), assistant(call('t1'), call('t2')), user(result('t1'))]),
    text: unanswered(1, 't2'),
    good: body([
      user(text('hi')),
      assistant(call('t1'), call('t2')),
      user(result('t2'), result('t1'), text('go on')),
    ]),
  },
  {
    rule: 'V2',
    says: 'text before the results counts as no result',
    bad: body([user(text('hi')), assistant(call('t1')), user(text('so'), result('t1'))]),
    text: unanswered(1, 't1'),
    good: body([user(text('hi')), assistant(call('t1')), user(result('t1'), text('so'))]),
  },
  {
    rule: 'V2',
    says: 'a result behind text does not lead, merged messages included',
    bad: body([user(text('hi')), assistant(call('t1')), user(text('so')), user(result('t1'))]),
    text: unanswered(1, 't1'),
    good: body([user(text('hi')), assistant(call('t1')), user(result('t1')), user(text('so'))]),
  },
  {
    rule: 'V3',
    says: 'a result without a call in the message before is refused',
    bad: body([...pair, assistant(text('done')), user(result('t1'))]),
    text: 'messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    good: body(pair),
  },
  {
    rule: 'V4',
    says: 'call ids are unique',
    bad: body([...pair, assistant(text('x'), call('t1')), user(result('t1'))]),
    text: 'messages.3.content.1: `tool_use` ids must be unique',
    good: body([...pair, assistant(text('x'), call('t2')), user(result('t2'))]),
  },
  {
    rule: 'V4',
    says: 'a call has one result',
    bad: body([user(text('hi')), assistant(call('t1')), user(result('t1'), result('t1'))]),
    text: 'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1',
    good: body(pair),
  },
  {
    rule: 'V5',
    says: 'results stand in user messages only',
    bad: body([user(text('hi')), assistant(result('t1'))]),
    text: 'messages.1: `tool_result` blocks can only be in `user` messages',
    good: body(pair),
  },
  {
    rule: 'V5',
    says: 'calls stand in assistant messages only',
    bad: body([user(text('hi'), call('t1'))]),
    text: 'messages.0: `tool_use` blocks can only be in `assistant` messages',
    good: body(pair),
  },
  {
    rule: 'V6',
    says: 'call ids match their pattern',
    bad: body([user(text('hi')), assistant(text('a'), call('t:1')), user(result('t:1'))]),
    text: "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    good: body(pair),
  },
  {
    rule: 'V7',
    says: 'only the last assistant message may be empty',
    bad: body([user(text('hi')), assistant(), user(text('so'))]),
    text: 'messages.1: all messages must have non-empty content except for the optional final assistant message',
    good: body([user(text('hi')), assistant()], old),
  },
  {
    rule: 'V8',
    says: 'text is not empty',
    bad: body([user(text('hi'), text(''))]),
    text: 'messages: text content blocks must be non-empty',
    good: plain(),
  },
  {
    rule: 'V8',
    says: 'text is not only white space',
    bad: body([{ role: 'user', content: ' \n' }]),
    text: 'messages: text content blocks must contain non-whitespace text',
    good: body([{ role: 'user', content: ' a' }]),
  },
  {
    rule: 'V8',
    says: 'text in a result is not empty',
    bad: body([...pair.slice(0, 2), user(result('t1', { content: [text('')] }))]),
    text: 'messages: text content blocks must be non-empty',
    good: body([...pair.slice(0, 2), user(result('t1', { content: '' }))]),
  },
  {
    rule: 'V9',
    says: 'there is a message',
    bad: body([]),
    text: 'messages: at least one message is required',
    good: plain(),
  },
  {
    rule: 'V9',
    says: 'the first message is the user’s',
    bad: body([assistant(text('hi')), user(text('so'))]),
    text: 'messages: first message must use the "user" role',
    good: body([user(text('hi')), assistant(text('so')), user(text('and'))]),
  },
  {
    rule: 'V11',
    says: 'prefill does not end in white space',
    bad: body([user(text('hi')), assistant(text('so '))], old),
    text: 'messages: final assistant content cannot end with trailing whitespace',
    good: body([user(text('hi')), assistant(text('so'))], old),
  },
  {
    rule: 'V11',
    says: 'newer models take no prefill',
    bad: body([user(text('hi')), assistant(text('so'))]),
    text: 'This model does not support assistant message prefill. The conversation must end with a user message.',
    good: body([user(text('hi')), assistant(text('so')), user(text('and'))]),
  },
  {
    rule: 'V18',
    says: 'a server call has its result in the same turn',
    bad: body([
      user(text('hi')),
      assistant({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, text('so')),
      user(text('and')),
    ]),
    text: '`web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block',
    good: body([
      user(text('hi')),
      assistant(
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      ),
      user(text('and')),
    ]),
  },
  {
    rule: 'V18',
    says: 'a server result has its call before it',
    bad: body([
      user(text('hi')),
      assistant({ type: 'advisor_tool_result', tool_use_id: 'srvtoolu_2', content: [] }),
      user(text('and')),
    ]),
    text: 'messages.1.content.0: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_2. Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it.',
    good: body([
      user(text('hi')),
      assistant({ type: 'server_tool_use', id: 'srvtoolu_2', name: 'advisor', input: {} }),
    ]),
  },
  {
    rule: 'V26',
    says: 'a system message follows a user turn',
    bad: body([user(text('hi')), assistant(text('so')), system('note')]),
    text: 'messages.2: a `system` message must directly follow a user turn',
    good: body([user(text('hi')), system('note')]),
  },
  {
    rule: 'V26',
    says: 'a system message is last or before an assistant turn',
    bad: body([user(text('hi')), system('note'), user(text('so'))]),
    text: 'messages.1: a `system` message must be last or be followed by an assistant turn',
    good: body([user(text('hi')), system('note'), assistant(text('so')), user(text('and'))]),
  },
  {
    rule: 'V26',
    says: 'not every model takes system messages',
    bad: body([user(text('hi')), system('note')], { model: 'claude-sonnet-5' }),
    text: "messages.1.role: Input should be 'user' or 'assistant'",
    good: body([user(text('hi')), system('note')]),
  },
]

describe('rules of the conversation', () => {
  for (const each of conversation) {
    it(`[${each.rule}] ${each.says}`, () => {
      expect(checkRequest(each.bad)?.error).toEqual({ type: 'invalid_request_error', message: each.text })
      expect(checkRequest(each.good)).toBeNull()
    })
  }

  it('[V10] neighbours of the same role are merged, not refused', () => {
    expect(
      checkRequest(
        body([
          user(text('a')),
          user(text('b')),
          assistant(call('t1')),
          assistant(call('t2')),
          user(result('t1')),
          user(result('t2')),
        ]),
      ),
    ).toBeNull()
  })
})

describe('what real clients send in system messages', () => {
  const asked = (message: object, more: Body = {}) =>
    body([user(text('hi')), { role: 'system', ...message }], more)
  const effort = { output_config: { effort: 'low' } }
  const betas = [['mid-conversation-output-config-2026-07-01'], ['per-turn-control-2026-07-01']]

  it('[V55] a system message changes the effort under either beta value, and only with one', () => {
    for (const each of betas)
      expect(checkRequest(asked({ content: 'note', ...effort }), { betas: each })).toBeNull()
    expect(checkRequest(asked({ content: 'note', ...effort }))?.error.message).toBe(
      'messages.1.output_config: Extra inputs are not permitted',
    )
    expect(
      checkRequest(asked({ content: 'note', output_config: { effort: 'loud' } }), { betas: betas[0] ?? [] })
        ?.error.message,
    ).toMatch(/^messages\.1\.output_config\.effort: Input should be/)
  })

  it('[V55] one that changes the effort may say nothing, every other says something', () => {
    for (const each of betas)
      expect(checkRequest(asked({ content: [], ...effort }), { betas: each })).toBeNull()
    const empty =
      'messages.1: all messages must have non-empty content except for the optional final assistant message'
    expect(checkRequest(asked({ content: [] }), { betas: betas[0] ?? [] })?.error.message).toBe(empty)
    expect(checkRequest(asked({ content: '', ...effort }), { betas: betas[0] ?? [] })?.error.message).toBe(
      empty,
    )
    expect(
      checkRequest(body([{ ...user(), ...effort }]), { betas: betas[0] ?? [] })?.error.message,
    ).toContain('messages.0: all messages must have non-empty content')
  })

  it('[V55] models that are not listed for system messages take them where the server is told so', () => {
    for (const model of ['claude-sonnet-5', 'claude-haiku-5-5']) {
      const request = asked({ content: 'note' }, { model })
      expect(checkRequest(request, { systemMessages: 'all' })).toBeNull()
      expect(checkRequest(request, { systemMessages: 'by-model' })?.error.message).toBe(
        "messages.1.role: Input should be 'user' or 'assistant'",
      )
    }
  })

  it('[V56] beta values nobody has heard of are let in and change nothing', () => {
    const unheard = [
      'claude-code-20250219',
      'advanced-tool-use-2025-11-20',
      'effort-2025-11-24',
      'structured-outputs-2025-12-15',
      'redact-thinking-2026-02-12',
      'thinking-display-updates-2026-08-18',
      'dangerous-tool-use-2026-09-03',
      'token-counting-2024-11-01',
      'made-up-2031-01-01',
    ]
    expect(checkRequest(body([user(text('hi'))]), { betas: unheard })).toBeNull()
    expect(checkRequest(asked({ content: 'note', ...effort }), { betas: unheard })?.error.message).toBe(
      'messages.1.output_config: Extra inputs are not permitted',
    )
  })
})
