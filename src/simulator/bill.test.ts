import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { servers } from '../../test/simulated-server.ts'
import { messageBill } from './bill.ts'
import { dialectModels, scripted } from './index.ts'
import { accountOf } from './dialects/front.ts'

const serve = servers()
const usage = (input: number, read: number, short: number, hour: number, output: number) => ({
  input_tokens: input,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: short + hour,
  cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: hour },
  output_tokens: output,
})

describe('the bill', () => {
  it('[V78] a request of the Messages API has one in the log', async () => {
    const { url, last } = await serve(scripted(['ok']))
    const client = new Anthropic({ apiKey: 'k', baseURL: url, maxRetries: 0 })
    const { usage: used } = await client.messages.create({
      model: 'claude-opus-5',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'hello' }],
    })
    expect(last().bill?.dollars).toBeCloseTo((used.input_tokens * 5 + used.output_tokens * 25) / 1e6, 12)
  })

  it('[V78] reads, both kinds of writes and the size of the prompt have their own price', () => {
    expect(messageBill('claude-sonnet-5', usage(100, 1000, 200, 300, 10)).dollars).toBeCloseTo(
      (100 * 2 + 1000 * 0.2 + 200 * 2.5 + 300 * 4 + 10 * 10) / 1e6,
      12,
    )
    expect(messageBill('claude-haiku-5-5', usage(0, 100_000, 0, 0, 0)).dollars).toBeCloseTo(0.001, 12)
    expect(messageBill('claude-haiku-5-5', usage(1, 100_000, 0, 0, 0)).dollars).toBeCloseTo(
      (0.5 + 5000) / 1e6,
      12,
    )
    expect(messageBill('claude-fable-5-2', usage(1, 0, 0, 0, 1))).toMatchObject({
      dollars: null,
      promptTokens: 1,
    })
    const sol = dialectModels.find((each) => each.id === 'gpt-6.1-sol')
    const pro = dialectModels.find((each) => each.id === 'gemini-3.1-pro')
    if (sol === undefined || pro === undefined) throw new Error('no model')
    const reading = (total: number, cached: number, written: number) => ({
      totalTokens: total,
      cachedTokens: cached,
      writtenTokens: written,
      writtenLongTokens: 0,
      steps: [],
      commit: () => undefined,
    })
    expect(accountOf(reading(10_000, 4000, 5000), 100, sol).bill.dollars).toBeCloseTo(
      (1000 * 2 + 4000 * 0.1 + 5000 * 2.5 + 100 * 10) / 1e6,
      12,
    )
    expect(accountOf(reading(300_000, 0, 0), 100, sol).bill.dollars).toBeCloseTo(
      (300_000 * 4 + 100 * 15) / 1e6,
      12,
    )
    expect(accountOf(reading(200_001, 200_000, 0), 0, pro).bill.dollars).toBeCloseTo(
      (4 + 200_000 * 0.4) / 1e6,
      12,
    )
  })
})
