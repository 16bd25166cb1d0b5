// Telemetry of the conversation that runs: a sender in the background, and the store around which it listens.
import { randomUUID } from 'node:crypto'
import { tableOf } from '../../preset.ts'
import { createSender, observed } from '../../telemetry/index.ts'
import type { Store } from '../../transcript/store.ts'
import type { Workplace } from '../workplace/workplace.ts'
import { headersOf, isMemoryOf, resourceOf } from './setup.ts'

export interface LiveTelemetry {
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
  const sender = createSender({ endpoint, headers: headersOf(environment), resource, now, tell })
  const watched: { settled(): Promise<void> }[] = []
  return {
    observe: (store) => {
      const watching = observed(store, {
        port: sender.recorder,
        models: tableOf(settings),
        content: settings.telemetryContent === true,
        isMemory: isMemoryOf(place),
        now,
      })
      watched.push(watching)
      return watching.store
    },
    close: async () => {
      await Promise.all(watched.map((one) => one.settled()))
      await sender.close()
    },
  }
}
