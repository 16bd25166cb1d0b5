// Why an answer says less than was asked for, in a sentence for the person: without it a turn would end in silence.
import type { ModelMessage } from '../../model/model.ts'
import { promptTokens } from '../../model/usage.ts'
import { endOf } from '../../transcript/stop.ts'
import type { Emit } from '../live.ts'

/** Said where the turn ends with this answer. One that calls tools goes on, and what was cut in a call is said in its result. */
export function sayUnfinished(message: ModelMessage, emit: Emit): void {
  const sentence = unfinishedSentence(message)
  if (sentence !== null) emit({ type: 'notice', code: 'unfinished-answer', message: sentence })
}

function unfinishedSentence(message: ModelMessage): string | null {
  const { content, stop, usage } = message
  if (content.some(({ type }) => type === 'tool_use')) return null
  const word = stop === null ? '' : ` (${stop})`
  const isSilent = !content.some((block) => block.type === 'text' && block.text.trim() !== '')
  switch (endOf(message)) {
    case 'refusal':
      return `the model or its provider refused to answer${word}; say it in other words, or ask another model`
    case 'filter':
      return `the filter of the provider ended the answer${word}; say it in other words, or ask another model`
    case 'length':
      // Where not one token was written there was no room at all, and that is said elsewhere; some servers count nothing.
      return usage.output === 0 && promptTokens(usage) > 0
        ? null
        : `the answer was cut at the most tokens of output${word}; ask to continue, or allow more with maxOutputTokens`
    case 'end':
      return isSilent ? 'the answer was empty; ask again' : null
    case 'other':
      return isSilent ? `the answer ended without a word${word}; ask again` : null
    case 'tool':
    case 'window':
    case 'paused':
      return null
  }
}
