// Agents that are started by one answer, side by side.
import { describe, expect, it } from 'vitest'
import { defaults } from '../../src/settings/defaults.ts'
import { factsOf, ofType, turn } from '../e2e/simulated.ts'
import { agent, stage } from './simulated-agents.ts'

/** The calls of one answer, made while no agent can finish; what they were answered. */
async function started(more: (at: number) => Readonly<Record<string, unknown>>, count: number) {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const calls = Array.from({ length: count }, (_, at) => agent(`agent ${at}`, 'sit and wait', more(at)))
  const { preset } = await stage([
    { when: 'sit and wait', held: () => held, answers: ['waited'] },
    { when: 'main', answers: [calls, 'they have begun'] },
  ])
  const session = await preset.engine.open()
  await turn(session.send('divide'))
  const running = session.agents().length
  const results = ofType(await factsOf(preset.store, session.id), 'tool-result')
  release()
  await preset.close()
  return {
    running,
    refused: results.filter(({ isError }) => isError).map((one) => JSON.stringify(one.content)),
  }
}

describe('agents that one answer starts', () => {
  it('[AG37] are no more than may run', async () => {
    const most = defaults.agents.running
    const { running, refused } = await started(() => ({ mode: 'background' }), most + 4)
    expect(running).toBe(most)
    expect(refused).toHaveLength(4)
    for (const why of refused) expect(why).toContain('are running already')
  })

  it('[AG37] have names of their own: a message reaches the one it is for', async () => {
    const { running, refused } = await started(() => ({ mode: 'teammate', name: 'ida' }), 3)
    expect(running).toBe(1)
    expect(refused).toHaveLength(2)
    for (const why of refused) expect(why).toContain('is taken')
  })
})
