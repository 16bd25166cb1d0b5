// A request for generated content, as far as checks and repairs look at it. Fields they do not know go through.
import { asList, fieldsOf, listOf, textOf, type Fields } from '../reading.ts'

export interface GeminiRequest extends Fields {
  readonly contents: readonly Fields[]
  readonly tools?: readonly Fields[] | undefined
}

export const contentRole = (content: Fields): string => textOf(content['role']) ?? ''
export const partsOf = (content: Fields): readonly Fields[] => listOf(content['parts'])
// The API reads both spellings of a name, and clients write either.
const callKey = (part: Fields): string => ('function_call' in part ? 'function_call' : 'functionCall')
const responseKey = (part: Fields): string =>
  'function_response' in part ? 'function_response' : 'functionResponse'
export const callOf = (part: Fields): Fields | null => fieldsOf(part[callKey(part)])
export const responseOf = (part: Fields): Fields | null => fieldsOf(part[responseKey(part)])
export const withCall = (part: Fields, call: Fields): Fields => ({ ...part, [callKey(part)]: call })
export const withResponse = (part: Fields, response: Fields): Fields => ({
  ...part,
  [responseKey(part)]: response,
})
export const callsIn = (content: Fields): readonly Fields[] =>
  partsOf(content).flatMap((part) => asList(callOf(part)))
export const resultsIn = (content: Fields): readonly Fields[] =>
  partsOf(content).flatMap((part) => asList(responseOf(part)))
export const signatureOf = (part: Fields): string | null =>
  textOf(part['thoughtSignature'] ?? part['thought_signature'])

/** A part that holds nothing: no text, no data, no call. A signature alone is something. */
export function isEmptyPart(part: Fields): boolean {
  const named = Object.keys(part).filter((key) => key !== 'text' && key !== 'thought')
  return named.length === 0 && !textOf(part['text'])
}

/** Where the turn under way begins: the last content of the user that answers no call. */
export const turnStart = (contents: readonly Fields[]): number =>
  contents.findLastIndex((content) => contentRole(content) === 'user' && resultsIn(content).length === 0)

/** A call and a result belong together: by id where both have one, else by name. */
export function answers(call: Fields, response: Fields): boolean {
  const asked = textOf(call['id'])
  const given = textOf(response['id'])
  return asked !== null && given !== null ? asked === given : call['name'] === response['name']
}

/** The name of this wire, in items and settings. */
export const geminiName = 'gemini' as const

/** Ids of calls that the server did not name are ours, and are never sent. */
export const ownIdPrefix = 'own_call_'
/** Stands where a signature must, for calls that no model of this maker made. */
export const dummySignature = 'skip_thought_signature_validator'

/** Begins what is said of an answer that the model could not write. */
export const spoiledAnswer = 'no answer came: '
