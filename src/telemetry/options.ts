// What a reader of facts is given.
import type { ModelTable } from '../model/models.ts'
import type { TelemetryPort } from './port.ts'

export interface ReaderOptions {
  readonly port: TelemetryPort
  readonly models: ModelTable
  /** Texts go along; left out, none does. */
  readonly content?: boolean | undefined
  /** Whether a path is that of a memory: a call that writes there is one of its operations. */
  readonly isMemory?: ((path: string) => boolean) | undefined
}
