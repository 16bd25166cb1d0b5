// What a session holds of a recall: kept apart from the work on it, so that the session's state can name it.
import type { Seq } from '../../transcript/ids.ts'
import type { RecallOutcome } from './recall-port.ts'

export interface Choice {
  readonly stop: AbortController
  outcome: RecallOutcome | null
}

/** Which message was asked for, and the choice under way or not yet written down. */
export interface Recalling {
  asked: Seq | null
  /** The quick look was had; the choice starts when the request is ready. */
  toChoose: boolean
  choice: Choice | null
}

export const notRecalling = (): Recalling => ({ asked: null, toChoose: false, choice: null })
