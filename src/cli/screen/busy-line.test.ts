import { visibleWidth } from '@earendil-works/pi-tui'
import { describe, expect, it } from 'vitest'
import { busyLine } from './busy-line.ts'

describe('the line of what runs', () => {
  it('[TE27] [TE35] says for how long, and stays on one line', () => {
    const since = performance.now() - 65_000
    expect(busyLine('Bash npm test', since, 80)).toBe('Bash npm test (1m 05s · esc to interrupt)')
    expect(visibleWidth(busyLine('x'.repeat(500), since, 60))).toBeLessThanOrEqual(60)
  })
})
