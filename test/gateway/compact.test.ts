import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lookUp, modelTable, price } from '../../src/model/models.ts'
import {
  call,
  createSimulator,
  simulatedModels,
  text,
  thinking,
  type Simulator,
} from '../../src/simulator/index.ts'
import { usageOf } from '../../src/wires/usage.ts'
import { newWorld, runAgent, type World } from './world.ts'

let world: World
const running: Simulator[] = []
beforeEach(() => {
  world = newWorld()
})
afterEach(async () => {
  await world.end()
  for (const each of running.splice(0)) await each.stop()
})

interface Served {
  readonly steps: number
  readonly window?: number
  readonly thinks?: boolean
}

/** So many calls to each prompt, then an answer. */
async function simulator({ steps, window, thinks = false }: Served): Promise<Simulator & { url: string }> {
  const made = createSimulator({
    answerer: {
      answer: ({ request }) => {
        const from = request.messages.findLastIndex(
          ({ role, content }) => role === 'user' && !JSON.stringify(content).includes('tool_result'),
        )
        const done = request.messages.slice(from).filter(({ role }) => role === 'assistant').length
        const all = JSON.stringify(request.messages).length
        const before = thinks ? [thinking(`step ${done}`)] : []
        return done < steps
          ? {
              content: [...before, call('shell', { command: `step ${done}` }, `toolu_${done}_${all}`)],
              stop_reason: 'tool_use',
            }
          : { content: [...before, text('done')], stop_reason: 'end_turn' }
      },
    },
    models: simulatedModels.map((model) => (window === undefined ? model : { ...model, window })),
  })
  running.push(made)
  const { url } = await made.start()
  return Object.assign(made, { url })
}

const costOf = ({ log }: Simulator): number =>
  log.requests.reduce((sum, { model, usage }) => {
    const info = model === null ? null : lookUp(modelTable(), model)
    return info === null || usage === null ? sum : sum + (price(info, usageOf(usage))?.total ?? 0)
  }, 0)

describe('a gateway that compacts', () => {
  it('[GW17] answers a refusal for length itself: the client sees none of them, and it does not go round in circles', async () => {
    const behind = await simulator({ steps: 50, window: 60_000 })
    const { url } = await world.gateway(behind.url, { level: 'compact' })
    const bodies = await runAgent(url, { steps: 50, resultChars: 8000 })
    const refused = behind.log.requests.filter(({ status }) => status === 400).length
    expect(refused).toBeGreaterThan(0)
    expect(behind.log.requests.length).toBe(bodies.length + refused)
    expect(refused).toBeLessThan(10)
  })

  it.each([
    ['claude-opus-5', false],
    ['claude-opus-5-5', true],
  ])(
    '[GW18] compacts %s between turns where that is cheaper: less than direct, nothing refused, all that was asked in sight',
    async (model, thinks) => {
      const options = { steps: 12, resultChars: 9000, prompts: 6, model }
      const direct = await simulator({ steps: 12, thinks })
      await runAgent(direct.url, options)
      const behind = await simulator({ steps: 12, thinks })
      const { url } = await world.gateway(behind.url, { level: 'compact' })
      await runAgent(url, options)
      expect(behind.log.requests.map(({ status, error }) => error?.message ?? status)).toEqual(
        behind.log.requests.map(() => 200),
      )
      expect(costOf(behind) / costOf(direct)).toBeLessThan(0.8)
      const last = JSON.stringify(behind.log.requests.at(-1)!.body)
      for (const nth of [2, 3, 4, 5, 6]) expect(last).toContain(`canary-${nth}`)
      expect(last).toContain('do the task')
      const path = /The original is kept in the file (\S+\.txt)\./u.exec(last)![1]!
      expect(readFileSync(path, 'utf8')).toContain('line 100 of result')
      expect(last).not.toContain('Expand {')
    },
  )

  it('[GW18] a client that speaks for itself behind the first prompt is compacted too, and nothing is refused', async () => {
    const options = { steps: 12, resultChars: 9000, prompts: 6, speaksForItself: true }
    const direct = await simulator({ steps: 12 })
    await runAgent(direct.url, options)
    const behind = await simulator({ steps: 12 })
    const { url } = await world.gateway(behind.url, { level: 'compact' })
    await runAgent(url, options)
    expect(behind.log.requests.map(({ status, error }) => error?.message ?? status)).toEqual(
      behind.log.requests.map(() => 200),
    )
    expect(costOf(behind) / costOf(direct)).toBeLessThan(0.8)
    expect(JSON.stringify(behind.log.requests.at(-1)!.body)).toContain('the environment of the client')
  })

  it('[GW18] sends the same bytes for the same beginning after a restart', async () => {
    const behind = await simulator({ steps: 12 })
    const first = await world.gateway(behind.url, { level: 'compact' })
    const bodies = await runAgent(first.url, { steps: 12, resultChars: 9000, prompts: 4 })
    await first.stop()
    const second = await world.gateway(behind.url, { level: 'compact' })
    const reply = await fetch(`${second.url}/v1/messages`, {
      method: 'POST',
      body: bodies.at(-1)!,
      headers: {
        'content-type': 'application/json',
        'x-api-key': 'k-canary-123',
        'anthropic-version': '2023-06-01',
      },
    })
    expect(reply.headers.get('x-palimpsest')).toMatch(/^compact; blocks=[1-9]/u)
    const [before, again] = behind.log.requests.slice(-2)
    expect(JSON.stringify(again!.body)).toBe(JSON.stringify(before!.body))
  })
})
