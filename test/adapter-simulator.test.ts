// The adapter and the simulator were written apart, from the same description of the API. Here they meet.
import { afterEach, describe, expect, it } from 'vitest'
import { anthropicModel } from '../src/wires/anthropic/adapter.ts'
import type { Model, ModelEvent, ModelMessage, ModelRequest } from '../src/model/model.ts'
import { learnedWindow, lookUp, modelTable } from '../src/model/models.ts'
import type { WireBlock, WireRequest } from '../src/model/wire.ts'
import {
  createSimulator,
  simulatedModels,
  type Answer,
  type Fault,
  type Simulator,
} from '../src/simulator/index.ts'

const running: Simulator[] = []
afterEach(async () => {
  for (const simulator of running.splice(0)) await simulator.stop()
})

const answers: readonly Answer[] = [
  {
    content: [
      { type: 'thinking', thinking: 'The file says it. 🦊' },
      { type: 'text', text: 'Ich lese die Datei.' },
      { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'ä.ts', lines: [1, 2] } },
    ],
    stop_reason: 'tool_use',
  },
  { content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn' },
]

async function start(faults: readonly Fault[] = []): Promise<{ simulator: Simulator; model: Model }> {
  const simulator = createSimulator({
    answerer: {
      answer: ({ turn }) =>
        answers[Math.min(turn, answers.length) - 1] ?? { content: [], stop_reason: 'end_turn' },
    },
    models: [
      ...simulatedModels,
      {
        ...simulatedModels.find((each) => each.id === 'claude-opus-4-5')!,
        id: 'tiny',
        window: 300,
        maxOutput: 100,
      },
    ],
    faults: faults.map((fault, index) => ({ at: index + 1, fault })),
  })
  running.push(simulator)
  const { url } = await simulator.start()
  const settings = { retryBaseMs: 2, retryMaxMs: 4, drainMs: 50 }
  return {
    simulator,
    model: anthropicModel({ apiKey: 'k', baseUrl: url, clock: { now: () => 0 }, random: () => 0, settings }),
  }
}

const tools = [
  { name: 'read', description: 'Reads a file.', input_schema: { type: 'object', properties: {} } },
]
const wire = (messages: WireRequest['messages'], rest: Partial<WireRequest> = {}): ModelRequest => {
  const body: WireRequest = {
    model: 'claude-sonnet-5',
    max_tokens: 4000,
    stream: true,
    tools,
    messages,
    ...rest,
  }
  return { model: body.model, body: JSON.stringify(body), betas: [], source: 'main' }
}
const question: WireRequest['messages'][number] = {
  role: 'user',
  content: [
    { type: 'text', text: 'Please read the file. '.repeat(1000), cache_control: { type: 'ephemeral' } },
  ],
}

async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = []
  for await (const event of events) all.push(event)
  return all
}
const ask = (model: Model, request: ModelRequest): Promise<ModelEvent[]> =>
  collect(model.stream(request, new AbortController().signal))
function endOf(events: readonly ModelEvent[]): ModelMessage {
  const last = events.at(-1)
  if (last?.type !== 'end') throw new Error(`no end: ${JSON.stringify(last)}`)
  return last.message
}
/** The round after the first answer, its content sent back as it came. */
const followUp = (first: ModelMessage, change = (block: WireBlock): WireBlock => block): ModelRequest =>
  wire([
    question,
    { role: 'assistant', content: first.content.map((block) => change({ ...block })) },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'text' }] },
  ])

describe('adapter and simulator', () => {
  it('[D14] a round with reasoning and a tool goes through, and its answer is accepted when sent back', async () => {
    const { simulator, model } = await start()
    const first = endOf(await ask(model, wire([question])))
    expect(first.content.map((block) => block.type)).toEqual(['thinking', 'text', 'tool_use'])
    expect(first.content[1]).toEqual({ type: 'text', text: 'Ich lese die Datei.' })
    expect(first.content[2]).toMatchObject({ name: 'read', input: { path: 'ä.ts', lines: [1, 2] } })
    expect(first).toMatchObject({ model: 'claude-sonnet-5', stop: 'tool_use' })
    expect(first.usage.cacheWrite).toBeGreaterThan(1024)
    const second = endOf(await ask(model, followUp(first)))
    expect(second.content).toEqual([{ type: 'text', text: 'Done.' }])
    expect(second.usage.cacheRead).toBe(first.usage.cacheWrite)
    expect(simulator.log.bySource('main').map((logged) => logged.messageId)).toEqual([
      first.messageId,
      second.messageId,
    ])
    expect(simulator.log.last()?.usage).toMatchObject({
      output_tokens: second.usage.output,
      input_tokens: second.usage.input,
    })
  })

  it('[D11] reasoning that was changed is refused under its own code', async () => {
    const { model } = await start()
    const first = endOf(await ask(model, wire([question])))
    const changed = followUp(first, (block) =>
      block.type === 'thinking' ? { ...block, signature: 'forged' } : block,
    )
    expect((await ask(model, changed)).at(-1)).toMatchObject({
      type: 'failed',
      failure: { code: 'reasoning-invalid', status: 400 },
    })
  })

  it('[D8] throttles, overload, resets and streams cut before content are passed through', async () => {
    const { simulator, model } = await start([
      { kind: 'status', status: 429, retryAfterSeconds: 0.003 },
      { kind: 'status', status: 529 },
      { kind: 'reset', when: 'before-headers' },
      { kind: 'reset', when: 'after-headers' },
      { kind: 'stream-error', afterEvents: 1 },
    ])
    const events = await ask(model, wire([question]))
    endOf(events)
    expect(events.flatMap((event) => (event.type === 'retry' ? [event.failure.code] : []))).toEqual([
      'rate-limited',
      'overloaded',
      'network',
      'network',
      'overloaded',
    ])
    expect(simulator.log.requests).toHaveLength(6)
  })

  it.each<Fault>([
    { kind: 'cut', afterEvents: 6 },
    { kind: 'cut', afterEvents: 6, clean: true },
    { kind: 'malformed', afterEvents: 6 },
  ])('[D16] $kind after content is a failure with what there was', async (fault) => {
    const { simulator, model } = await start([fault])
    const last = (await ask(model, wire([question]))).at(-1)
    expect(last).toMatchObject({ type: 'failed', failure: { code: 'cut-short' }, partial: { stop: null } })
    expect(last?.type === 'failed' && last.partial?.content[0]?.type).toBe('thinking')
    expect(simulator.log.requests).toHaveLength(1)
  })

  it('[D1] a prompt that is too long is an overflow, and teaches the window', async () => {
    const { model } = await start()
    const last = (await ask(model, wire([question], { model: 'tiny', max_tokens: 50 }))).at(-1)
    if (last?.type !== 'failed' || last.failure.code !== 'overflow') throw new Error(JSON.stringify(last))
    expect(last.failure.overflow.promptTokens).toBeGreaterThan(300)
    expect(learnedWindow(last.failure.overflow)).toBe(300)
  })

  it('[E1] a stream that hangs ends with the abort of the caller', async () => {
    const { model } = await start([{ kind: 'hang', afterEvents: 1 }])
    const controller = new AbortController()
    const events: ModelEvent[] = []
    for await (const event of model.stream(wire([question]), controller.signal)) {
      events.push(event)
      if (event.type === 'start') setTimeout(() => controller.abort(), 20)
    }
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { code: 'aborted' } })
  })

  it('[D4] both tables of models, read apart from the same description, agree', () => {
    const table = modelTable()
    for (const theirs of simulatedModels) {
      const ours = lookUp(table, theirs.id)
      const { capabilities: can } = ours ?? { capabilities: null }
      expect({
        id: ours?.id,
        window: ours?.window,
        maxOutput: ours?.maxOutput,
        min: ours?.minCacheTokens,
        thinking: can?.thinking,
        keeps: can?.keepsOldThinking,
        binds: can?.bindsPrefix,
        forced: can?.forcedTools,
        system: can?.midConversationSystem,
        thinks: can?.defaultThinking !== 'off',
      }).toEqual({
        id: theirs.id,
        window: theirs.window,
        maxOutput: theirs.maxOutput,
        min: theirs.minCacheable,
        thinking: theirs.thinking,
        keeps: theirs.keepsThinking,
        binds: theirs.bindsPrefix !== 'never',
        forced: theirs.forcedTools,
        system: theirs.systemMessages,
        thinks: theirs.defaultThinking !== 'disabled',
      })
    }
  })
})
