import Anthropic from '@anthropic-ai/sdk'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { WireMessage } from '../../src/model/wire.ts'
import type { Answer, Answerer } from '../../src/simulator/answer.ts'
import { ruleModel, variants } from '../../src/simulator/index.ts'
import { createSimulator, type Simulator } from '../../src/simulator/index.ts'
import { summaries } from './prompts.ts'
import { play, request, textIn, user, workshop } from './tool-loop.ts'

const started: Simulator[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((simulator) => simulator.stop()))
})

/** The simulator as an answerer: each question travels over HTTP through the official client, streamed. */
async function overHttp(answerer: Answerer): Promise<Answerer> {
  const simulator = createSimulator({ answerer })
  started.push(simulator)
  const { url } = await simulator.start()
  const client = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  return {
    async answer({ request: wanted }): Promise<Answer> {
      const message = await client.messages.stream(wanted as Anthropic.MessageStreamParams).finalMessage()
      return {
        content: message.content.map((block) => ({ ...block })),
        stop_reason: message.stop_reason ?? '',
      }
    },
  }
}

describe('answers through the real door', () => {
  it('[W23] every request of a task is one the API accepts, with signed thinking', async () => {
    using shop = workshop({ 'a.js': 'let a = 1\n', 'b.js': 'let b = 1\n' })
    const task =
      '<task name="two">\n1. read a.js\n2. also read b.js\n3. edit a.js "1" -> "2"\n4. run cat a.js\n5. if shows "2": say Changed.\n6. say Done.\n</task>'
    const messages = await play(await overHttp(ruleModel()), shop, [user(task)], {
      thinking: { type: 'adaptive' },
    })
    expect(readFileSync(join(shop.folder, 'a.js'), 'utf8')).toBe('let a = 2\n')
    const last = messages.at(-1)?.content as WireMessage['content'] as Answer['content']
    expect(textIn({ content: last, stop_reason: '' })).toContain('Changed.')
    expect(
      messages.filter((message) => JSON.stringify(message.content).includes('"signature":"')).length,
    ).toBeGreaterThan(3)
  })

  it.each([...variants.lazy, ...variants.wrong, ...variants.hostile])(
    '[W23] a summary spoiled as %s still arrives',
    async (variant) => {
      const mode = (['lazy', 'wrong', 'hostile'] as const).find((name) =>
        (variants[name] as readonly string[]).includes(variant),
      )
      const model = ruleModel({ mode, variant })
      const wanted = request([
        user('Mend it.'),
        { role: 'assistant', content: 'Done.' },
        user(String(summaries[0])),
      ])
      const direct = await model.answer({ request: wanted, headers: {}, turn: 1, now: 0 })
      const sent = await (await overHttp(model)).answer({ request: wanted, headers: {}, turn: 1, now: 0 })
      expect(textIn(sent)).toBe(textIn(direct))
      expect(sent.stop_reason).toBe(direct.stop_reason)
    },
  )
})
