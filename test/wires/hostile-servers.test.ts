// Servers that do not keep to the book, over real HTTP through each adapter and a whole session: what the person is told, what is
// run, and that the request after it is one the dialect takes.
import * as z from 'zod'
import { describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore, tool, type LiveEvent } from '../../src/index.ts'
import type { Model } from '../../src/model/model.ts'
import { mustPass, type WireSubject } from '../../src/testing/wire-subject.ts'
import type { AdapterOptions } from '../../src/wires/adapter.ts'
import { geminiModel } from '../../src/wires/gemini/adapter.ts'
import { openAiChatModel, openAiResponsesModel } from '../../src/wires/openai-adapter.ts'
import { open, serve, type Handler } from '../stream-server.ts'
import { geminiSubject } from './gemini-subject.ts'
import { openAiChatSubject } from './openai-chat-subject.ts'
import { openAiResponsesSubject } from './openai-responses-subject.ts'

type Events = readonly unknown[]
const send =
  (events: Events): Handler =>
  (response) =>
    void open(response).end(
      events
        .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
        .join(''),
    )

interface Hostile {
  readonly subject: WireSubject
  readonly make: (options: AdapterOptions) => Model
  readonly good: Events
  /** What it sends, and how the turn must end: words of a notice or of a failure, and what was run. */
  readonly cases: Readonly<Record<string, readonly [events: Events, expected: Partial<Ended>]>>
}
interface Ended {
  outcome: string
  said: string
  notice: RegExp
  failure: RegExp
  ran: readonly number[]
}

// ---- Chat Completions ----
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason, ...more }],
})
const piece = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: string,
) => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }],
})
const chat: Hostile = {
  subject: openAiChatSubject,
  make: openAiChatModel,
  good: [chunk({ content: 'fine' }, 'stop'), '[DONE]'],
  cases: {
    'content in parts': [[chunk({ content: [{ type: 'text', text: 'parts' }] }, 'stop')], { said: 'parts' }],
    'parallel calls that all have the first index': [
      [
        chunk(piece(0, 'a', 'Look', '')),
        chunk(piece(0, undefined, undefined, '{"n":1}')),
        chunk(piece(0, 'b', 'Look', '')),
        chunk(piece(0, undefined, undefined, '{"n":2}')),
        chunk({}, 'tool_calls'),
      ],
      { ran: [1, 2] },
    ],
    'parallel calls without index and id': [
      [
        chunk(piece(undefined, undefined, 'Look', '{"n":1}')),
        chunk(piece(undefined, undefined, 'Look', '{"n":2}')),
        chunk({}, 'tool_calls'),
      ],
      { ran: [1, 2] },
    ],
    'one id for two calls': [
      [chunk(piece(0, 'a', 'Look', '{"n":1}')), chunk(piece(1, 'a', 'Look', '{"n":2}')), chunk({}, 'stop')],
      { ran: [1, 2] },
    ],
    'a name that comes late': [
      [chunk(piece(0, 'a', '', '')), chunk(piece(0, 'a', 'Look', '{"n":1}')), chunk({}, 'tool_calls')],
      { ran: [1] },
    ],
    'a word for the end that nobody knows, with a call': [
      [chunk(piece(0, 'a', 'Look', '{"n":1}')), chunk({}, 'eos')],
      { ran: [1] },
    ],
    'a provider behind it that broke off': [
      [
        chunk({ content: 'half' }),
        { ...chunk({ content: '' }, 'error'), error: { code: 502, message: 'upstream is gone' } },
        '[DONE]',
      ],
      { outcome: 'failed', failure: /^server: upstream is gone/, said: 'half' },
    ],
    'an error in the choice': [
      [chunk({ content: 'half' }), chunk({}, 'error', { error: { code: 502, message: 'upstream is gone' } })],
      { outcome: 'failed', failure: /upstream is gone/ },
    ],
    'an error that is a sentence': [
      [chunk({ content: 'half' }), { error: 'model runner has stopped' }],
      { outcome: 'failed', failure: /^server: model runner has stopped/ },
    ],
    'a key that is refused inside the stream': [
      [{ error: { code: 401, message: 'no auth credentials found' } }],
      { outcome: 'failed', failure: /^unauthorized: no auth/ },
    ],
    'content that is null': [
      [chunk({ content: null }), chunk({}, 'stop')],
      { notice: /the answer was empty/ },
    ],
    'a filter in the middle': [
      [chunk({ content: 'half' }), chunk({}, 'content_filter')],
      { said: 'half', notice: /filter of the provider ended the answer \(content_filter\)/ },
    ],
    'a refusal': [[chunk({ refusal: 'No.' }, 'stop')], { said: 'No.', notice: /refused to answer/ }],
    'the limit, and no usage': [
      [chunk({ content: 'half' }, 'length')],
      {
        said: 'half',
        notice: /^the answer was cut at the most tokens of output \(length\); ask to continue[^\n]*$/,
      },
    ],
    'the limit in the middle of a call': [
      [chunk(piece(0, 'a', 'Look', '{"n":')), chunk({}, 'length')],
      { ran: [] },
    ],
    'half a character': [[chunk({ content: 'x\ud83e' }, 'stop')], { said: 'x\ud83e' }],
  },
}

// ---- Responses ----
const created = { type: 'response.created', response: { id: 'r', model: 'm', status: 'in_progress' } }
const called = (id: string, json: string, more: object = {}) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'Look',
  arguments: json,
  ...more,
})
const over = (output: Events, more: object = {}, type = 'completed') => ({
  type: `response.${type}`,
  response: { id: 'r', object: 'response', model: 'm', status: type, output, ...more },
})
const words = (...content: Events) => ({ type: 'message', id: 'msg_1', role: 'assistant', content })
const responses: Hostile = {
  subject: openAiResponsesSubject,
  make: openAiResponsesModel,
  good: [over([words({ type: 'output_text', text: 'fine' })])],
  cases: {
    'events without an index': [
      [
        created,
        { type: 'response.output_item.added', item: called('a', '') },
        { type: 'response.function_call_arguments.delta', item_id: 'fc_a', delta: '{"n":1}' },
        { type: 'response.output_item.done', item: called('a', '{"n":1}') },
        { type: 'response.output_item.added', item: called('b', '') },
        { type: 'response.output_item.done', item: called('b', '{"n":2}') },
        over([]),
      ],
      { ran: [1, 2] },
    ],
    'a refusal that was not streamed': [
      [over([words({ type: 'refusal', refusal: 'No.' })])],
      { said: 'No.', notice: /refused to answer \(completed\)/ },
    ],
    'a failure without an error': [
      [created, { type: 'response.failed', response: { id: 'r', status: 'failed', error: null } }],
      // Nothing had come: it is asked once more.
      { said: 'fine' },
    ],
    'a filter': [
      [created, over([], { incomplete_details: { reason: 'content_filter' } }, 'incomplete')],
      { notice: /filter of the provider ended the answer \(content_filter\)/ },
    ],
    'content that is null': [
      [over([{ type: 'message', content: null }])],
      { notice: /the answer was empty/ },
    ],
    'the limit in the middle of a call': [
      [
        created,
        over(
          [called('a', '{"n":', { status: 'incomplete' })],
          { incomplete_details: { reason: 'max_output_tokens' } },
          'incomplete',
        ),
      ],
      { ran: [] },
    ],
    'reasoning that nothing follows': [
      [over([{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VhbGVk' }])],
      { notice: /the answer was empty/ },
    ],
  },
}

// ---- Gemini ----
const candidate = (parts: Events, finishReason?: string) => ({
  responseId: 'g',
  modelVersion: 'm',
  candidates: [{ content: { role: 'model', parts }, finishReason }],
})
const look = (n?: number) => ({ functionCall: { name: 'Look', args: n === undefined ? undefined : { n } } })
const gemini: Hostile = {
  subject: geminiSubject,
  make: geminiModel,
  good: [candidate([{ text: 'fine' }], 'STOP')],
  cases: {
    'calls of one name without ids': [[candidate([look(1), look(2)], 'STOP')], { ran: [1, 2] }],
    'an answer without parts': [[candidate([], 'STOP')], { notice: /the answer was empty/ }],
    'thoughts alone': [
      [candidate([{ thought: true, text: 'hm' }], 'STOP')],
      { notice: /the answer was empty/ },
    ],
    'a prompt that was blocked': [
      [{ responseId: 'g', promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }],
      { notice: /refused to answer \(PROHIBITED_CONTENT\)/ },
    ],
    'a filter in the middle': [
      [candidate([{ text: 'half' }]), candidate([], 'SAFETY')],
      { said: 'half', notice: /filter of the provider ended the answer \(SAFETY\)/ },
    ],
    'a word for the end that nobody knows': [
      [candidate([], 'OUT_OF_PAPER')],
      { notice: /ended without a word \(OUT_OF_PAPER\)/ },
    ],
    'an error inside the stream': [
      [candidate([{ text: 'half' }]), { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }],
      { outcome: 'failed', failure: /^overloaded: busy/, said: 'half' },
    ],
    'half a character': [[candidate([{ text: 'x\ud83e' }], 'STOP')], { said: 'x\ud83e' }],
  },
}

const quick = { retryBaseMs: 1, retryMaxMs: 5, drainMs: 50 }

async function played({ subject, make, good }: Hostile, bad: Handler) {
  const { url, asked } = await serve((response, one, turn) =>
    (turn === 1 ? bad : send(good))(response, one, turn),
  )
  const ran: number[] = []
  const session = await createEngine({
    store: inMemoryStore(),
    modelId: subject.model,
    wire: subject.wire,
    model: make({ apiKey: 'key', baseUrl: url, random: () => 0, settings: quick }),
    tools: [
      tool({
        name: 'Look',
        description: 'looks',
        input: z.object({ n: z.number() }),
        run: ({ n }) => (ran.push(n), `saw ${n}`),
      }),
    ],
    layers: [],
  }).open()
  const turns = []
  for (const text of ['first', 'second']) {
    const events: LiveEvent[] = []
    for await (const event of session.send(text)) events.push(event)
    turns.push(events)
  }
  await session.close()
  return { first: turns[0]!, second: turns[1]!, ran, bodies: asked.map(({ bytes }) => bytes.toString()) }
}

it('[E40] more tools than a wire takes are said with both numbers, nothing is sent, and another provider may take them', async () => {
  const { url, asked } = await serve(send(gemini.good))
  const tools = Array.from({ length: 129 }, (_, at) =>
    tool({ name: `Look${at}`, description: 'looks', input: z.object({}), run: () => '' }),
  )
  for (const { subject, make } of [chat, responses, gemini]) {
    const model = make({ apiKey: 'key', baseUrl: url })
    const { wire } = subject
    const engine = createEngine({ store: inMemoryStore(), modelId: subject.model, wire, model, tools })
    const session = await engine.open()
    const events: LiveEvent[] = []
    for await (const event of session.send('hi')) events.push(event)
    const { outcome, failure } = endOf(events)
    if (wire.name === 'gemini') expect(outcome, failure).toBe('done')
    else expect(failure).toContain(`this session has 129 tools, and ${wire.name} takes 128`)
    await session.close()
  }
  expect(asked).toHaveLength(1)
})

const endOf = (events: readonly LiveEvent[]) => {
  const end = events.findLast((event) => event.type === 'turn-end')
  return {
    outcome: end?.outcome,
    failure: end === undefined || end.failure === null ? '' : `${end.failure.code}: ${end.failure.message}`,
    said: events.flatMap((event) => (event.type === 'text-delta' ? event.text : [])).join(''),
    notices: events.flatMap((event) => (event.type === 'notice' ? event.message : [])).join('\n'),
  }
}

const rules = { 'openai-chat': '[WC8]', 'openai-responses': '[WR7]', gemini: '[WG5]', anthropic: '' }

describe.each([chat, responses, gemini].map((each) => [each.subject.wire.name, each] as const))(
  '%s',
  (name, each) => {
    it.each(Object.entries(each.cases))(
      `${rules[name]} [WA11] [E39] %s: told, run once, and the session goes on`,
      async (_, [events, expected]) => {
        const { first, second, ran, bodies } = await played(each, send(events))
        const { outcome, failure, said, notices } = endOf(first)
        expect([outcome, failure]).toEqual([
          expected.outcome ?? 'done',
          expected.failure === undefined ? '' : expect.stringMatching(expected.failure),
        ])
        // What comes behind calls is the good answer.
        if (expected.said !== undefined) expect(said).toBe(expected.said)
        if (expected.notice === undefined) expect(notices).toBe('')
        else expect(notices).toMatch(expected.notice)
        expect(ran).toEqual(expected.ran ?? [])
        expect(endOf(second)).toMatchObject({ outcome: 'done', said: 'fine' })
        expect(bodies.length).toBeGreaterThan(1)
        for (const body of bodies) mustPass(each.subject, body, each.subject.model)
        expect(bodies.every((body) => body.isWellFormed() && !/\\ud[89a-f]/i.test(body))).toBe(true)
      },
    )

    it('[WA12] what a server says about waiting is heard, and a fetch of one’s own is used', async () => {
      const { first } = await played(each, (response) => {
        const head = { 'content-type': 'application/json', 'retry-after': '0.05' }
        response.writeHead(429, head).end('{"error":{"code":429,"message":"slow down","status":"X"}}')
      })
      expect(first.flatMap((event) => (event.type === 'retry-wait' ? event.waitMs : []))).toEqual([50])
      expect(endOf(first)).toMatchObject({ outcome: 'done', said: 'fine' })
      const seen: string[] = []
      const { url } = await serve(send(each.good))
      const own = each.make({
        apiKey: 'key',
        baseUrl: url,
        fetch: (input, init) => {
          seen.push(input instanceof Request ? input.url : String(input))
          return fetch(input, init)
        },
      })
      const { model, wire } = each.subject
      const request = { wire: wire.name, model, body: '{}', betas: [], source: 'main' }
      for await (const event of own.stream(request, new AbortController().signal))
        expect(event.type).not.toBe('failed')
      expect(seen).toHaveLength(1)
    })
  },
)
