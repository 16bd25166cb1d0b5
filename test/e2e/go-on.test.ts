// What waits for an answer without a new input: queued too late, or left by a turn that broke off.
import { describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore } from '../../src/index.ts'
import { modelId, simulated, turn } from './simulated.ts'

describe('going on', () => {
  it('[G32] answers input that was queued too late for a turn, and refuses where nothing waits', async () => {
    const scene = await simulated(['one', 'two'])
    const session = await createEngine({ store: inMemoryStore(), modelId, model: scene.model }).open()
    expect((await turn(session.goOn())).failure?.code).toBe('nothing-waits')
    await turn(session.send('first'))
    await session.queue('late')
    expect((await turn(session.goOn())).outcome).toBe('done')
    expect(JSON.stringify(scene.simulator.log.last()?.body)).toContain('late')
    expect((await turn(session.goOn())).failure?.code).toBe('nothing-waits')
    expect(scene.simulator.log.requests.length).toBe(2)
  })
})
