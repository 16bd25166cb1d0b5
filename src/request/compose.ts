// From a view to the bytes of a request (law C1): without an edit, the next request begins with the bytes of this one
// up to its last mark, marks apart. Nothing that varies between requests stands before a mark.
//
// Order on the wire: tools, system, messages. Marks, at most four: last tool, static block, dynamic block, and exactly
// one in the messages, on the last block of the last message that can carry one, or where the caller says.
import { createHash } from 'node:crypto'
import type { View } from '../projection/view.ts'
import { holds } from '../projection/ranges.ts'
import type { CacheControl, WireCacheEdit, WireContextEdit, WireThinking } from '../model/wire.ts'
import type { Seq } from '../transcript/ids.ts'
import { defaults } from '../settings/defaults.ts'
import {
  createSerializer,
  messageJson,
  withField,
  type SentMessage,
  type Serializer,
  type SerializerOptions,
} from './serialize.ts'

export type Lifetime = '5m' | '1h'

/** A place in the messages: an entry's part and one of its blocks as sent. */
export interface MarkPlace {
  readonly seq: Seq
  readonly block: number
}

export interface ComposeParameters {
  readonly model: string
  readonly maxTokens: number
  /** Reasoning is bound to the exact prefix it was made under (SPEC 16.8). */
  readonly bindsPrefix: boolean
  /** Null sends no marks at all. */
  readonly lifetime: Lifetime | null
  readonly maxMarks?: number | undefined
  /** For a fork that must not write: the block that carried its parent's last mark. */
  readonly markAt?: MarkPlace | undefined
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
  readonly contextEdits?: readonly WireContextEdit[] | undefined
  readonly cacheEdits?: readonly WireCacheEdit[] | undefined
  readonly metadata?: { readonly user_id?: string } | undefined
  readonly betas?: readonly string[] | undefined
}

/** What the cache key is made of, piece by piece, without marks; what break detection compares. */
export interface Segments {
  readonly model: string
  readonly tools: readonly Segment[]
  readonly system: readonly Segment[]
  readonly messages: readonly Segment[]
  readonly thinking: string
  readonly effort: string
  readonly betas: string
  readonly extra: string
  readonly lifetime: Lifetime | null
  readonly marks: readonly string[]
}
export interface Segment {
  readonly name: string
  readonly digest: string
  readonly json: string
}

export interface Composed {
  readonly body: string
  readonly betas: readonly string[]
  readonly segments: Segments
  /** Over everything that makes the cache key, without marks. */
  readonly hash: string
  readonly lastMark: MarkPlace | null
  /** Thinking was asked for but this history does not allow it in this request; said, not hidden. */
  readonly withoutThinking: boolean
}
export type ComposeOutcome =
  | { readonly ok: true; readonly composed: Composed }
  | { readonly ok: false; readonly why: string }

export interface Composer {
  compose(view: View, parameters: ComposeParameters): ComposeOutcome
}

// Stands at the end of a request whose view ends with an answer: the wire wants a user message last. Never marked,
// because the next request will not have it.
const goOn = '{"role":"user","content":[{"type":"text","text":"Continue."}]}'
const beginning = '{"role":"user","content":[{"type":"text","text":"[The session goes on from here.]"}]}'

/** One for a session: it keeps what it has serialized. */
export function createComposer(options: SerializerOptions = {}): Composer {
  const serializer = createSerializer(options)
  const fixed = createFixed()
  return { compose: (view, parameters) => compose(serializer, fixed, view, parameters) }
}

function compose(
  serializer: Serializer,
  fixed: Fixed,
  view: View,
  parameters: ComposeParameters,
): ComposeOutcome {
  const messages = sentMessages(serializer, view, parameters)
  if (messages.length === 0)
    return { ok: false, why: 'there is nothing to send: the session shows no message yet' }
  const limit = Math.min(parameters.maxMarks ?? defaults.request.maxMarks, defaults.request.maxMarks)
  const marks = chooseMarks(view, parameters.lifetime === null ? 0 : limit)
  const mark = parameters.lifetime === null ? '' : markJson(parameters.lifetime)
  const { tools, system } = fixed(view)
  const place = marks.includes('messages') ? markPlace(messages, parameters.markAt) : null
  const list = messages.map((message, index) =>
    place?.message === index ? marked(message, place.block, mark) : message.json,
  )
  const leading =
    view.reminder === null
      ? messages[0]!.role === 'assistant'
        ? [beginning]
        : []
      : [reminderJson(view.reminder)]
  const trailing = messages.at(-1)!.role === 'assistant' ? [goOn] : []
  const withoutThinking = parameters.thinking?.type === 'enabled' && !allowsManualThinking(messages)
  const thinking = withoutThinking ? undefined : parameters.thinking
  const rest = restOf(parameters, thinking)
  const body = [
    `{"model":${JSON.stringify(parameters.model)},"max_tokens":${parameters.maxTokens},"stream":true`,
    tools.length === 0
      ? ''
      : `,"tools":[${withMark(tools, marks.includes('tools') ? [tools.length - 1] : [], mark)}]`,
    system.length === 0 ? '' : `,"system":[${withMark(system, systemMarks(view, marks), mark)}]`,
    `,"messages":[${[...leading, ...list, ...trailing].join(',')}]`,
    ...rest.map(([name, json]) => `,"${name}":${json}`),
    '}',
  ].join('')
  const segments: Segments = {
    model: parameters.model,
    tools,
    system,
    messages: [...leading.map(loneSegment), ...messages.map(messageSegment)],
    thinking: thinking === undefined ? '' : JSON.stringify(thinking),
    effort: parameters.effort ?? '',
    betas: (parameters.betas ?? []).join(),
    extra: JSON.stringify(parameters.contextEdits ?? null),
    lifetime: parameters.lifetime,
    marks,
  }
  const at = place === null ? null : messages[place.message]!.blocks[place.block]!.part
  const lastMark =
    at === null ? null : { seq: at.from, block: blockInPart(messages[place!.message]!, place!.block) }
  return {
    ok: true,
    composed: {
      body,
      betas: parameters.betas ?? [],
      segments,
      hash: hashOf(segments),
      lastMark,
      withoutThinking,
    },
  }
}

function sentMessages(serializer: Serializer, view: View, parameters: ComposeParameters): SentMessage[] {
  const messages: SentMessage[] = []
  for (const message of view.messages) {
    const sent = serializer.message(
      message,
      (part) =>
        part.model !== parameters.model || (parameters.bindsPrefix && holds(view.staleReasoning, part.from)),
    )
    if (sent !== null) messages.push(sent)
  }
  return messages
}

// The messages first: without that mark nothing of the conversation is cached. Then the widest prefix.
type MarkName = 'messages' | 'dynamic' | 'static' | 'tools'
function chooseMarks(view: View, limit: number): readonly MarkName[] {
  const has = (side: 'static' | 'dynamic') => view.sections.some((section) => section.side === side)
  const wanted: MarkName[] = ['messages']
  if (has('dynamic')) wanted.push('dynamic')
  if (has('static')) wanted.push('static')
  if (view.tools.length > 0) wanted.push('tools')
  return wanted.slice(0, limit)
}

function systemMarks(view: View, marks: readonly MarkName[]): number[] {
  const sides = (['static', 'dynamic'] as const).filter((side) =>
    view.sections.some((section) => section.side === side),
  )
  return sides.flatMap((side, index) => (marks.includes(side) ? [index] : []))
}

function markPlace(
  messages: readonly SentMessage[],
  wanted: MarkPlace | undefined,
): { readonly message: number; readonly block: number } | null {
  for (let message = messages.length - 1; message >= 0; message--) {
    const { blocks } = messages[message]!
    for (let block = blocks.length - 1; block >= 0; block--) {
      const fits =
        wanted === undefined ||
        (blocks[block]!.part.from === wanted.seq && blockInPart(messages[message]!, block) === wanted.block)
      if (fits && blocks[block]!.markable) return { message, block }
    }
  }
  return null
}

function blockInPart(message: SentMessage, block: number): number {
  const { part } = message.blocks[block]!
  return block - message.blocks.findIndex((other) => other.part === part)
}

function marked(message: SentMessage, block: number, mark: string): string {
  return messageJson(
    message.role,
    message.blocks.map((sent, index) => (index === block ? withField(sent.json, mark) : sent.json)),
  )
}

const withMark = (segments: readonly Segment[], places: readonly number[], mark: string): string =>
  segments.map(({ json }, index) => (places.includes(index) ? withField(json, mark) : json)).join(',')

function markJson(lifetime: Lifetime): string {
  const control: CacheControl = lifetime === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  return `"cache_control":${JSON.stringify(control)}`
}

function restOf(
  parameters: ComposeParameters,
  thinking: WireThinking | undefined,
): (readonly [string, string])[] {
  const rest: [string, unknown][] = [
    ['thinking', thinking],
    ['output_config', parameters.effort === undefined ? undefined : { effort: parameters.effort }],
    [
      'context_management',
      parameters.contextEdits === undefined ? undefined : { edits: parameters.contextEdits },
    ],
    ['cache_edits', parameters.cacheEdits?.length === 0 ? undefined : parameters.cacheEdits],
    ['metadata', parameters.metadata],
  ]
  return rest.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, JSON.stringify(value)] as const],
  )
}

/** With thinking switched on by hand, the answer whose tools are running must begin with its reasoning (API 4, 13). */
function allowsManualThinking(messages: readonly SentMessage[]): boolean {
  const last = messages.findLast((message) => message.role === 'assistant')
  const runsTools = last?.blocks.some((block) => block.json.startsWith('{"type":"tool_use"')) === true
  return last === undefined || !runsTools || last.startsWithReasoning
}

type Fixed = (view: View) => { readonly tools: readonly Segment[]; readonly system: readonly Segment[] }

/** Tools and system as JSON, made once for as long as they stay the same. */
function createFixed(): Fixed {
  const cache = new WeakMap<object, readonly Segment[]>()
  const once = (key: object, make: () => readonly Segment[]): readonly Segment[] => {
    const found = cache.get(key) ?? make()
    cache.set(key, found)
    return found
  }
  return (view) => ({
    tools: once(view.tools, () => view.tools.map((tool) => segment(tool.name, tool))),
    system: once(view.sections, () => systemSegments(view)),
  })
}

function systemSegments(view: View): readonly Segment[] {
  return (['static', 'dynamic'] as const).flatMap((side) => {
    const text = view.sections
      .filter((section) => section.side === side)
      .map((section) => section.text)
      .join('\n\n')
    return text.trim() === '' ? [] : [segment(side, { type: 'text', text })]
  })
}

function segment(name: string, value: unknown): Segment {
  const json = JSON.stringify(value)
  return { name, json, digest: digest(json) }
}

const messageSegment = (message: SentMessage, index: number): Segment => ({
  name: `message ${index} (${message.role}, entry ${message.blocks[0]!.part.from})`,
  json: message.json,
  digest: message.digest,
})
const loneSegment = (json: string): Segment => ({ name: 'reminder', json, digest: digest(json) })
const reminderJson = (text: string): string => messageJson('user', [JSON.stringify({ type: 'text', text })])
const digest = (json: string): string => createHash('sha256').update(json).digest('base64url')

function hashOf(segments: Segments): string {
  const hash = createHash('sha256')
  const { model, tools, system, messages, thinking, effort, betas, extra } = segments
  hash.update(JSON.stringify([model, thinking, effort, betas, extra]))
  for (const list of [tools, system, messages]) for (const one of list) hash.update(one.digest).update('\n')
  return hash.digest('base64url')
}
