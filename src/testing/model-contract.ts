// What every model must do, as cases that any test runner can run: each throws when the model breaks its promise.
//
//   for (const item of modelContract) it(`[${item.rule}] ${item.title}`, () => item.run(makeModel))
//
// `makeModel` gives a model that behaves in one of the ways below towards its next request.
import assert from 'node:assert/strict'
import type { Model, ModelEvent, ModelRequest } from '../model/model.ts'
import { textsIn } from '../transcript/content.ts'

/** `answers`: with text; `calls`: with a tool call; `refuses`: with a failure that trying again does not help; `hangs`: never ends by itself. */
export type ModelManner = 'answers' | 'calls' | 'refuses' | 'hangs'

export interface ModelCase {
  readonly rule: string
  readonly title: string
  run(makeModel: (manner: ModelManner) => Model | Promise<Model>): Promise<void>
}

const request: ModelRequest = {
  model: 'claude-sonnet-4-6',
  body: JSON.stringify({
    model: 'claude-sonnet-4-6',
    max_tokens: 100,
    stream: true,
    tools: [{ name: 'Look', description: 'looks', input_schema: { type: 'object', properties: {} } }],
    messages: [{ role: 'user', content: 'hello' }],
  }),
  betas: [],
  source: 'main',
}

const never = new AbortController().signal

async function eventsOf(model: Model, signal: AbortSignal = never): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(request, signal)) events.push(event)
  return events
}

const isLast = ({ type }: ModelEvent): boolean => type === 'end' || type === 'failed'

/** What every model must do, as cases for any test runner. */
export const modelContract: readonly ModelCase[] = [
  {
    rule: 'MP1',
    title: 'a stream ends with exactly one end or failure, whatever happens, and never throws',
    run: async (makeModel) => {
      for (const manner of ['answers', 'calls', 'refuses'] as const) {
        const events = await eventsOf(await makeModel(manner))
        assert.equal(events.filter(isLast).length, 1, manner)
        assert.ok(isLast(events.at(-1)!), manner)
      }
    },
  },
  {
    rule: 'MP1',
    title: 'what it said on the way is what its answer holds',
    run: async (makeModel) => {
      const events = await eventsOf(await makeModel('answers'))
      const last = events.at(-1)!
      assert.equal(last.type, 'end')
      if (last.type !== 'end') return
      const streamed = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
      const texts = textsIn(last.message.content)
      assert.equal(streamed, texts.join(''))
      assert.notEqual(streamed, '')
      assert.notEqual(last.message.messageId, '')
      for (const count of [last.message.usage.input, last.message.usage.output])
        assert.ok(Number.isFinite(count) && count >= 0)
    },
  },
  {
    rule: 'MP1',
    title: 'a call comes whole: its id, its name and its arguments',
    run: async (makeModel) => {
      const last = (await eventsOf(await makeModel('calls'))).at(-1)!
      assert.equal(last.type, 'end')
      if (last.type !== 'end') return
      const calls = last.message.content.filter((block) => block.type === 'tool_use')
      assert.ok(calls.length > 0)
      for (const call of calls) assert.ok('id' in call && 'name' in call && typeof call.input === 'object')
      assert.equal(last.message.stop, 'tool_use')
    },
  },
  {
    rule: 'MP1',
    title: 'a failure is an event with a code and a sentence',
    run: async (makeModel) => {
      const last = (await eventsOf(await makeModel('refuses'))).at(-1)!
      assert.equal(last.type, 'failed')
      if (last.type !== 'failed') return
      assert.notEqual(last.failure.code, '')
      assert.notEqual(last.failure.message.trim(), '')
    },
  },
  {
    rule: 'MP1',
    title: 'an abort, before or in the middle, is a failure with the code aborted, and soon',
    run: async (makeModel) => {
      const before = new AbortController()
      before.abort()
      for (const [manner, controller] of [
        ['answers', before],
        ['hangs', new AbortController()],
      ] as const) {
        const pending = eventsOf(await makeModel(manner), controller.signal)
        setTimeout(() => controller.abort(), 20)
        const last = (await pending).at(-1)!
        assert.equal(last.type, 'failed', manner)
        if (last.type === 'failed') assert.equal(last.failure.code, 'aborted', manner)
      }
    },
  },
]
