// A clock that stands still until told and ids that count, so that a test gives the same bytes every time.
import { sessionId, uuid, type Clock, type Ids, type SessionId } from '../transcript/ids.ts'

export interface FixedClock extends Clock {
  advance(ms: number): void
}

export function fixedClock(start: number = Date.UTC(2026, 0, 1)): FixedClock {
  let now = start
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
  }
}

/** Ids `00000000-0000-7000-8000-000000000001`, `…2` and so on; `space` keeps two sources of one test apart. */
export function countingIds(space = 0): Ids {
  let count = 0
  return {
    uuid: () => uuid(`${hex(space, 8)}-0000-7000-8000-${hex(++count, 12)}`),
  }
}

export const fixedSession = (count = 1): SessionId => sessionId(`00000000-0000-7000-9000-${hex(count, 12)}`)

const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0')
