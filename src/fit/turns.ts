// Where a conversation stands: what of it was sent, and whether somebody is waiting for a call.
import { isAnswer, resultTexts, type ForeignRequest } from './layouts.ts'

/** A person has spoken last: no call is open. */
export function opensTurn(request: ForeignRequest): boolean {
  const last = request.units.findLast(({ role }) => role !== 'system' && role !== 'developer')
  if (last === undefined || last.role !== 'user') return false
  return request.units.every((unit) => unit.message !== last.message || resultTexts(request, unit) === null)
}

/** A model has answered everything before its last answer, so that was sent, by whomever; `known` says what was sent beyond it. */
export function firstUnsent({ units }: ForeignRequest, known: number): number {
  const answer = units.findLastIndex(({ role }) => isAnswer(role))
  return Math.max(answer + 1, known)
}
