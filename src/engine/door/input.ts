// What may be said to a session.
import type { UserBlock } from '../../transcript/content.ts'
import type { Failure } from '../../transcript/store.ts'
import { EngineError } from './error.ts'

export type Input = string | readonly UserBlock[]

export const emptyInput: Failure = { code: 'empty-input', message: 'the input is empty; say something' }

export function filled(input: Input): readonly UserBlock[] {
  const content = blocksOf(input)
  if (isEmpty(content)) throw new EngineError(emptyInput)
  return content
}

export const blocksOf = (input: Input): readonly UserBlock[] =>
  typeof input === 'string' ? [{ type: 'text', text: input }] : input
export const isEmpty = (content: readonly UserBlock[]): boolean =>
  content.every((block) => block.type === 'text' && block.text.trim() === '')
