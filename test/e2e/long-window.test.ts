// A name that ends in [1m] asks for the long window; the wire, the cache and the transcript know the plain name.
import { describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore } from '../../src/index.ts'
import { findModel, simulatedModels } from '../../src/simulator/index.ts'
import { factsOf, ofType, refusals, simulated, turn, words } from './simulated.ts'

const plain = 'claude-haiku-4-5'
const long = { ...findModel(simulatedModels, plain)!, window: 1_000_000 }

describe('a model named with [1m]', () => {
  it('[G24] goes on the wire without the suffix and has the long window', async () => {
    const scene = await simulated(['one', 'two'], { models: [long] })
    const store = inMemoryStore()
    const options = { store, model: scene.model, layers: [] }
    const narrow = await createEngine({ ...options, modelId: plain }).open()
    expect((await turn(narrow.send(words(250_000)))).failure?.code).toBe('overflow')
    const session = await createEngine({ ...options, modelId: `${plain}[1m]` }).open()
    expect((await turn(session.send(words(250_000)))).outcome).toBe('done')
    expect(scene.simulator.log.requests.map(({ body }) => (body as { model: string }).model)).toEqual([plain])
    const facts = await factsOf(store, session.id)
    expect(ofType(facts, 'request-sent')[0]?.model).toBe(plain)
    expect(ofType(facts, 'assistant-message')[0]?.model).toBe(plain)
    expect(session.spent().dollars).toBeGreaterThan(0)
    expect(refusals(scene)).toEqual([])
  })

  it('[G24] reads what the plain name left in the cache, and so do its forks', async () => {
    const scene = await simulated([words(3000), 'two', 'from the fork'], { models: [long] })
    const store = inMemoryStore()
    const session = await createEngine({ store, model: scene.model, modelId: plain }).open()
    await turn(session.send(words(5000)))
    await session.setModel(`${plain}[1m]`)
    await turn(session.send('more'))
    const answers = ofType(await factsOf(store, session.id), 'assistant-message')
    expect(answers[1]?.usage?.cacheRead).toBeGreaterThan(5000)
    const fork = await session.fork({ purpose: 'agent', directive: 'look' })
    expect(fork.usage?.cacheRead).toBeGreaterThan(5000)
    const names = scene.simulator.log.requests.map(({ body }) => (body as { model: string }).model)
    expect(names).toEqual([plain, plain, plain])
  })
})
