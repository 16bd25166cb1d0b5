// What the readers of answers share: looking into JSON that somebody else wrote, calls with their arguments, and the
// items that only their maker reads.
import { isRecord, objectIn } from '../transcript/json.ts'
import type { AnswerReader } from '../model/attempts.ts'
import type { ServerRefusal } from '../model/failure.ts'
import type { ModelMessage } from '../model/model.ts'
import type { AssistantBlock, ItemBlock, Sidecar, ToolUseBlock } from '../transcript/content.ts'
import type { StopKind } from '../transcript/stop.ts'

export type Fields = Readonly<Record<string, unknown>>

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
/** A whole number that can be added up and kept in any store. */
export const countOf = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= mostCounted ? Math.round(value) : null
const mostCounted = 1e12
export const fieldsOf = (value: unknown): Fields | null => (isRecord(value) ? value : null)
export const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.flatMap((item: unknown): readonly Fields[] => asList(fieldsOf(item))) : []
/** One, or none. */
export const asList = (fields: Fields | null): readonly Fields[] => (fields === null ? [] : [fields])

/** A call whose arguments are text. Those that cannot be read are kept as they came, and the call never runs. */
export function callBlock(id: string, name: string, json: string, whole: boolean): ToolUseBlock {
  // Some servers send no arguments at all for a call without any.
  const input = whole ? objectIn(json.trim() === '' ? '{}' : json) : null
  const call = { type: 'tool_use', id, name } as const
  return input === null ? { ...call, input: {}, broken: json } : { ...call, input }
}

/** The exact text of arguments, where printing what was read would give another. */
export const exactArguments = (block: ToolUseBlock, json: string): string | undefined =>
  block.broken === undefined && json !== '' && JSON.stringify(block.input) !== json ? json : undefined

/** A call with what its wire wants back of it; as it is where that is nothing. */
export function withSidecar(
  block: ToolUseBlock,
  maker: { readonly wire: string; readonly model: string },
  kept: { readonly arguments?: string | undefined; readonly raw?: string | undefined },
): ToolUseBlock {
  const { arguments: exact, raw } = kept
  if (exact === undefined && raw === undefined) return block
  const sidecar: Sidecar = {
    ...maker,
    ...(exact === undefined ? {} : { arguments: exact }),
    ...(raw === undefined ? {} : { raw }),
  }
  return { ...block, sidecar }
}

/** Sealed content is base64: it weighs about this much of its characters. */
const tokensPerChar = 0.25

/** A piece of an answer that only its maker reads. */
export const itemBlock = (wire: string, model: string, raw: Fields): ItemBlock => {
  const json = JSON.stringify(raw)
  return { type: 'item', wire, model, raw: json, tokens: Math.ceil(json.length * tokensPerChar) }
}

/** An error inside a stream: the words are all there is. */
export const refusalOf = (error: unknown): ServerRefusal => ({
  status: null,
  text: JSON.stringify({ error }),
  header: () => null,
})

/** What only the Messages API says beside an answer. */
export const nothingMore = { appliedEdits: [], inputTransformations: [], diagnostics: null } as const

/** A whole answer, fed to the reader of its stream at once. */
export function readWhole(reader: AnswerReader, answer: unknown): ModelMessage | null {
  reader.feed(answer)
  return reader.message()
}

/**
 * What the word for the end of a whole answer means, by a table of a wire. A call that cannot be read was cut by the output
 * limit, whatever the server says; one that says it was finished and sends calls means the calls.
 */
export function endOf(
  content: readonly AssistantBlock[],
  isRefused: boolean,
  kinds: Readonly<Record<string, StopKind>>,
  word: string | null,
): StopKind {
  if (content.some((block) => 'broken' in block)) return 'length'
  if (isRefused) return 'refusal'
  const kind = word === null ? 'end' : (kinds[word] ?? 'other')
  return kind === 'end' && content.some((block) => block.type === 'tool_use') ? 'tool' : kind
}
