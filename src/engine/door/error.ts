// How a failure leaves the engine by its front door.
import type { Failure, FailureCode } from '../../transcript/store.ts'

/** An expected failure at the embedder's door: `code` is stable, the message says what to do. */
export class EngineError extends Error {
  readonly code: FailureCode
  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'EngineError'
    this.code = failure.code
  }
}
