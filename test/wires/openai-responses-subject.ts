// The Responses API under the contract of wires: recorded answers and refusals, judged by the simulator's dialect.
import { checkResponsesRequest } from '../../src/simulator/dialects/check.ts'
import { sealContent } from '../../src/simulator/rules/seal.ts'
import type { RecordedAnswer, WireSubject } from '../../src/testing/wire-subject.ts'
import { openAiResponsesWire } from '../../src/wires/openai-responses/wire.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { damageList } from './damage.ts'
import { openAiRefusals } from './openai-chat-subject.ts'

const model = 'gpt-6-sol'
const usage = {
  input_tokens: 2100,
  input_tokens_details: { cached_tokens: 2048, cache_write_tokens: 20 },
  output_tokens: 31,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 2131,
}

const response = (id: string, output: readonly object[], more: object = {}) => ({
  id,
  object: 'response',
  status: 'completed',
  model: `${model}-2026-09-01`,
  output,
  incomplete_details: null,
  usage,
  ...more,
})
const secret = 'judge'
/** For whom its reasoning is sealed. */
export const sealedFor = 'tests'
/** Reasoning sealed as the judge seals it: another model's would be refused. */
const reasoning = (n: number | string, by = model) => ({
  id: `rs_${n}`,
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Thinking.' }],
  encrypted_content: sealContent(secret, {
    kind: 'reasoning',
    model: by,
    tenant: sealedFor,
    tokens: 9,
    text: `${n}`,
  }),
})
const message = (n: number, text: string, more: object = {}) => ({
  id: `msg_${n}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...more,
})
const call = (n: number, args: string) => ({
  id: `fc_${n}`,
  type: 'function_call',
  status: 'completed',
  call_id: `call_${n}`,
  name: 'Read',
  arguments: args,
})

const halves = (text: string): readonly string[] =>
  [text.slice(0, 3), text.slice(3)].filter((half) => half !== '')

/** The events of an answer, as its items give them. */
function eventsOf(answer: ReturnType<typeof response>): readonly object[] {
  const items = answer.output as readonly Readonly<Record<string, unknown>>[]
  const inner = items.flatMap((item, output_index) => {
    const added = { ...item, arguments: '', content: [], encrypted_content: 'gAAAAAincomplete' }
    const deltas = (type: string, text: string) =>
      halves(text).map((delta) => ({ type, output_index, item_id: item['id'], delta }))
    const content = item['content'] as readonly { readonly text: string }[] | undefined
    const summary = item['summary'] as readonly { readonly text: string }[] | undefined
    return [
      { type: 'response.output_item.added', output_index, item: added },
      ...(content ?? []).flatMap(({ text }) => deltas('response.output_text.delta', text)),
      ...(summary ?? []).flatMap(({ text }) => deltas('response.reasoning_summary_text.delta', text)),
      ...deltas('response.function_call_arguments.delta', (item['arguments'] as string | undefined) ?? ''),
      { type: 'response.output_item.done', output_index, item },
    ]
  })
  const begun = { ...answer, status: 'in_progress', output: [], usage: null }
  const last = answer.status === 'completed' ? 'response.completed' : 'response.incomplete'
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...inner,
    { type: last, response: answer },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

const said = response('resp_1', [reasoning(1), message(1, 'Hello there.', { phase: 'final_answer' })])
const called = response('resp_2', [
  reasoning(2),
  message(2, 'I look.', { phase: 'commentary' }),
  call(1, '{ "path": "1" }'),
  call(2, '{"path":"2"}'),
])
const cut = response('resp_3', [message(3, 'and so')], {
  status: 'incomplete',
  incomplete_details: { reason: 'max_output_tokens' },
})

const answers: readonly RecordedAnswer[] = [
  {
    name: 'sealed reasoning and words',
    events: eventsOf(said),
    whole: said,
    text: 'Hello there.',
    calls: [],
    ended: 'end',
    goesBack: [JSON.stringify(reasoning(1)), '"phase":"final_answer"'],
  },
  {
    name: 'commentary and two calls',
    events: eventsOf(called),
    whole: called,
    text: 'I look.',
    calls: [
      { name: 'Read', input: { path: '1' } },
      { name: 'Read', input: { path: '2' } },
    ],
    ended: 'tool',
    goesBack: [JSON.stringify(reasoning(2)), JSON.stringify('{ "path": "1" }'), '"phase":"commentary"'],
  },
  {
    name: 'cut by its length',
    events: eventsOf(cut),
    whole: cut,
    text: 'and so',
    calls: [],
    ended: 'length',
    goesBack: [],
  },
]

const error = (message_: string, code: string | null): string =>
  JSON.stringify({ error: { message: message_, type: 'invalid_request_error', param: 'input', code } })

export const openAiResponsesSubject: WireSubject = {
  wire: openAiResponsesWire as Wire,
  model,
  otherModel: 'gpt-5.5',
  answers,
  refusals: [
    ...openAiRefusals,
    {
      status: 400,
      text: error('The encrypted content for item rs_1 could not be verified.', 'invalid_encrypted_content'),
      code: 'reasoning-invalid',
      retry: false,
    },
    {
      status: null,
      text: JSON.stringify({
        error: {
          code: 'context_length_exceeded',
          message:
            'Your input exceeds the context window of this model. Please adjust your input and try again.',
        },
      }),
      code: 'overflow',
      retry: false,
    },
  ],
  asMade: (fact, by) => ({
    ...fact,
    model: by,
    content: fact.content.map((block) => {
      if (block.type === 'thinking')
        return {
          type: 'item' as const,
          wire: 'openai-responses',
          model: by,
          raw: JSON.stringify(reasoning(fact.messageId, by)),
          tokens: 12,
        }
      return block.type === 'tool_use' && 'input' in block
        ? {
            ...block,
            sidecar: { wire: 'openai-responses', model: by, arguments: ` ${JSON.stringify(block.input)}` },
          }
        : block
    }),
  }),
  judge: (body) => checkResponsesRequest(JSON.parse(body), { secret })?.message ?? null,
  damage: (request, pick) => damageList(request, 'input', ['content'], pick),
}
