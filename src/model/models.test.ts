import { describe, expect, it } from 'vitest'
import { learnedWindow, lookUp, modelTable, price, windowOf, wireModelId } from './models.ts'
import { knownModels } from './model-table.ts'

const table = modelTable()
const row = (id: string) => {
  const info = lookUp(table, id)
  if (info === null) throw new Error(`no row for ${id}`)
  return info
}

describe('looking up a model', () => {
  it.each([
    ['claude-opus-4-6', 'claude-opus-4-6'],
    ['claude-opus-4-6[1m]', 'claude-opus-4-6'],
    ['claude-opus-4-5-20251101', 'claude-opus-4-5'],
    ['claude-opus-4-20250514', 'claude-opus-4'],
    ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
    ['anthropic/claude-opus-4.6', 'claude-opus-4-6'],
    ['openrouter/anthropic/claude-sonnet-5:beta', 'claude-sonnet-5'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['anthropic.claude-haiku-4-5-20251001-v1:0', 'claude-haiku-4-5'],
    ['global.anthropic.claude-opus-5-5-v1', 'claude-opus-5-5'],
    ['CLAUDE-FABLE-5-LATEST', 'claude-fable-5'],
    ['gpt-4o-2024-08-06', 'gpt-4o'],
    ['openai/gpt-5.6-sol', 'gpt-5.6-sol'],
    ['models/gemini-2.5-pro-preview-05-06', 'gemini-2.5-pro'],
  ])('[D4] %s is found as %s', (id, expected) => {
    expect(lookUp(table, id)?.id).toBe(expected)
  })

  it.each([
    'claude-opus-4-9',
    'claude-opus-5-50',
    'gpt-4o-mini',
    'gpt-5.5-pro',
    'claude',
    '',
    'claude-opus',
    'llama-4',
  ])('[D4] %s is no model we know, however alike', (id) => expect(lookUp(table, id)).toBeNull())

  it('[D4] the window suffix does not go on the wire', () => {
    expect(wireModelId('claude-opus-4-6[1m]')).toBe('claude-opus-4-6')
    expect(wireModelId('anthropic/claude-opus-4-6')).toBe('anthropic/claude-opus-4-6')
  })

  it('[D5] a user can add a row, and change a row of ours in part', () => {
    const mine = modelTable([
      { id: 'local/My-Model', window: 32_000 },
      { id: 'claude-opus-4-6', window: 500_000, capabilities: { cacheEdits: true } },
    ])
    expect(lookUp(mine, 'my-model')).toMatchObject({
      window: 32_000,
      prices: null,
      capabilities: { bindsPrefix: false },
    })
    expect(lookUp(mine, 'my-model')?.unverified).not.toContain('window')
    const changed = lookUp(mine, 'claude-opus-4-6-20260101')
    expect(changed).toMatchObject({
      window: 500_000,
      maxOutput: 128_000,
      capabilities: { cacheEdits: true, thinking: ['adaptive', 'enabled', 'disabled'] },
    })
    expect(row('claude-opus-4-6')).toMatchObject({ window: 1_000_000, capabilities: { cacheEdits: false } })
  })

  it('[D4] ids are plain and unique, and every row is found by its own id', () => {
    expect(new Set(knownModels.map((info) => info.id)).size).toBe(knownModels.length)
    for (const info of knownModels) expect(lookUp(table, info.id)).toBe(info)
  })

  it('[D4] writes and reads of Claude cost what the price list derives from the input', () => {
    const cheapReads: Record<string, number> = {
      'claude-fable-5-1': 0.025,
      'claude-mythos-5-1': 0.025,
      'claude-opus-5-5': 0.05,
      'claude-sonnet-5-5': 0.05,
    }
    for (const { id, provider, prices } of knownModels) {
      if (provider !== 'anthropic' || prices === null) continue
      for (const rates of [prices, prices.tier?.rates ?? prices]) {
        expect(rates.write5m, id).toBeCloseTo(rates.input * 1.25)
        expect(rates.write1h, id).toBeCloseTo(rates.input * 2)
        expect(rates.read, id).toBeCloseTo(rates.input * (cheapReads[id] ?? 0.1))
      }
    }
  })

  it('[D4] capabilities follow the generation', () => {
    const binding = knownModels.filter((info) => info.capabilities.bindsPrefix).map((info) => info.id)
    expect(binding.sort()).toEqual([
      'claude-fable-5-1',
      'claude-fable-5-2',
      'claude-haiku-5-5',
      'claude-opus-5-5',
      'claude-sonnet-5-5',
    ])
    expect(row('claude-opus-4-5').capabilities).toMatchObject({ prefill: true, keepsOldThinking: true })
    expect(row('claude-sonnet-4-5').capabilities).toMatchObject({ prefill: true, keepsOldThinking: false })
    expect(row('claude-opus-4-7').capabilities).toMatchObject({
      prefill: false,
      defaultThinking: 'off',
      midConversationSystem: false,
    })
    expect(row('claude-opus-4-8').capabilities).toMatchObject({ midConversationSystem: true })
    expect(row('claude-sonnet-5').capabilities).toMatchObject({
      midConversationSystem: false,
      defaultThinking: 'on',
      forcedTools: true,
    })
    expect(row('claude-sonnet-5-5').capabilities.thinking).toEqual(['adaptive', 'between_tools'])
    expect(row('claude-mythos-5-1').capabilities).toMatchObject({
      bindsPrefix: false,
      forcedTools: true,
      defaultThinking: 'always',
    })
  })

  it('[D4] what nobody has confirmed is marked, and has no price', () => {
    expect(row('claude-fable-5-2')).toMatchObject({
      prices: null,
      unverified: ['window', 'prices', 'minCacheTokens'],
    })
    expect(price(row('claude-fable-5-2'), { input: 1, cacheRead: 0, cacheWrite: 0, output: 1 })).toBeNull()
  })
})

describe('the window', () => {
  const clues = { model: 'nobody-knows', table, override: 1, learned: 4 }

  it('[D6] is the first that answers, and says who did', () => {
    const known = { ...clues, model: 'claude-opus-4-5[1m]' }
    expect(windowOf(known)).toEqual({ tokens: 1, from: 'override' })
    expect(windowOf({ ...known, override: undefined })).toEqual({ tokens: 1_000_000, from: 'suffix' })
    expect(windowOf({ ...clues, model: 'claude-opus-4-5', override: undefined })).toEqual({
      tokens: 200_000,
      from: 'table',
    })
    expect(windowOf({ ...clues, override: undefined })).toEqual({ tokens: 4, from: 'learned' })
    expect(windowOf({ model: 'nobody-knows', table })).toEqual({ tokens: 200_000, from: 'unknown' })
  })

  it('[D6] what is no positive number is no answer', () => {
    for (const override of [0, -5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(windowOf({ model: 'claude-opus-4-5', table, override })).toEqual({
        tokens: 200_000,
        from: 'table',
      })
    }
  })

  it('[D6] an overflow teaches the window unless its limit is on bytes or on a minute', () => {
    const overflow = {
      provider: 'x',
      promptTokens: 9,
      outputTokens: null,
      limitTokens: 8192,
      perMinute: false,
      bytes: false,
    }
    expect(learnedWindow(overflow)).toBe(8192)
    expect(learnedWindow({ ...overflow, perMinute: true })).toBeNull()
    expect(learnedWindow({ ...overflow, bytes: true })).toBeNull()
    expect(learnedWindow({ ...overflow, limitTokens: null })).toBeNull()
  })
})

describe('the price', () => {
  it('[D7] fresh, read, written and output tokens are priced each at its rate', () => {
    // Opus 4.6: 5, 25, write 6.25, read 0.50 a million.
    const paid = price(row('claude-opus-4-6'), {
      input: 2000,
      cacheRead: 150_000,
      cacheWrite: 8000,
      output: 1000,
    })
    expect(paid).toEqual({ fresh: 0.01, read: 0.075, write: 0.05, output: 0.025, total: 0.16 })
  })

  it('[D7] the part written for an hour costs twice the input', () => {
    // Sonnet 4.6: 1,000 at 3.75 and 3,000 at 6 a million.
    const paid = price(row('claude-sonnet-4-6'), {
      input: 0,
      cacheRead: 0,
      cacheWrite: 4000,
      cacheWrite1h: 3000,
      output: 0,
    })
    expect(paid?.write).toBeCloseTo(0.021_75, 10)
    expect(paid?.total).toBeCloseTo(0.021_75, 10)
  })

  it('[D7] above a tier the whole request costs more, at the tier it does not', () => {
    const haiku = row('claude-haiku-5-5')
    const at = { input: 50_000, cacheRead: 40_000, cacheWrite: 10_000, output: 1000 }
    // 0.005 + 0.0004 + 0.00125 + 0.0005
    expect(price(haiku, at)?.total).toBeCloseTo(0.007_15, 10)
    // 50,001 × 0.5 + 40,000 × 0.05 + 10,000 × 0.625 + 1,000 × 2.5, a million
    expect(price(haiku, { ...at, input: 50_001 })?.total).toBeCloseTo(0.035_750_5, 10)
    expect(price(haiku, at, { promptTokens: 100_001 })?.total).toBeCloseTo(0.035_75, 10)
  })

  it('[D7] cheap reads are priced as such', () => {
    const read = { input: 0, cacheRead: 1_000_000, cacheWrite: 0, output: 0 }
    expect(price(row('claude-fable-5-1'), read)?.total).toBe(0.25)
    expect(price(row('claude-fable-5'), read)?.total).toBe(1)
    expect(price(row('claude-opus-5-5'), read)?.total).toBe(0.2)
    expect(price(row('claude-sonnet-5-5'), read)?.total).toBe(0.1)
  })

  it('[D7] a long prompt of another provider changes the rates of the whole request', () => {
    const usage = { input: 100_000, cacheRead: 200_000, cacheWrite: 0, output: 10_000 }
    // GPT-5.5 above 272K: 10 and 45 a million, reads 1.
    expect(price(row('gpt-5.5'), usage)?.total).toBeCloseTo(1 + 0.2 + 0.45, 10)
    expect(price(row('gpt-5.5'), { ...usage, cacheRead: 172_000 })?.total).toBeCloseTo(0.5 + 0.086 + 0.3, 10)
  })
})
