// The Messages API under the contract of wires: recorded answers and refusals, judged by the simulator's rules.
import { checkRequest } from '../../src/simulator/rules.ts'
import type { RecordedAnswer, WireSubject } from '../../src/testing/wire-subject.ts'
import { anthropicWire } from '../../src/wires/anthropic/wire.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { withoutMarks } from '../properties/asked-session.ts'

const usage = { input_tokens: 21, cache_creation_input_tokens: 188, cache_read_input_tokens: 2048 }

const start = (id: string) => ({
  type: 'message_start',
  message: { id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', content: [], usage },
})
const end = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 42 } },
  { type: 'message_stop' },
]
const whole = (id: string, stop_reason: string, content: readonly object[]) => ({
  id,
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-6',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { ...usage, output_tokens: 42 },
})

const signature = Buffer.from([0x12, 24, ...Array.from({ length: 24 }, (_, at) => at)]).toString('base64')

const answers: readonly RecordedAnswer[] = [
  {
    name: 'words',
    events: [
      start('msg_1'),
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'there.' } },
      { type: 'content_block_stop', index: 0 },
      ...end('end_turn'),
    ],
    whole: whole('msg_1', 'end_turn', [{ type: 'text', text: 'Hello there.' }]),
    text: 'Hello there.',
    calls: [],
    ended: 'end',
    goesBack: [],
  },
  {
    name: 'signed reasoning and two calls',
    events: [
      start('msg_2'),
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } },
      { type: 'content_block_stop', index: 0 },
      ...[1, 2].flatMap((index) => [
        {
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id: `toolu_${index}`, name: 'Read', input: {} },
        },
        {
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json: `{"path":"${index}"}` },
        },
        { type: 'content_block_stop', index },
      ]),
      ...end('tool_use'),
    ],
    whole: whole('msg_2', 'tool_use', [
      { type: 'thinking', thinking: 'Hm.', signature },
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: '1' } },
      { type: 'tool_use', id: 'toolu_2', name: 'Read', input: { path: '2' } },
    ]),
    text: '',
    calls: [
      { name: 'Read', input: { path: '1' } },
      { name: 'Read', input: { path: '2' } },
    ],
    ended: 'tool',
    goesBack: [signature],
  },
  {
    name: 'cut by its length',
    events: [
      start('msg_3'),
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'and so' } },
      { type: 'content_block_stop', index: 0 },
      ...end('max_tokens'),
    ],
    whole: whole('msg_3', 'max_tokens', [{ type: 'text', text: 'and so' }]),
    text: 'and so',
    calls: [],
    ended: 'length',
    goesBack: [],
  },
]

const error = (type: string, message: string): string =>
  JSON.stringify({ type: 'error', error: { type, message } })

interface Body {
  readonly messages: readonly { readonly content: unknown }[]
}

/** Cuts, swaps, doubles and empties what is there. */
function damage(request: unknown, pick: (below: number) => number): unknown {
  const body = request as Body
  const messages = [...body.messages]
  for (let blow = 0; blow <= pick(3); blow++) {
    const at = pick(messages.length)
    const message = messages[at]
    if (message === undefined) break
    const blocks = Array.isArray(message.content) ? [...(message.content as readonly unknown[])] : []
    switch (pick(5)) {
      case 0:
        messages.splice(0, at)
        break
      case 1:
        messages.splice(at, 1 + pick(3))
        break
      case 2:
        messages.splice(at, 0, structuredClone(message))
        break
      case 3:
        blocks.splice(pick(blocks.length), 1)
        messages[at] = { ...message, content: blocks }
        break
      default:
        messages.push(...messages.splice(at, 1))
    }
  }
  return { ...body, messages }
}

export const anthropicSubject: WireSubject = {
  wire: anthropicWire as Wire,
  model: 'claude-sonnet-4-6',
  otherModel: 'claude-opus-5',
  answers,
  refusals: [
    {
      status: 400,
      text: error('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
      code: 'overflow',
      retry: false,
    },
    {
      status: 429,
      text: error('rate_limit_error', 'Number of request tokens has exceeded your rate limit'),
      code: 'rate-limited',
      retry: true,
    },
    { status: 529, text: error('overloaded_error', 'Overloaded'), code: 'overloaded', retry: true },
    {
      status: 401,
      text: error('authentication_error', 'invalid x-api-key'),
      code: 'unauthorized',
      retry: false,
    },
    {
      status: 400,
      text: error('invalid_request_error', 'Invalid `signature` in `thinking` block'),
      code: 'reasoning-invalid',
      retry: false,
    },
  ],
  judge: (body) => checkRequest(JSON.parse(body))?.error.message ?? null,
  asMade: (fact, model) => ({
    ...fact,
    model,
    content: fact.content.map((block) =>
      block.type === 'thinking' && block.signature !== undefined ? { ...block, signature } : block,
    ),
  }),
  withoutMarks,
  damage,
}
