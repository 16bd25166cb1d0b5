// From a view to the bytes of a request (law C1): without an edit, the next request begins with the bytes of this one
// up to its last mark, marks apart. So the body begins with what the cache is keyed by, in the order it is read: model,
// tools, system, messages; what may differ from one request to the next stands behind.
import type { Part, View } from '../projection/view.ts'
import { holds } from '../projection/ranges.ts'
import type { WireCacheEdit, WireContextEdit, WireThinking } from '../model/wire.ts'
import { isReasoning } from '../transcript/content.ts'
import type { Seq } from '../transcript/ids.ts'
import { defaults } from '../settings/defaults.ts'
import { chooseMarks, listJson, markField, placeOf, spotOf, type MarkPlace } from './marks.ts'
import {
  createJoiner,
  hashOf,
  segment,
  type Joiner,
  type Lifetime,
  type Segment,
  type Segments,
} from './segments.ts'
import {
  createSerializer,
  goOn,
  ownMessage,
  type SentMessage,
  type Serializer,
  type SerializerOptions,
} from './serialize.ts'

export type { MarkPlace } from './marks.ts'
export type { Lifetime, Segment, Segments } from './segments.ts'

export interface ComposeParameters {
  readonly model: string
  readonly maxTokens: number
  /** Reasoning is bound to the exact prefix it was made under (SPEC 16.8). */
  readonly bindsPrefix: boolean
  /** Null sends no marks at all. */
  readonly lifetime: Lifetime | null
  readonly maxMarks?: number | undefined
  /** The provider refused earlier reasoning: what was made before this place is left out. */
  readonly reasoningFrom?: number | undefined
  /** For a fork that must not write: the block that carried its parent's last mark, or the last up to an entry. */
  readonly markAt?: MarkPlace | { readonly seq: Seq } | undefined
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
  readonly contextEdits?: readonly WireContextEdit[] | undefined
  readonly cacheEdits?: readonly WireCacheEdit[] | undefined
  readonly metadata?: { readonly user_id?: string } | undefined
  readonly betas?: readonly string[] | undefined
}

export interface Composed {
  readonly body: string
  readonly betas: readonly string[]
  readonly segments: Segments
  /** Over everything that makes the cache key, without marks. */
  readonly hash: string
  readonly lastMark: MarkPlace | null
  /** Thinking was asked for but this conversation does not allow it in this request; said, not hidden. */
  readonly withoutThinking: boolean
}
export type ComposeOutcome =
  | { readonly ok: true; readonly composed: Composed }
  | { readonly ok: false; readonly why: string }

export interface Composer {
  compose(view: View, parameters: ComposeParameters): ComposeOutcome
}

// Stands first where the view begins with an answer: the wire wants a user message there.
const beginning = ownMessage('[The session goes on from here.]')

/** What lives as long as a session: everything that was serialized. */
interface Bench {
  readonly serializer: Serializer
  /** For messages behind the last mark, where no reference may stand; null where none stands anywhere. */
  readonly bare: Serializer | null
  readonly join: Joiner
  readonly fixed: Fixed
  readonly reminder: (text: string) => SentMessage
}

/** One for a session: it keeps what it has serialized. */
export function createComposer(options: SerializerOptions = {}): Composer {
  const serializer = createSerializer(options)
  const bench: Bench = {
    serializer,
    bare: options.references === true ? createSerializer({ tag: options.tag }) : null,
    join: createJoiner(),
    fixed: createFixed(),
    reminder: createReminder(),
  }
  return { compose: (view, parameters) => compose(bench, view, parameters) }
}

function compose(bench: Bench, view: View, parameters: ComposeParameters): ComposeOutcome {
  const { lifetime } = parameters
  const fixed = bench.fixed(view)
  const limit = Math.min(parameters.maxMarks ?? defaults.request.maxMarks, defaults.request.maxMarks)
  const marks = chooseMarks(fixed, lifetime === null ? 0 : limit)
  const list = messageList(bench.serializer, bench, view, parameters)
  if (list.length === 0)
    return { ok: false, why: 'there is nothing to send: the session shows no message yet' }
  const open = openCalls(list)
  if (open.length > 0) return { ok: false, why: `calls wait for their results: ${open.join(', ')}` }
  const spot = marks.includes('messages') ? spotOf(list, parameters.markAt) : null
  if (bench.bare !== null) {
    const bare = messageList(bench.bare, bench, view, parameters)
    const cached = spot === null ? 0 : spot.message + 1
    list.splice(cached, Infinity, ...bare.slice(cached))
  }
  const withoutThinking = parameters.thinking?.type === 'enabled' && !allowsManualThinking(list)
  const thinking = withoutThinking ? undefined : parameters.thinking
  const segments: Segments = {
    model: parameters.model,
    ...fixed,
    messages: list,
    mark: spot,
    thinking: thinking === undefined ? '' : JSON.stringify(thinking),
    effort: parameters.effort ?? '',
    betas: (parameters.betas ?? []).join(),
    extra: parameters.contextEdits === undefined ? '' : JSON.stringify(parameters.contextEdits),
    lifetime,
    marks: spot === null ? marks.filter((name) => name !== 'messages') : marks,
  }
  const field = lifetime === null ? '' : markField(lifetime)
  const messages = bench.join(list, spot, field)
  const composed = {
    body: bodyOf(segments, messages.json, field, restOf(parameters, thinking)),
    betas: parameters.betas ?? [],
    segments,
    hash: hashOf(segments, messages),
    lastMark: spot === null ? null : placeOf(list[spot.message]!, spot.block),
    withoutThinking,
  }
  return { ok: true, composed }
}

function bodyOf(segments: Segments, messages: string, field: string, rest: readonly string[]): string {
  const { model, tools, system, marks } = segments
  const parts = [`{"model":${JSON.stringify(model)}`]
  if (tools.length > 0) {
    const isMarked = (_: Segment, index: number) => marks.includes('tools') && index === tools.length - 1
    parts.push(`,"tools":${listJson(tools, isMarked, field)}`)
  }
  if (system.length > 0)
    parts.push(`,"system":${listJson(system, (side) => marks.includes(side.name), field)}`)
  parts.push(',"messages":[', messages, ']', ...rest, '}')
  return parts.join('')
}

/** Everything behind the messages: none of it may stand before a mark. */
function restOf(parameters: ComposeParameters, thinking: WireThinking | undefined): readonly string[] {
  const { effort, contextEdits, cacheEdits, metadata } = parameters
  const rest: readonly (readonly [string, unknown])[] = [
    ['max_tokens', parameters.maxTokens],
    ['stream', true],
    ['thinking', thinking],
    ['output_config', effort === undefined ? undefined : { effort }],
    ['context_management', contextEdits === undefined ? undefined : { edits: contextEdits }],
    ['cache_edits', cacheEdits?.length === 0 ? undefined : cacheEdits],
    ['metadata', metadata],
  ]
  return rest.flatMap(([name, value]) => (value === undefined ? [] : [`,"${name}":${JSON.stringify(value)}`]))
}

/** The list as it is sent, ours included; empty when the view shows nothing. */
function messageList(
  serializer: Serializer,
  { reminder }: Bench,
  view: View,
  { model, bindsPrefix, reasoningFrom = 0 }: ComposeParameters,
): SentMessage[] {
  const leavesOut = (part: Part): boolean =>
    part.from < reasoningFrom ||
    part.model !== model ||
    (bindsPrefix && holds(view.staleReasoning, part.from))
  const list: SentMessage[] = []
  for (const message of view.messages)
    for (const sent of serializer.messages(message, leavesOut)) list.push(sent)
  if (list.length === 0) return list
  if (view.reminder !== null) list.unshift(reminder(view.reminder))
  else if (list[0]!.role === 'assistant') list.unshift(beginning)
  if (list.at(-1)!.role === 'assistant') list.push(goOn)
  return list
}

/** Only the last answer can have calls without results: those before it were answered when the next fact came. */
function openCalls(list: readonly SentMessage[]): readonly string[] {
  const at = list.findLastIndex((message) => message.role === 'assistant')
  const calls = list[at]?.calls ?? []
  if (calls.length === 0) return calls
  const answered = new Set(list.slice(at + 1).flatMap((message) => message.answers))
  return calls.filter((call) => !answered.has(call))
}

/** With thinking switched on by hand, the tool loop in progress must begin with reasoning (API 4, 13). */
function allowsManualThinking(list: readonly SentMessage[]): boolean {
  let first: SentMessage | null = null
  let inLoop = false
  for (const message of list.toReversed()) {
    if (message.role === 'assistant') {
      if (!inLoop) break
      first = message
      inLoop = false
    } else inLoop ||= message.answers.length > 0
  }
  return first === null || isReasoning(first.blocks[0]!)
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

function createReminder(): (text: string) => SentMessage {
  let last: { readonly text: string; readonly message: SentMessage } | null = null
  return (text) => {
    if (last?.text !== text) last = { text, message: ownMessage(text) }
    return last.message
  }
}
