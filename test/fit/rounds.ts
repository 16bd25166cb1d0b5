// Conversations of rounds, and what `fit` made of one.
import type { FitOutcome } from '../../src/fit/index.ts'
import { linesOf, type Call, type Step } from './lists.ts'

export const callOf = (id: string): Call => ({ id, name: 'read', input: { id } })

/** A prompt and rounds of one call each, with results of these sizes. */
export function roundsOf(sizes: readonly number[], prompt = 'Do the task.'): readonly Step[] {
  return [
    { kind: 'prompt', text: prompt },
    ...sizes.flatMap((chars, at): readonly Step[] => {
      const call = callOf(`c${at}`)
      return [
        { kind: 'answer', text: `Step ${at}.`, calls: [call] },
        { kind: 'result', call, text: linesOf(at, chars) },
      ]
    }),
  ]
}

export type Fitted<T = unknown> = Extract<FitOutcome<T>, { ok: true }>

export function fitted<T>(outcome: FitOutcome<T>): Fitted<T> {
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`)
  return outcome
}
