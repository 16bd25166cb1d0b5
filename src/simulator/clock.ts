// Time in the hands of a test: it stands still until it is moved.
import type { Clock } from './exchange.ts'

export interface ManualClock extends Clock {
  advance(ms: number): void
}

/** A clock that moves when told. */
export function createManualClock(startMs = 0): ManualClock {
  let now = startMs
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
  }
}
