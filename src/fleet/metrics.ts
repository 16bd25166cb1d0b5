// What a worker tells beside its sessions: how long inputs waited, what it took over, what is set aside. No session stands on a metric.
import type { Queue } from '../postgres/queue.ts'
import type { TelemetryPort } from '../telemetry/index.ts'
import type { WorkerEvent } from './worker.ts'

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
