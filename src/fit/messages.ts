// Messages of somebody's program as the bytes that everything here works on. Nothing is believed of them: what is no JSON, or
// not in the words of the wire that was named, is refused with the place and what it looks like instead.
import type { WireName } from '../model/model.ts'
import { isRecord } from '../transcript/content.ts'
import { bytesOf } from './json-spans.ts'
import { listNames, readRequest, type ForeignRequest } from './layouts.ts'

const systemNames: Readonly<Record<WireName, string>> = {
  anthropic: 'system',
  'openai-chat': 'system',
  'openai-responses': 'instructions',
  gemini: 'systemInstruction',
}

export interface HeadParts {
  readonly wire: WireName
  readonly model: string
  readonly system?: unknown
  readonly tools?: readonly unknown[] | undefined
}

/** One element of the list: a message, or a piece of one that was joined to a text of ours. */
export interface Piece {
  readonly value: unknown
  /** Which message it is or was cut from. */
  readonly origin: number
}

export type ReadMessages =
  | { readonly ok: true; readonly request: ForeignRequest; readonly pieces: readonly Piece[] }
  | { readonly ok: false; readonly code: 'not-json' | 'wrong-wire'; readonly message: string }

/** `ours` are texts of earlier compactions: a list that was returned may come back with them inside another message. */
export function readMessages(
  messages: readonly unknown[],
  parts: HeadParts,
  ours: ReadonlySet<string>,
): ReadMessages {
  const strange = messages.findIndex((message) => !speaks(parts.wire, message))
  if (strange >= 0) return wrongWire(parts.wire, strange, messages[strange])
  const pieces = messages.flatMap((value, origin) => piecesOf(parts.wire, value, origin, ours))
  const texts: string[] = []
  for (const { value, origin } of pieces) {
    const text = written(value)
    if (text === null) return notJson(`message ${origin}`)
    texts.push(text)
  }
  const head = headOf(parts)
  if (head === null) return notJson('tools or system')
  const body = `{"model":${JSON.stringify(parts.model)},"${listNames[parts.wire]}":[${texts.join(',')}]${head}}`
  const request = readRequest(parts.wire, bytesOf(body))
  return request === null ? notJson('the list') : { ok: true, request, pieces }
}

const notJson = (what: string): ReadMessages => ({
  ok: false,
  code: 'not-json',
  message: `${what} cannot be written as JSON, so it cannot be sent either; take out what holds functions, cycles or BigInts`,
})

function headOf({ wire, system, tools }: HeadParts): string | null {
  const members = [
    [systemNames[wire], system],
    ['tools', tools],
  ] as const
  let head = ''
  for (const [name, value] of members) {
    if (value === undefined) continue
    const text = written(value)
    if (text === null) return null
    head += `,"${name}":${text}`
  }
  return head
}

/** The JSON of a value; null where it has none. */
function written(value: unknown): string | null {
  try {
    return (JSON.stringify(value) as string | undefined) ?? null
  } catch {
    return null
  }
}

// ---- whose words they are ----

const hasTypes = (content: unknown, types: RegExp): boolean =>
  Array.isArray(content) &&
  content.some((part) => isRecord(part) && typeof part['type'] === 'string' && types.test(part['type']))

const isBlocks = (content: unknown): boolean =>
  Array.isArray(content) && content.every((part) => isRecord(part) && typeof part['type'] === 'string')

type Words = Readonly<Record<string, unknown>>
const isRole = (message: Words, roles: RegExp): boolean =>
  typeof message['role'] === 'string' && roles.test(message['role'])

const speakers: Readonly<Record<WireName, (message: Words) => boolean>> = {
  anthropic: (message) =>
    isRole(message, /^(?:user|assistant|system)$/u) &&
    (typeof message['content'] === 'string' || isBlocks(message['content'])) &&
    message['tool_calls'] === undefined &&
    !hasTypes(message['content'], /^(?:input_text|output_text|image_url|tool-call|tool-result)$/u),
  'openai-chat': (message) =>
    isRole(message, /^(?:user|assistant|system|developer|tool|function)$/u) &&
    message['parts'] === undefined &&
    !hasTypes(message['content'], /^(?:tool_use|tool_result|input_text|output_text|tool-call|tool-result)$/u),
  'openai-responses': (message) =>
    (typeof message['type'] === 'string' ||
      isRole(message, /^(?:user|assistant|system|developer)$/u) ||
      // An id alone refers to an item.
      (typeof message['id'] === 'string' && Object.keys(message).length === 1)) &&
    message['parts'] === undefined &&
    message['tool_calls'] === undefined &&
    !hasTypes(message['content'], /^(?:tool_use|tool_result|tool-call|tool-result)$/u),
  gemini: (message) => Array.isArray(message['parts']) && isRole(message, /^(?:user|model|function)$/u),
}

const speaks = (wire: WireName, message: unknown): boolean => isRecord(message) && speakers[wire](message)

function wrongWire(wire: WireName, at: number, message: unknown): ReadMessages {
  const names = Object.keys(speakers) as readonly WireName[]
  const like = names.filter((name) => name !== wire && speaks(name, message))
  const hint =
    like.length === 0 ? '' : `; it looks like ${like.join(' or ')}: set \`wire\` to what you send it to`
  return {
    ok: false,
    code: 'wrong-wire',
    message: `message ${at} is not in the words of the wire ${wire}${hint}`,
  }
}

// ---- what was joined to a text of ours ----

/** A message with a text of ours inside comes apart before and behind it, so that the text can be replaced by the next. */
function piecesOf(
  wire: WireName,
  value: unknown,
  origin: number,
  ours: ReadonlySet<string>,
): readonly Piece[] {
  const key = wire === 'gemini' ? 'parts' : 'content'
  const parts: unknown = isRecord(value) ? value[key] : undefined
  if (ours.size === 0 || !Array.isArray(parts) || parts.length < 2) return [{ value, origin }]
  const isOurs = (part: unknown): boolean =>
    isRecord(part) && typeof part['text'] === 'string' && ours.has(part['text'])
  const at = parts.findIndex(isOurs)
  if (at < 0) return [{ value, origin }]
  return [parts.slice(0, at), parts.slice(at, at + 1), parts.slice(at + 1)].flatMap((some) =>
    some.length === 0 ? [] : [{ value: { ...(value as object), [key]: some }, origin }],
  )
}
