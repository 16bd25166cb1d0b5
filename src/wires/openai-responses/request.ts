// A response as it is asked for, as far as checks and repairs look at it. Fields they do not know go through.
import { textOf, type Fields } from '../reading.ts'

export interface ResponsesRequest extends Fields {
  readonly model: string
  readonly input: string | readonly Fields[]
  readonly tools?: readonly Fields[] | undefined
}

export const idOf = (item: Fields): string | null => textOf(item['id'])
/** Messages may come without their type; what has an id alone refers to an item. */
export const typeOf = (item: Fields): string =>
  textOf(item['type']) ??
  (textOf(item['role']) !== null ? 'message' : idOf(item) === null ? '' : 'item_reference')
/** To an item that the server keeps: what it is, is not known here. */
export const isReference = (item: Fields): boolean => typeOf(item) === 'item_reference'
/** Ids of calls may have this many characters. */
export const callIdChars = 64
export const callIdOf = (item: Fields): string => textOf(item['call_id']) ?? ''

const calls: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
}
const outputs = new Set(Object.values(calls))
/** Calls that we answer; hosted ones are answered by the server. */
export const isCallItem = (item: Fields): boolean => calls[typeOf(item)] !== undefined
export const isOutputItem = (item: Fields): boolean => outputs.has(typeOf(item))
export const outputTypeOf = (call: Fields): string => calls[typeOf(call)] ?? 'function_call_output'

/** What a model makes after it has reasoned. */
export const isMade = (item: Fields): boolean =>
  isCallItem(item) ||
  (typeOf(item) === 'message' && item['role'] === 'assistant') ||
  typeOf(item).endsWith('_call')
/** An item that may stand without its id. What the provider ran itself must have one where it is kept. */
export const mayLoseId = (item: Fields, store: unknown): boolean =>
  isMade(item) && (store === false || isCallItem(item) || typeOf(item) === 'message')
export const isReasoningItem = (item: Fields): boolean => typeOf(item) === 'reasoning'
export const isSealed = (item: Fields): boolean => !!textOf(item['encrypted_content'])

/** Items behind reasoning belong to it as long as the model makes them; an item with an id needs its reasoning. */
export function reasoningBefore(items: readonly Fields[], at: number): boolean {
  for (let index = at - 1; index >= 0; index--) {
    const item = items[index]!
    if (isReasoningItem(item) || isReference(item)) return true
    if (!isMade(item)) return false
  }
  return false
}

/** Reasoning is followed, perhaps by more of it, by something the model made. */
export function leadsToItem(items: readonly Fields[], at: number): boolean {
  for (const item of items.slice(at + 1)) {
    if (isMade(item) || isReference(item)) return true
    if (!isReasoningItem(item)) return false
  }
  return false
}

const inputParts = new Set(['input_text', 'input_image', 'input_file', 'input_audio'])
const outputParts = new Set(['output_text', 'refusal'])
const partsFor = (role: unknown): ReadonlySet<string> => (role === 'assistant' ? outputParts : inputParts)
/** How other APIs name a text. */
const foreignTexts = new Set(['text', 'summary_text', 'reasoning_text'])
const knownParts = new Set([...inputParts, ...outputParts, ...foreignTexts])
/** Types that are not listed come from a newer API: they are carried along untouched. */
export const mayItemHold = (role: unknown, type: string): boolean =>
  partsFor(role).has(type) || (type !== '' && !knownParts.has(type))

/** The name of this wire, in items and settings. */
export const responsesWire = 'openai-responses' as const
