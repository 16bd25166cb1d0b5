// One request of a recorded session as it was billed.
import type { Usage } from '../../transcript/fact.ts'

export interface BilledRequest {
  readonly program: string
  readonly session: string
  /** Requests that follow each other on one cache: those of one file, its agents apart. */
  readonly chain: string
  /** The folder it worked in, or null where the file does not say. */
  readonly project: string | null
  readonly model: string
  readonly at: number | null
  /** Of an agent that the session started. */
  readonly isAgent: boolean
  /** The input side as the provider counted it; its output is in `output`. */
  readonly usage: Usage
  /** Null where the file has the count of the moment the answer began. */
  readonly output: number | null
  /** The same in every file that holds a copy of it; null where nothing tells copies apart. */
  readonly id: string | null
}
