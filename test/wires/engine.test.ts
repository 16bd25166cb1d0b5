// The engine on each further wire, against the simulator's dialect over HTTP: tools, images, reasoning, overflow, resume.
import { describe, expect, it } from 'vitest'
import { createEngine, fileStore, inMemoryStore, type EngineOptions } from '../../src/index.ts'
import type { Model } from '../../src/model/model.ts'
import {
  call,
  createSimulator,
  dialectModels,
  scripted,
  text,
  thinking,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/index.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { AdapterOptions } from '../../src/wires/adapter.ts'
import { geminiModel } from '../../src/wires/gemini/adapter.ts'
import { geminiWire } from '../../src/wires/gemini/wire.ts'
import { openAiChatModel, openAiResponsesModel } from '../../src/wires/openai-adapter.ts'
import { openAiChatWire } from '../../src/wires/openai-chat/wire.ts'
import { openAiResponsesWire } from '../../src/wires/openai-responses/wire.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { factsOf, folder, later, ofType, tool, turn, words } from '../e2e/simulated.ts'

interface Spoken {
  readonly wire: Wire
  readonly modelId: string
  readonly make: (options: AdapterOptions) => Model
  readonly base: string
  /** What must stand in the request behind an answer that was thought about. */
  readonly sealed: RegExp | null
}
const spoken: readonly Spoken[] = [
  { wire: openAiChatWire as Wire, modelId: 'gpt-6-sol', make: openAiChatModel, base: '/v1', sealed: null },
  {
    wire: openAiResponsesWire as Wire,
    modelId: 'gpt-6-sol',
    make: openAiResponsesModel,
    base: '/v1',
    sealed: /"type":"reasoning".*"encrypted_content":"gAAAAA/,
  },
  {
    wire: geminiWire as Wire,
    modelId: 'gemini-4-argon',
    make: geminiModel,
    base: '',
    sealed: /"thoughtSignature":"gAAAAA/,
  },
]

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } } as const

const look = tool('Look', ({ n }) => `found ${String(n)}: ${words(400, 'lorem')}`)
const show: Tool = {
  ...tool('Show', () => ''),
  run: async () => ({ content: [{ type: 'text', text: 'a picture' }, image], isError: false }),
}

interface Scene {
  readonly simulator: Simulator
  readonly options: EngineOptions<unknown>
}

async function sceneOf(
  { wire, modelId, make, base }: Spoken,
  steps: Parameters<typeof scripted>[0],
  more: Partial<SimulatorOptions> = {},
): Promise<Scene> {
  const simulator = createSimulator({ answerer: scripted(steps), ...more })
  const { url } = await simulator.start()
  later(() => simulator.stop())
  const settings = { retryBaseMs: 1, retryMaxMs: 2, maxRetries: 1 }
  const model = make({ apiKey: 'test', baseUrl: `${url}${base}`, random: () => 0, settings })
  return { simulator, options: { store: inMemoryStore(), wire, model, modelId, tools: [look, show] } }
}

const refusals = ({ simulator }: Scene): readonly string[] =>
  simulator.log.requests.flatMap(({ error }) => (error === null ? [] : [error.message]))
const bodies = ({ simulator }: Scene): readonly string[] =>
  simulator.log.requests.map(({ body }) => JSON.stringify(body))

describe.each(spoken.map((each) => [each.wire.name, each] as const))('%s', (_, each) => {
  it('[WI10] a task with parallel tools, images and reasoning runs to its end, streamed', async () => {
    const scene = await sceneOf(each, [
      [thinking('two at once'), call('Look', { n: 1 }), call('Show', {})],
      [text('One more.'), call('Look', { n: 2 })],
      'All is found.',
    ])
    const session = await createEngine({ ...scene.options, effort: 'low' }).open()
    const { outcome, events } = await turn(session.send([{ type: 'text', text: 'find it' }, image]))
    await session.close()
    expect(refusals(scene)).toEqual([])
    expect(outcome).toBe('done')
    const said = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
    expect(said.join('')).toBe('One more.All is found.')
    expect(said.length).toBeGreaterThan(2)
    const facts = await factsOf(scene.options.store, session.id)
    expect(ofType(facts, 'tool-result')).toHaveLength(3)
    expect(ofType(facts, 'assistant-message').map(({ ended }) => ended)).toEqual(['tool', 'tool', 'end'])
    const sent = bodies(scene)
    expect(sent).toHaveLength(3)
    expect(sent[0]).toContain(pixel)
    expect(sent[1]!.split(pixel)).toHaveLength(3)
    if (each.sealed !== null) expect(sent[2]).toMatch(each.sealed)
  })

  it('[WI10] the next request reads what the last one wrote, a fork too, and a resumed session goes on with the same bytes', async () => {
    const scene = await sceneOf(each, ['one', [call('Look', { n: 1 })], 'two', 'of the fork', 'three'])
    const store = fileStore({ root: await folder() })
    const engine = createEngine({ ...scene.options, store })
    const first = await engine.open()
    await turn(first.send(words(6000, 'alpha')))
    await turn(first.send('and look'))
    expect((await first.fork({ purpose: 'agent', directive: 'sum up' })).outcome).toBe('done')
    await first.close()
    const again = await createEngine({ ...scene.options, store }).open(first.id)
    expect((await turn(again.send('go on'))).outcome).toBe('done')
    await again.close()
    expect(refusals(scene)).toEqual([])
    const reads = scene.simulator.log.requests.map(({ usage }) => usage?.cache_read_input_tokens ?? 0)
    expect(reads[0]).toBe(0)
    expect(reads).toHaveLength(5)
    for (const read of reads.slice(1)) expect(read).toBeGreaterThan(4000)
  })

  it('[WI10] a prompt that only the provider knows to be too long is compacted and sent again', async () => {
    const models = dialectModels.map((model) => ({ ...model, window: 9000 }))
    for (const overflow of ['refused', 'in-stream'] as const) {
      const scene = await sceneOf(each, ['one', 'two', 'three', 'four', 'five'], {
        dialectModels: models,
        overflow,
      })
      const session = await createEngine({ ...scene.options, maxOutputTokens: 500 }).open()
      for (const word of ['alpha', 'beta', 'gamma', 'delta'])
        expect((await turn(session.send(words(1800, word)))).outcome, word).toBe('done')
      await session.close()
      const facts = await factsOf(scene.options.store, session.id)
      expect(ofType(facts, 'boundary').length).toBeGreaterThan(0)
      expect(ofType(facts, 'window-learned').length).toBeLessThanOrEqual(1)
      // Once a stream has begun the refusal is an event of it.
      const isAtOnce = overflow === 'refused' || each.wire.name !== 'openai-responses'
      expect(refusals(scene).length > 0).toBe(isAtOnce)
      for (const message of refusals(scene)) expect(message).toMatch(/context|token count/i)
    }
  })

  it('[WI10] a broken stream and a busy server are tried again', async () => {
    const fault = { kind: 'status', status: 429 } as const
    const scene = await sceneOf(each, ['one'], { faults: [{ at: (request) => request.number === 1, fault }] })
    const session = await createEngine(scene.options).open()
    const { outcome, events } = await turn(session.send('hi'))
    expect(outcome).toBe('done')
    expect(events.some(({ type }) => type === 'retry-wait')).toBe(true)
    await session.close()
  })
})
