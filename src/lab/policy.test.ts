import { describe, expect, it } from 'vitest'
import { defaults } from '../settings/defaults.ts'
import { dial, policies, policyNamed, texts } from './policies/list.ts'
import { policyFrom } from './policy.ts'

describe('policies', () => {
  it('[J9] have names of their own, and each is found by its name', () => {
    expect(new Set(policies.map(({ name }) => name)).size).toBe(policies.length)
    for (const policy of [...policies, ...texts]) expect(policyNamed(policy.name)).toBe(policy)
    expect(policyNamed('nonesuch')).toBeUndefined()
  })

  it('[DI5] of the dial stand at every measured place, and the default is one of them', () => {
    expect(dial.map(({ standard }) => standard?.thrift)).toEqual(defaults.dial.points.map(({ at }) => at))
    expect(dial.length).toBeGreaterThanOrEqual(6)
    for (const policy of dial) expect(policyNamed(policy.name)).toBe(policy)
    expect(dial.some(({ standard }) => standard?.thrift === defaults.dial.thrift)).toBe(true)
    expect(policyNamed('standard')?.standard).toEqual({})
  })

  it('[J9] come from a file with what it says and defaults for the rest', () => {
    const read = policyFrom(
      'mine.json',
      '{"name":"mine","spill":true,"standard":{"keep":2,"pressureClearing":true},"trim":{"atTokens":90000}}',
    )
    expect(read).toMatchObject({
      ok: true,
      policy: {
        name: 'mine',
        spill: true,
        // `keep` is the name that earlier files use.
        standard: { keepResults: 2, pressureClearing: true },
        trim: { atTokens: 90_000, text: 'extract', userWords: 'keep' },
        summaries: 'none',
        ignoresWindow: false,
      },
    })
  })

  it.each([
    ['{', 'JSON'],
    ['{"name":"x","kep":1}', 'kep'],
    ['{"name":"x","standard":{"keepResults":-1}}', 'standard.keepResults'],
    ['{"name":"x","trim":{"keepShare":2}}', 'trim.keepShare'],
    ['[]', 'is not a policy'],
  ])('[J9] that cannot be followed are refused with the reason: %s', (text, why) => {
    const read = policyFrom('mine.json', text)
    expect(read.ok).toBe(false)
    if (!read.ok) expect(read.failure.message).toContain(why)
    if (!read.ok) expect(read.failure.message).toContain('mine.json')
  })
})
