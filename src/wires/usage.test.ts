import { describe, expect, it } from 'vitest'
import { promptTokens } from '../model/usage.ts'
import { mergeUsage, usageOf } from './usage.ts'

describe('usage', () => {
  it('[D10] the four parts are kept apart and the one-hour writes are split off', () => {
    const usage = usageOf({
      input_tokens: 21,
      cache_creation_input_tokens: 188,
      cache_read_input_tokens: 20_480,
      cache_creation: { ephemeral_5m_input_tokens: 88, ephemeral_1h_input_tokens: 100 },
      output_tokens: 42,
    })
    expect(usage).toEqual({ input: 21, cacheRead: 20_480, cacheWrite: 188, cacheWrite1h: 100, output: 42 })
    expect(promptTokens(usage)).toBe(20_689)
  })

  it('[D10] a report without cache fields, or with nulls, counts them as zero', () => {
    const report = {
      input_tokens: 5,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      output_tokens: 1,
    }
    expect(usageOf(report)).toEqual({ input: 5, cacheRead: 0, cacheWrite: 0, output: 1 })
    expect(usageOf({})).toEqual({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0 })
  })

  it('[D10] the split alone is enough to know what was written', () => {
    const split = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 }
    expect(usageOf({ cache_creation: split })).toMatchObject({ cacheWrite: 7, cacheWrite1h: 4 })
  })

  it('[D10] later reports replace what they name, and null names nothing', () => {
    const first = {
      input_tokens: 21,
      cache_read_input_tokens: 900,
      cache_creation_input_tokens: 7,
      output_tokens: 1,
    }
    const merged = mergeUsage(first, { input_tokens: null, cache_read_input_tokens: null, output_tokens: 89 })
    expect(usageOf(merged)).toEqual({ input: 21, cacheRead: 900, cacheWrite: 7, output: 89 })
    expect(usageOf(mergeUsage(merged, { output_tokens: 90, input_tokens: 0 }))).toMatchObject({
      input: 0,
      output: 90,
    })
  })
})
