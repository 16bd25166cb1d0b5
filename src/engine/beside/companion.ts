// The Companion port: who brings a session messages from others. Asked before each request, never in the middle of one,
// so that what was sent stays what it was. It is told what was delivered only after that has been written down; what it
// brings twice is known by its id and written once.
import type { Failure } from '../../transcript/store.ts'

export interface Delivery {
  readonly id: string
  /** Who sent it, for logs; the words say it to the model. */
  readonly from: string
  readonly text: string
}

export interface Companion {
  /** Whether something waits. Looks only, and may be wrong for a moment. */
  hasWaiting(session: string): boolean
  /** The next messages in order; a failure is said and ends nothing. */
  waiting(
    session: string,
    isDelivered: (id: string) => boolean,
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly failures: readonly Failure[] }>
  /** These have been written down, or had been before. */
  delivered(session: string, ids: readonly string[]): Promise<Failure | null>
}
