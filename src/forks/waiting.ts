// Waiting with an end: for a time, for a signal, or for work that may take too long. Timers and listeners go when it is over.

import { setTimeout as setTimer } from 'node:timers/promises'

/** Waits so long, or until the signal fires. Infinity: for the signal alone. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimer(Math.min(ms, mostMs), undefined, { signal }).catch(() => undefined)
/** A timer takes no longer time: weeks, which nobody waits. */
const mostMs = 2 ** 31 - 1

/** Whether work ended within a time, and before the signal fired. */
export async function endedWithin(
  work: Promise<unknown>,
  ms: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const over = new AbortController()
  const enough = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])
  try {
    return await Promise.race([work.then(() => true), pause(ms, enough).then(() => false)])
  } finally {
    over.abort()
  }
}
