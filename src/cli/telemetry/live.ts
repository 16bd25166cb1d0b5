// Telemetry of the conversation that runs: a sender in the background, and the store around which it listens.
import { randomUUID } from 'node:crypto'
import { tableOf } from '../../preset.ts'
import { createSender, observed, type Observed, type TelemetryPort } from '../../telemetry/index.ts'
import type { Store } from '../../transcript/store.ts'
import type { Workplace } from '../workplace/workplace.ts'
import { headersOf, isMemoryOf, resourceOf, timeoutOf } from './setup.ts'

export interface LiveTelemetry {
  /** For what is told beside sessions. */
  readonly port: TelemetryPort
  /** One for each store, however often it is asked. */
  readonly observe: (store: Store) => Store
  close(): Promise<void>
}

export function liveTelemetry(
  place: Workplace,
  endpoint: string,
  tell: (message: string) => void,
): LiveTelemetry {
  const { io, settings } = place
  const { environment } = io
  const now = (): number => Date.now()
  const resource = resourceOf(environment, randomUUID())
  const timeoutMs = timeoutOf(environment)
  const sender = createSender({
    endpoint,
    headers: headersOf(environment),
    resource,
    now,
    tell,
    requestMs: timeoutMs,
    closeMs: timeoutMs,
  })
  const watched = new Map<Store, Observed>()
  return {
    port: sender.recorder,
    observe: (store) => {
      const known = watched.get(store)
      if (known !== undefined) return known.store
      const watching = observed(store, {
        port: sender.recorder,
        models: tableOf(settings),
        content: settings.telemetryContent === true,
        isMemory: isMemoryOf(place),
        now,
      })
      watched.set(store, watching)
      return watching.store
    },
    close: async () => {
      await Promise.all([...watched.values()].map((one) => one.settled()))
      await sender.close()
    },
  }
}
