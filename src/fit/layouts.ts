// Where each wire keeps its conversation: which list it is, what the units of it are, what of a unit is a result's text, and
// which members only steer the cache. A wire is a row here; the reading below is one for all. Nothing is translated: a
// unit is a slice of the client's own bytes.
import type { WireName } from '../model/model.ts'
import {
  bytesOf,
  followed,
  joined,
  memberOf,
  outline,
  stringAt,
  valueAt,
  withoutBlanks,
  type Member,
  type Node,
  type Span,
} from './json-spans.ts'

/** Where a wire keeps its conversation. */
export const listNames: Readonly<Record<WireName, string>> = {
  anthropic: 'messages',
  'openai-chat': 'messages',
  'openai-responses': 'input',
  gemini: 'contents',
}

/** One block, item or part of a conversation as the client sent it. */
export interface Unit extends Span {
  readonly role: string
  /** Equal for equal content, whatever steers the cache and however it is spaced. */
  readonly canonical: Uint8Array
  /** The message it stands in. */
  readonly message: number
}

export interface ForeignRequest {
  readonly wire: WireName
  readonly bytes: Uint8Array
  readonly root: Node
  readonly model: string | null
  /** Tools and system, apart from the conversation: a changed tool list is named as such. */
  readonly head: readonly Uint8Array[]
  readonly hasTools: boolean
  readonly units: readonly Unit[]
  readonly messages: number
  /** The elements of its list, one for each message. */
  readonly elements: readonly Span[]
}

/** The text of a result: a JSON string in the body. */
export interface ResultTexts {
  readonly call: string
  readonly texts: readonly Span[]
}

interface Layout {
  /** The member that holds the units of an element; null where the element itself is one. */
  readonly parts: string | null
  readonly head: readonly string[]
  /** Members that say what to cache and change nothing of what is read. */
  readonly steering: readonly string[]
  readonly results: (bytes: Uint8Array, unit: Node) => ResultTexts | null
}

const layouts: Readonly<Record<WireName, Layout>> = {
  anthropic: {
    parts: 'content',
    head: ['tools', 'system'],
    steering: ['cache_control'],
    results: resultsIn('type', /^tool_result$/u, 'tool_use_id', 'content'),
  },
  'openai-chat': {
    parts: null,
    head: ['tools'],
    steering: ['cache_control'],
    results: resultsIn('role', /^tool$/u, 'tool_call_id', 'content'),
  },
  'openai-responses': {
    parts: null,
    head: ['tools', 'instructions'],
    steering: ['prompt_cache_breakpoint'],
    results: resultsIn('type', /_call_output$/u, 'call_id', 'output'),
  },
  gemini: {
    parts: 'parts',
    head: ['tools', 'systemInstruction', 'system_instruction'],
    steering: [],
    results(bytes, unit) {
      const answer = memberOf(unit, 'functionResponse') ?? memberOf(unit, 'function_response')
      const values = memberOf(answer, 'response')?.members ?? []
      const texts = values.map(({ value }) => value).filter(({ kind }) => kind === 'string')
      return answer === undefined
        ? null
        : { call: read(bytes, answer, 'id') ?? read(bytes, answer, 'name') ?? '', texts }
    },
  },
}

function read(bytes: Uint8Array, node: Node | undefined, key: string): string | null {
  const value = memberOf(node, key)
  return value === undefined ? null : stringAt(bytes, value)
}

/** Results are units in which one member reads so; two others hold the id of the call and the content. */
function resultsIn(key: string, kind: RegExp, id: string, content: string): Layout['results'] {
  return (bytes, unit) => {
    const call = kind.test(read(bytes, unit, key) ?? '') ? read(bytes, unit, id) : null
    const node = memberOf(unit, content)
    if (call === null || node === undefined) return null
    if (node.kind === 'string') return { call, texts: [node] }
    const texts = (node.elements ?? []).flatMap((part) => memberOf(part, 'text') ?? [])
    return { call, texts: texts.filter(({ kind }) => kind === 'string') }
  }
}

/** Deep enough for the members of what a result holds. */
const unitDepth = 4

/** The texts of the result that a unit is, or null for any other unit. */
export function resultTexts({ wire, bytes }: ForeignRequest, unit: Span): ResultTexts | null {
  const node = followed(bytes, unit, unitDepth)
  return node?.kind === 'object' ? layouts[wire].results(bytes, node) : null
}

/** Where the path says which model it is. */
const modelIn = (path: string): string | null => /\/models\/([^/:?]+):/u.exec(path)?.[1] ?? null

/** A request read; null where it is not one this wire would have, which is then forwarded unread. */
export function readRequest(
  wire: WireName,
  bytes: Uint8Array,
  path = '',
  find: FindWord = findWord,
): ForeignRequest | null {
  const layout = layouts[wire]
  const root = outline(bytes, layout.parts === null ? 3 : 4)
  const list = memberOf(root, listNames[wire])
  if (root === null || list === undefined) return null
  const elements = list.kind === 'string' && wire === 'openai-responses' ? [list] : list.elements
  if (elements === undefined) return null
  const units: Unit[] = []
  const steered: Steered = {
    layout,
    places: layout.steering.flatMap((name) => [...find(bytes, `"${name}"`)]),
  }
  for (const [message, element] of elements.entries()) {
    const found = unitsOf(steered, bytes, element, message)
    if (found === null) return null
    units.push(...found)
  }
  const model = memberOf(root, 'model')
  return {
    wire,
    bytes,
    root,
    model: (model === undefined ? null : stringAt(bytes, model)) ?? modelIn(path),
    head: layout.head.flatMap((key) => {
      const member = memberOf(root, key)
      return member === undefined ? [] : [canonicalOf(steered, bytes, member)]
    }),
    hasTools: (memberOf(root, 'tools')?.elements?.length ?? 0) > 0,
    units,
    messages: elements.length,
    elements,
  }
}

interface Steered {
  readonly layout: Layout
  readonly places: readonly number[]
}

function unitsOf(
  steered: Steered,
  bytes: Uint8Array,
  element: Node,
  message: number,
): readonly Unit[] | null {
  const { layout } = steered
  if (element.kind === 'string')
    return [{ ...spanOf(element), role: 'user', canonical: textUnit(bytes, element), message }]
  if (element.kind !== 'object') return null
  const role = read(bytes, element, 'role') ?? itemRole(read(bytes, element, 'type') ?? '')
  if (layout.parts === null)
    return [{ ...spanOf(element), role, canonical: canonicalOf(steered, bytes, element), message }]
  const parts = memberOf(element, layout.parts)
  if (parts?.kind === 'string')
    return [{ ...spanOf(parts), role, canonical: textUnit(bytes, parts), message }]
  return (
    parts?.elements?.map((part) => ({
      start: part.start,
      end: part.end,
      role,
      canonical: canonicalOf(steered, bytes, part),
      message,
    })) ?? null
  )
}

/** Said by a model. */
export const isAnswer = (role: string): boolean => role === 'assistant' || role === 'model'

/** Items without a role of their own are what the model made (calls, reasoning) or what came of it. */
const itemRole = (type: string): string =>
  type === '' || type === 'message' ? 'user' : type.endsWith('_output') ? 'tool' : 'assistant'

const spanOf = ({ start, end }: Span): Span => ({ start, end })

// What a plain text is, as a unit of its own: clients send the same text now as a string and now as a block.
const textStart = bytesOf('{"type":"text","text":')
const textEnd = bytesOf('}')
const textUnit = (bytes: Uint8Array, { start, end }: Span): Uint8Array =>
  joined([textStart, bytes.subarray(start, end), textEnd])

/** Where a word stands in bytes, each time. A server has a faster one than there is everywhere. */
export type FindWord = (bytes: Uint8Array, word: string) => readonly number[]

/** One character for each byte, so that places in the text are places in the bytes. */
const byteText = new TextDecoder('latin1')

const findWord: FindWord = (bytes, word) => {
  const text = byteText.decode(bytes)
  const places: number[] = []
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) places.push(at)
  return places
}

function canonicalOf({ layout, places }: Steered, bytes: Uint8Array, node: Node): Uint8Array {
  if (places.some((place) => place > node.start && place < node.end))
    return withoutMembers(bytes, node, layout.steering)
  return node.hasBlanks ? withoutBlanks(bytes, node) : bytes.subarray(node.start, node.end)
}

function withoutMembers(bytes: Uint8Array, span: Span, names: readonly string[]): Uint8Array {
  const node = followed(bytes, span, unitDepth)
  const pieces: Uint8Array[] = []
  if (node !== null) write(node)
  return joined(pieces)

  function write(value: Node): void {
    if (value.members !== undefined)
      listed(
        '{',
        value.members.filter(({ key }) => !names.includes(key)),
        writeMember,
        '}',
      )
    else if (value.elements !== undefined) listed('[', value.elements, write, ']')
    else pieces.push(value.hasBlanks ? withoutBlanks(bytes, value) : bytes.subarray(value.start, value.end))
  }
  function writeMember({ key, value }: Member): void {
    pieces.push(bytesOf(`${JSON.stringify(key)}:`))
    write(value)
  }
  function listed<T>(open: string, items: readonly T[], writeItem: (item: T) => void, close: string): void {
    pieces.push(bytesOf(open))
    for (const [at, item] of items.entries()) {
      if (at > 0) pieces.push(bytesOf(','))
      writeItem(item)
    }
    pieces.push(bytesOf(close))
  }
}

/** A message of the user's side with one text, as this wire has it. */
export const userMessage = (wire: WireName, text: string): string => JSON.stringify(userMessages[wire](text))
const userMessages: Readonly<Record<WireName, (text: string) => unknown>> = {
  anthropic: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
  'openai-chat': (text) => ({ role: 'user', content: text }),
  'openai-responses': (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
  gemini: (text) => ({ role: 'user', parts: [{ text }] }),
}

/** The value of one of a request's own members, made. */
export function parameter({ bytes, root }: ForeignRequest, key: string): unknown {
  const member = memberOf(root, key)
  return member === undefined ? undefined : valueAt(bytes, member)
}
