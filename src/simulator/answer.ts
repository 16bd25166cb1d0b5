// Who answers inside the simulator: the seam between the judge (rules, cache, stream) and what the model would say.
// An answerer sees only the wire request; it is deterministic and never touches the network. Ids, signatures,
// usage and the cutting at `max_tokens` are the simulator's work, so an answer carries none of them.
import type { WireBlock, WireRequest } from '../model/wire.ts'

export interface AnswerContext {
  readonly request: WireRequest
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** This is the nth accepted request, from 1. */
  readonly turn: number
  readonly now: number
}

export interface Answer {
  readonly content: readonly WireBlock[]
  readonly stop_reason: string
  /** What the usage reports; counted from the content where absent. */
  readonly output_tokens?: number
}

export interface Answerer {
  answer(context: AnswerContext): Answer | Promise<Answer>
}
