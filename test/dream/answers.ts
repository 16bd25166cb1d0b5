// Models that serve jobs on memories in ways of a test's own; everything else follows rules.
import type { WireBlock } from '../../src/model/wire.ts'
import {
  jobOf,
  ruleModel,
  text,
  type AnswerContext,
  type Answerer,
  type Job,
} from '../../src/simulator/index.ts'

const rule = ruleModel()

/** Answers requests of one job with these, one after the other, then with a word. */
export function serving(
  job: Job,
  answers: () => readonly (readonly WireBlock[])[],
  others: Answerer = rule,
): Answerer {
  let served = 0
  return {
    answer: (context) => {
      if (jobOf(context.request) !== job) return others.answer(context)
      const content = answers()[served++] ?? [text('Done.')]
      const calls = content.some(({ type }) => type === 'tool_use')
      return { content, stop_reason: calls ? 'tool_use' : 'end_turn' }
    },
  }
}

/** Answers an ordinary message that holds these words with calls, once. */
export function calling(words: string, calls: () => readonly WireBlock[], others: Answerer = rule): Answerer {
  let isDone = false
  return {
    answer: (context) => {
      const last = JSON.stringify(context.request.messages.at(-1))
      if (isDone || jobOf(context.request) !== null || !last.includes(words)) return others.answer(context)
      isDone = true
      return { content: calls(), stop_reason: 'tool_use' }
    },
  }
}

/** Waits before it serves a job. */
export function waiting(
  job: Job,
  until: (context: AnswerContext) => Promise<void>,
  others: Answerer = rule,
): Answerer {
  return {
    answer: async (context) => {
      if (jobOf(context.request) === job) await until(context)
      return others.answer(context)
    },
  }
}
