// Owns the scripted answerer: a list of answers, given out one per accepted request. Law: nothing but the position
// decides which step is next, so a client that repeats a request consumes a step.
import type { WireBlock, WireRequest } from '../../model/wire.ts'
import type { Answer, AnswerContext, Answerer } from '../answer.ts'
import { answerOf, text } from './blocks.ts'

/** A text, blocks (see blocks.ts for the makers), or a finished answer. */
export type ScriptAnswer = string | readonly WireBlock[] | Answer
export type ScriptStep = ScriptAnswer | ((request: WireRequest, context: AnswerContext) => ScriptAnswer)

export interface ScriptedAnswerer extends Answerer {
  /** Steps given out so far. */
  readonly position: number
}

/** Answers with a list of steps, one after the other. */
export function scripted(steps: readonly ScriptStep[]): ScriptedAnswerer {
  let position = 0
  return {
    get position() {
      return position
    },
    answer(context) {
      const step = steps[position]
      if (step === undefined) return answerOf([text(ranOut(position + 1, steps.length))], '')
      position += 1
      return toAnswer(typeof step === 'function' ? step(context.request, context) : step, position)
    },
  }
}

const ranOut = (asked: number, steps: number): string =>
  `[script ended] request ${asked} has no answer: the script holds ${steps} step${steps === 1 ? '' : 's'}.`

function toAnswer(step: ScriptAnswer, position: number): Answer {
  const seed = `script:${position}`
  if (typeof step === 'string') return answerOf([text(step)], seed)
  if ('stop_reason' in step) return { ...step, content: answerOf(step.content, seed).content }
  return answerOf(step, seed)
}
