import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../transcript/fact.ts'
import { Notifier } from './notification.ts'

function played(
  settings: ConstructorParameters<typeof Notifier>[0],
  ms: number,
  outcome: Outcome = 'done',
): string {
  let [written, now] = ['', 0]
  const notifier = new Notifier(
    settings,
    (text) => (written += text),
    () => now,
  )
  const end = { type: 'turn-end', outcome, failure: null } as const
  const start = { type: 'request-start', source: 'main', model: 'm', tokens: 1 } as const
  notifier.hear(end)
  notifier.hear(start)
  now += ms
  notifier.hear(start)
  notifier.ask()
  notifier.hear(end)
  notifier.hear(end)
  return written
}

describe('a notification', () => {
  it('[TE33] comes when a turn took long, once where it waits and once where it ends', () => {
    expect(played({}, 19_999)).toBe('')
    expect(played({}, 20_000)).toBe('\u0007\u0007')
    expect(played({ notifyAfter: 60 }, 59_000)).toBe('')
    // Who interrupted is there.
    expect(played({}, 20_000, 'aborted')).toBe('\u0007')
    expect(played({ notify: 'off' }, 3_600_000)).toBe('')
    expect(played({ notify: 'desktop', notifyAfter: 0 }, 65_000)).toBe(
      '\u001B]9;pal: approval needed after 1m 05s\u0007\u001B]9;pal: turn finished after 1m 05s\u0007',
    )
  })
})
