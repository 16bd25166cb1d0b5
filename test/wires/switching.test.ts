// One session over all wires: the model is switched between every ordered pair in mid-session, over real HTTP, and each
// request is judged by the dialect it is written for.
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore, modelTable, type LiveEvent } from '../../src/index.ts'
import {
  call,
  createSimulator,
  scripted,
  type ScriptStep,
  type Simulator,
} from '../../src/simulator/index.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import { providersOf } from '../../src/wires/providers.ts'
import { routedModel, wireChooser } from '../../src/wires/routing.ts'
import { toolOf } from '../layers/stage.ts'

const names = {
  anthropic: 'claude-opus-5',
  'openai-chat': 'chat/gpt-6-sol',
  'openai-responses': 'openai/gpt-6-sol',
  gemini: 'google/gemini-4-argon',
} as const
type Name = keyof typeof names
const all = Object.keys(names) as Name[]

const running: Simulator[] = []
afterEach(async () => {
  for (const simulator of running.splice(0)) await simulator.stop()
})

async function stage(steps: readonly ScriptStep[]) {
  const simulator = createSimulator({ answerer: scripted(steps) })
  running.push(simulator)
  const { url } = await simulator.start()
  const providers = providersOf({
    openai: { baseUrl: `${url}/v1` },
    chat: { wire: 'openai-chat', baseUrl: `${url}/v1`, keyVariable: 'CHAT_KEY' },
    google: { baseUrl: url },
  })
  const table = modelTable()
  const keys = { openai: 'sk-test', chat: 'sk-test', google: 'g-test' }
  const events: LiveEvent[] = []
  const store = inMemoryStore()
  const engine = createEngine({
    store,
    modelId: names.anthropic,
    wire: wireChooser(providers, table),
    models: table,
    model: routedModel({ providers, keys, anthropic: anthropicModel({ apiKey: 'key', baseUrl: url }) }),
    tools: [toolOf('Look', () => 'found it')],
  })
  const session = await engine.open()
  const say = async (text: string): Promise<string> => {
    let failure = ''
    for await (const event of session.send(text)) {
      events.push(event)
      if (event.type === 'turn-end' && event.outcome !== 'done') failure = event.failure?.message ?? 'failed'
    }
    return failure
  }
  const facts = async (): Promise<readonly Fact[]> => {
    const found: Fact[] = []
    for await (const item of store.read(session.id, {}))
      if (item.kind === 'entry' && 'fact' in item.entry) found.push(item.entry.fact)
    return found
  }
  return { session, say, facts, simulator }
}

describe('a switch of the model in mid-session', () => {
  it('[WS1] between every ordered pair of wires keeps the talk and sends what the other accepts', async () => {
    for (const from of all)
      for (const to of all) {
        if (from === to) continue
        const turn = (name: string): readonly ScriptStep[] => [
          [call('Look', { where: name }, `call_${name}`)],
          `I looked ${name}.`,
        ]
        const { session, say, facts } = await stage([...turn('first'), ...turn('second'), ...turn('third')])
        await session.setModel(names[from])
        expect(await say('look first'), `${from} → ${to}`).toBe('')
        const price = session.switchPrice(names[to])
        expect(price.tokens).toBeGreaterThan(0)
        expect(price.dollars).toBeGreaterThan(0)
        await session.setModel(names[to])
        expect(await say('look second'), `${from} → ${to}`).toBe('')
        await session.setModel(names[from])
        expect(await say('look third'), `${from} → ${to} → ${from}`).toBe('')
        const answers = (await facts()).filter((fact) => fact.type === 'assistant-message')
        expect(answers).toHaveLength(6)
        expect(new Set(answers.slice(0, 2).map(({ model }) => model)).size).toBe(1)
        await session.close()
      }
  }, 240_000)

  it('[WS1] whose provider has no key fails with the name of the variable, and the session goes on with another', async () => {
    const { session, say } = await stage(['hello', 'again'])
    await session.setModel('deepseek/deepseek-chat')
    expect(await say('hi')).toContain('DEEPSEEK_API_KEY')
    await session.setModel(names.anthropic)
    expect(await say('hi again')).toBe('')
    await session.close()
  }, 60_000)
})
