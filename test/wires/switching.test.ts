// One session over all wires: the model is switched between every ordered pair in mid-session, over real HTTP, and each
// request is judged by the dialect it is written for.
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore, modelTable, type LiveEvent } from '../../src/index.ts'
import {
  call,
  createSimulator,
  scripted,
  thinking,
  type ScriptStep,
  type Simulator,
} from '../../src/simulator/index.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { anthropicModel } from '../../src/wires/anthropic/adapter.ts'
import { providersOf } from '../../src/wires/providers.ts'
import { routedModel, wireChooser } from '../../src/wires/routing.ts'
import { words } from '../e2e/simulated.ts'
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

async function stage(steps: readonly ScriptStep[], system?: string) {
  // A cache that promises nothing hits here whenever it can.
  const simulator = createSimulator({ answerer: scripted(steps), luck: { chance: 1 } })
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
  const skew = { ms: 0 }
  const engine = createEngine({
    store,
    clock: { now: () => Date.now() + skew.ms },
    modelId: names.anthropic,
    system,
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
  return { session, say, facts, simulator, skew }
}

describe('a switch of the model in mid-session', () => {
  it('[WS1] [WS7] there and back between every ordered pair of wires keeps the talk, sends what the other accepts and finds its prefix again', async () => {
    for (const from of all)
      for (const to of all) {
        if (from === to) continue
        const turn = (name: string): readonly ScriptStep[] => [
          [thinking(`where is ${name}?`), call('Look', { where: name }, `call_${name}`)],
          `I looked ${name}.`,
        ]
        const way = `${from} → ${to} → ${from}`
        const { session, say, facts, simulator, skew } = await stage(
          [...turn('first'), ...turn('second'), ...turn('third')],
          words(9000),
        )
        await session.setModel(names[from])
        expect(await say('look first'), way).toBe('')
        const there = session.switchPrice(names[to])
        // Nothing of it is in the other's cache: all of it is paid.
        const last = session.view().messages.at(1)?.parts[0]
        const isOneName = names[from].endsWith(names[to].split('/').at(-1)!)
        expect([there.from, there.cached], way).toEqual([isOneName ? names[from] : last?.model, 0])
        expect(there.dollars, way).toBeGreaterThan(0)
        // What only its maker reads is named before it is left out.
        expect(there.left.length > 0, way).toBe(from !== 'openai-chat')
        await session.setModel(names[to])
        const before = await facts()
        expect(await say('look second'), way).toBe('')
        const back = session.switchPrice(names[from])
        skew.ms = 13 * 60 * 60_000
        const cold = session.switchPrice(names[from])
        skew.ms = 0
        await session.setModel(names[from])
        expect(await say('look third'), way).toBe('')
        const all = await facts()
        // Nothing is lost or changed in the transcript.
        expect(all.slice(0, before.length), way).toEqual(before)
        const answers = all.filter((fact) => fact.type === 'assistant-message')
        expect(answers).toHaveLength(6)
        expect(answers.map(({ model }) => model === answers[0]!.model)).toEqual(
          [0, 1, 2, 3, 4, 5].map((at) => isOneName || at < 2 || at > 3),
        )
        expect(simulator.log.requests.filter(({ error }) => error !== null)).toEqual([])
        // What stood before its own last answer is still in its cache; the price said so where that is promised.
        const { input, cacheRead, cacheWrite } = answers[4]!.usage!
        expect(cacheRead, way).toBeGreaterThan(9000)
        const isSure = from !== 'gemini'
        const share = isSure ? cacheRead / (input + cacheRead + cacheWrite) : 0
        expect(Math.abs(back.cached / Math.max(1, back.tokens) - share), way).toBeLessThan(0.1)
        // Once its lifetime is over all of it is paid again.
        expect([cold.cached, cold.dollars! > back.dollars!], way).toEqual([0, isSure])
        await session.close()
      }
  })

  it('[WS4] [WS7] one name at two providers is two models, also once the other was chosen', async () => {
    const { session, say } = await stage(['hello', 'again'], words(9000))
    await session.setModel(names['openai-chat'])
    expect(await say('hi')).toBe('')
    expect(session.switchPrice().tokens).toBe(0)
    await session.setModel(names['openai-responses'])
    const price = session.switchPrice()
    expect([price.from, price.cached]).toEqual([names['openai-chat'], 0])
    expect(price.tokens).toBeGreaterThan(9000)
    expect(price.dollars).toBeGreaterThan(0)
    // Back before anything was asked of the other: its own prefix is where it was.
    expect(session.switchPrice(names['openai-chat']).tokens).toBe(0)
    await session.close()
  })

  it('[WS1] whose provider has no key fails with the name of the variable, and the session goes on with another', async () => {
    const { session, say } = await stage(['hello', 'again'])
    await session.setModel('deepseek/deepseek-chat')
    expect(await say('hi')).toContain('DEEPSEEK_API_KEY')
    await session.setModel(names.anthropic)
    expect(await say('hi again')).toBe('')
    await session.close()
  })
})
