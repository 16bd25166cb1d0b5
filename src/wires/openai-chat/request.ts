// A chat completion as it is sent, as far as checks and repairs look at it. Fields they do not know go through.
import { fieldsOf, listOf, textOf, type Fields } from '../reading.ts'

export interface ChatRequest extends Fields {
  readonly model: string
  readonly messages: readonly Fields[]
  readonly tools?: readonly Fields[] | undefined
}

export const roleOf = (message: Fields): string => textOf(message['role']) ?? ''
export const callsOf = (message: Fields): readonly Fields[] =>
  roleOf(message) === 'assistant' ? listOf(message['tool_calls']) : []
/** Ids of calls may have this many characters. */
export const chatIdChars = 40
export const callId = (call: Fields): string => textOf(call['id']) ?? ''
export const answeredId = (message: Fields): string => textOf(message['tool_call_id']) ?? ''
export const spokenOf = (call: Fields): Fields => fieldsOf(call['function']) ?? {}

/** Nothing that a reader could take in: no text, no parts. */
export function isEmptyContent(content: unknown): boolean {
  if (content === null || content === undefined || content === '') return true
  return Array.isArray(content) && content.length === 0
}

/** What may stand in the content of whom. */
export const partTypes: Readonly<Record<string, ReadonlySet<string>>> = {
  user: new Set(['text', 'image_url', 'input_audio', 'file']),
  assistant: new Set(['text', 'refusal']),
  tool: new Set(['text']),
  system: new Set(['text']),
  developer: new Set(['text']),
}
const knownParts = new Set(Object.values(partTypes).flatMap((types) => [...types]))
/** Types that are not listed come from a newer API, or another server's: they are carried along untouched. */
export const mayHold = (role: string, type: string): boolean =>
  partTypes[role]?.has(type) === true || (type !== '' && !knownParts.has(type))
/** An answer that says something although it has no content: a refusal, speech, or a call as they were made before tools. */
export const saysOtherwise = (message: Fields): boolean =>
  !!textOf(message['refusal']) ||
  fieldsOf(message['audio']) !== null ||
  fieldsOf(message['function_call']) !== null
export const roles = new Set([...Object.keys(partTypes), 'function'])
export const mostTools = 128
export const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details'] as const

/** The name of this wire, in items and settings. */
export const chatWire = 'openai-chat' as const
