// The limits of one run: requests and time are counted here, tokens and money before each request by the engine. Whoever
// passes one is stopped, keeps what it has said, and the reason stands in its report.
import type { Emit } from '../../engine/live.ts'
import type { AgentLimits } from './types.ts'

export interface Watch {
  readonly signal: AbortSignal
  /** To be called with every live event of the run. */
  readonly see: Emit
  rounds(): number
  /** Why it was stopped, or null. */
  why(): string | null
  stop(why: string): void
  close(): void
}

export function watchRun(limits: Pick<AgentLimits, 'rounds' | 'ms'>, outer: AbortSignal): Watch {
  const abort = new AbortController()
  let why: string | null = null
  let rounds = 0
  const stop = (reason: string): void => {
    why ??= reason
    abort.abort()
  }
  const onOuter = (): void => stop('it was interrupted')
  if (outer.aborted) onOuter()
  else outer.addEventListener('abort', onOuter, { once: true })
  const seconds = Math.round(limits.ms / 1000)
  const timer = setTimeout(
    () => stop(`it reached its limit of ${seconds} seconds`),
    Math.min(limits.ms, longestTimer),
  )
  timer.unref()
  return {
    signal: abort.signal,
    see: (event) => {
      // Seen before anything is sent, so the one too many costs nothing.
      if (event.type === 'request-start' && event.source !== 'progress' && ++rounds > limits.rounds)
        stop(`it reached its limit of ${limits.rounds} requests`)
    },
    rounds: () => rounds,
    why: () => why,
    stop,
    close: () => {
      clearTimeout(timer)
      outer.removeEventListener('abort', onOuter)
    },
  }
}

/** A timer set for longer fires at once. */
const longestTimer = 2 ** 31 - 1
