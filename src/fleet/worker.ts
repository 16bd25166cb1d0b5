// A worker: claims wanted sessions, works on several at once, and gives each back. What it holds is renewed by the store; it stops
// acting on a session by its own steady clock before anybody else may take it.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Failure } from '../disk/failure.ts'
import { sessionId } from '../transcript/ids.ts'
import type { Claimed, Queue } from '../postgres/queue.ts'
import { leaseDefaults } from '../postgres/store.ts'
import { failureDefaults, workOn, type StepOutcome, type TurnPorts } from './turn.ts'
import type { TelemetryPort } from '../telemetry/index.ts'

export interface WorkerOptions extends TurnPorts {
  /** Sessions at once. */
  readonly sessions?: number | undefined
  readonly leaseMs?: number | undefined
  readonly pollMs?: number | undefined
  /** When it is to stop, turns under way have so long to end by themselves. */
  readonly graceMs?: number | undefined
  /** Hears what it does. */
  readonly tell?: ((event: WorkerEvent) => void) | undefined
  readonly random?: (() => number) | undefined
}

export type WorkerEvent =
  | {
      readonly type: 'claimed'
      readonly session: string
      readonly isTakeover: boolean
      readonly waitedMs: number
      readonly tries: number
    }
  | { readonly type: 'ended'; readonly session: string; readonly outcome: StepOutcome; readonly ms: number }
  | { readonly type: 'parked'; readonly session: string; readonly why: string }
  | { readonly type: 'fenced-itself'; readonly session: string }
  | { readonly type: 'problem'; readonly failure: Failure }

const workerDefaults = {
  sessions: 8,
  pollMs: 250,
  graceMs: 20_000,
  /** The part of a lease that must be left for anything to begin. */
  fenceShare: 0.4,
  fenceCheckMs: 250,
  /** While the database fails, this is waited between two claims. */
  problemMs: 2_000,
}

/** Works until the signal says to stop; then turns under way end, or are stopped, and every session is released. */
export async function runWorker(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const {
    sessions: most = workerDefaults.sessions,
    pollMs = workerDefaults.pollMs,
    random = Math.random,
  } = options
  const underWay = new Set<Promise<void>>()
  const hurry = new AbortController()
  while (!signal.aborted) {
    const room = most - underWay.size
    const claimed = room > 0 ? await claim(options, room) : []
    for (const one of claimed ?? []) {
      const work = carryOut(one, options, hurry.signal, signal).finally(() => underWay.delete(work))
      underWay.add(work)
    }
    if (claimed !== null && claimed.length === room && room > 0) continue
    const wait = claimed === null ? workerDefaults.problemMs : pollMs * (0.75 + random() / 2)
    await Promise.race([pause(wait, signal), ...(room === 0 ? underWay : [])])
  }
  const grace = setTimeout(() => hurry.abort(), options.graceMs ?? workerDefaults.graceMs)
  await Promise.all(underWay)
  clearTimeout(grace)
}

/** Null where the database could not be asked. */
async function claim(options: WorkerOptions, room: number): Promise<readonly Claimed[] | null> {
  const { queue, store, leaseMs = leaseDefaults.leaseMs, tell } = options
  const askedAt = performance.now()
  const found = await queue.claim({ host: hostname(), pid: process.pid }, leaseMs, randomUUID(), room)
  if (!found.ok) {
    tell?.({ type: 'problem', failure: found.failure })
    return null
  }
  for (const { session, epoch, token, next, isTakeover, waitedMs, tries } of found.claimed) {
    store.adopt({ session: sessionId(session), epoch, token }, next, askedAt)
    tell?.({ type: 'claimed', session, isTakeover, waitedMs, tries })
  }
  return found.claimed
}

async function carryOut(
  claimed: Claimed,
  options: WorkerOptions,
  hurry: AbortSignal,
  stopping: AbortSignal,
): Promise<void> {
  const {
    queue,
    store,
    tell,
    leaseMs = leaseDefaults.leaseMs,
    mostTries = failureDefaults.mostTries,
  } = options
  const lease = { session: sessionId(claimed.session), epoch: claimed.epoch, token: claimed.token }
  if (claimed.tries > mostTries) {
    const why = `failed ${claimed.tries - 1} times: ${claimed.failure ?? 'its worker ended each time without a word'}`
    await queue.park(claimed.session, why)
    await store.release(lease)
    return tell?.({ type: 'parked', session: claimed.session, why })
  }
  const began = performance.now()
  const fence = new AbortController()
  const watch = setInterval(() => {
    const until = store.leasedUntil(lease)
    if (until !== null && until - performance.now() > leaseMs * workerDefaults.fenceShare) return
    clearInterval(watch)
    // A lease that is not held any more was given back, or the next append says who has it.
    if (until !== null) tell?.({ type: 'fenced-itself', session: claimed.session })
    fence.abort()
  }, workerDefaults.fenceCheckMs)
  const signal = AbortSignal.any([hurry, fence.signal])
  const isStopping = (): boolean => stopping.aborted
  const outcome = await workOn(claimed, { ...options, isStopping }, signal)
  clearInterval(watch)
  tell?.({ type: 'ended', session: claimed.session, outcome, ms: performance.now() - began })
  if (outcome.kind === 'parked') tell?.({ type: 'parked', session: claimed.session, why: outcome.why })
}

/** Until the time is over or the signal says to stop. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined)

// What it tells beside its sessions: how long inputs waited, what it took over, what is set aside. No session stands on a metric.

const milli = 1000
const lookMs = 30_000

/** Hears what a worker does and counts it. */
export const workerMetrics =
  (port: TelemetryPort, now: () => number) =>
  (event: WorkerEvent): void => {
    if (event.type !== 'claimed') return
    if (event.isTakeover) port.count('palimpsest.lease.takeovers', 1, {}, now())
    else port.record('palimpsest.store.queue.wait', Math.max(0, event.waitedMs) / milli, {}, now())
  }

/** Looks at what waits and what is parked now and then, until it is stopped. */
export function queueMetrics(
  queue: Queue,
  port: TelemetryPort,
  now: () => number,
): { stop(): Promise<void> } {
  const look = async (): Promise<void> => {
    const found = await queue.waiting()
    if (!found.ok) return
    port.count('palimpsest.inbox.age', found.oldestMs / milli, {}, now())
    port.count('palimpsest.sessions.parked', found.parked, {}, now())
  }
  const timer = setInterval(() => void look(), lookMs)
  timer.unref()
  void look()
  return {
    async stop() {
      clearInterval(timer)
      await look()
    },
  }
}
