import { visibleWidth } from '@earendil-works/pi-tui'
import { describe, expect, it } from 'vitest'
import { busyLine, statusLine, type Status } from './status.ts'
import { themeOf } from './theme.ts'

const status: Status = {
  model: 'claude-sonnet-5',
  mode: 'acceptEdits',
  tokens: 5000,
  window: 1_000_000,
  sent: 10_000,
  read: 9000,
  dollars: 0.0123,
  scripted: false,
  queued: 1,
  background: 0,
}

describe('the status line', () => {
  it('[TE35] keeps mode and queue where there is no room for cache and price', () => {
    const at = (width: number): string => statusLine(status, themeOf(false), width)
    expect(at(100)).toBe('claude-sonnet-5 · 5.0K of 1M (1%) · cache 90% · $0.012 · acceptEdits · 1 queued')
    expect(at(60)).toBe('claude-sonnet-5 · 5.0K of 1M (1%) · acceptEdits · 1 queued')
    expect(at(40)).toBe('claude-sonnet-5 · 5.0K of 1M (1%)')
  })
})

describe('the line of what runs', () => {
  it('[TE27] [TE35] says for how long, and stays on one line', () => {
    const since = performance.now() - 65_000
    expect(busyLine('Bash npm test', since, 80)).toBe('Bash npm test (1m 05s · esc to interrupt)')
    expect(visibleWidth(busyLine('x'.repeat(500), since, 60))).toBeLessThanOrEqual(60)
  })
})
