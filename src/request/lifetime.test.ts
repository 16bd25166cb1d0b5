import { describe, expect, it } from 'vitest'
import { createLifetime } from './lifetime.ts'

describe('the cache lifetime', () => {
  it('[C5] is long for the allowed sources where the user is eligible or asked for it', () => {
    for (const [isEligible, optedIn, main] of [
      [false, false, '5m'],
      [true, false, '1h'],
      [false, true, '1h'],
    ] as const) {
      const lifetime = createLifetime({ isEligible: () => isEligible, optedIn: () => optedIn })
      expect(lifetime.of('main')).toBe(main)
      expect(lifetime.of('summary')).toBe(main)
      expect(lifetime.of('agent:search')).toBe(main)
      for (const source of ['notes', 'selection', 'progress', 'mainly'])
        expect(lifetime.of(source)).toBe('5m')
    }
  })

  it('[C5] is asked for at the first request and then stands', () => {
    let eligible = true
    let sources = ['main']
    const lifetime = createLifetime({
      isEligible: () => eligible,
      optedIn: () => false,
      sources: () => sources,
    })
    expect(lifetime.answers()).toBeNull()
    expect(lifetime.of('main')).toBe('1h')
    eligible = false
    sources = ['notes']
    expect(lifetime.of('main')).toBe('1h')
    expect(lifetime.of('notes')).toBe('5m')
    const resumed = createLifetime({
      isEligible: () => false,
      optedIn: () => false,
      latched: lifetime.answers()!,
    })
    expect(resumed.of('main')).toBe('1h')
  })
})
