// From a view to the bytes of a request (law C1): without an edit, the next request begins with the bytes of this one
// up to its last breakpoint, breakpoints apart. So the body begins with what the cache is keyed by, in the order it is
// read: model, tools, system, messages; what may differ from one request to the next stands behind.
import type { View, Message, Part } from '../projection/view.ts'
import type { WireCacheEdit, WireContextEdit, WireThinking } from '../model/wire.ts'
import { isReasoning } from '../transcript/content.ts'
import type { Range } from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import {
  chooseBreakpoints,
  listJson,
  breakpointField,
  positionOf,
  spotOf,
  type BreakpointPosition,
} from './breakpoints.ts'
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
  continueMessage,
  ownMessage,
  type SentMessage,
  type SerializerOptions,
} from './serialize.ts'

export type { BreakpointPosition } from './breakpoints.ts'
export type { Lifetime, Segment, Segments } from './segments.ts'

export interface ComposeParameters extends ReasoningChoice {
  readonly maxTokens: number
  /** Null sends no breakpoints at all. */
  readonly lifetime: Lifetime | null
  /** For a fork that must not write: the block that carried its parent's last breakpoint, or the last up to an entry. */
  readonly breakpointAt?: BreakpointPosition | { readonly seq: Seq } | undefined
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
  readonly contextEdits?: readonly WireContextEdit[] | undefined
  readonly cacheEdits?: readonly WireCacheEdit[] | undefined
  readonly betas?: readonly string[] | undefined
}

export interface Composed {
  readonly body: string
  readonly betas: readonly string[]
  readonly segments: Segments
  /** Over everything that makes the cache key, without breakpoints. */
  readonly hash: string
  readonly lastBreakpoint: BreakpointPosition | null
  /** Thinking was asked for but this conversation does not allow it in this request; said, not hidden. */
  readonly withoutThinking: boolean
}
export type ComposeOutcome =
  | { readonly ok: true; readonly composed: Composed }
  | { readonly ok: false; readonly why: string }

export interface Composer {
  compose(view: View, parameters: ComposeParameters): ComposeOutcome
}

/** What lives as long as a session: everything that was serialized. */
interface Bench {
  readonly list: Lister
  /** For messages behind the last breakpoint, where no reference may stand; null where none stands anywhere. */
  readonly bare: Lister | null
  readonly join: Joiner
  readonly fixed: Fixed
}

/** One for a session: it keeps what it has serialized. */
export function createComposer(options: SerializerOptions = {}): Composer {
  const bench: Bench = {
    list: createLister(options),
    bare: options.references === true ? createLister({ tag: options.tag, media: options.media }) : null,
    join: createJoiner(),
    fixed: createFixed(),
  }
  return { compose: (view, parameters) => compose(bench, view, parameters) }
}

function compose(bench: Bench, view: View, parameters: ComposeParameters): ComposeOutcome {
  const { lifetime } = parameters
  const fixed = bench.fixed(view)
  const breakpoints = lifetime === null ? [] : chooseBreakpoints(fixed)
  const list = bench.list(view, parameters)
  if (list.length === 0)
    return { ok: false, why: 'there is nothing to send: the session shows no message yet' }
  const open = openCalls(list)
  if (open.length > 0) return { ok: false, why: `calls wait for their results: ${open.join(', ')}` }
  const spot = breakpoints.includes('messages') ? spotOf(list, parameters.breakpointAt) : null
  if (bench.bare !== null) {
    const bare = bench.bare(view, parameters)
    const cached = spot === null ? 0 : spot.message + 1
    list.splice(cached, Infinity, ...bare.slice(cached))
  }
  const withoutThinking = parameters.thinking?.type === 'enabled' && !allowsManualThinking(list)
  const thinking = withoutThinking ? undefined : parameters.thinking
  const segments: Segments = {
    model: parameters.model,
    ...fixed,
    messages: list,
    breakpoint: spot,
    thinking: thinking === undefined ? '' : JSON.stringify(thinking),
    effort: parameters.effort ?? '',
    betas: (parameters.betas ?? []).join(),
    extra: parameters.contextEdits === undefined ? '' : JSON.stringify(parameters.contextEdits),
    lifetime,
    breakpoints: spot === null ? breakpoints.filter((name) => name !== 'messages') : breakpoints,
  }
  const field = lifetime === null ? '' : breakpointField(lifetime)
  const messages = bench.join(list, spot, field)
  const composed = {
    body: bodyOf(segments, messages.json, field, restOf(parameters, thinking)),
    betas: parameters.betas ?? [],
    segments,
    hash: hashOf(segments, messages),
    lastBreakpoint: spot === null ? null : positionOf(list[spot.message]!, spot.block),
    withoutThinking,
  }
  return { ok: true, composed }
}

// Put together with `+`: the engine keeps such a string in pieces, so the messages are not copied once more.
function bodyOf(segments: Segments, messages: string, field: string, rest: readonly string[]): string {
  const { model, tools, system, breakpoints } = segments
  let head = `{"model":${JSON.stringify(model)}`
  if (tools.length > 0) {
    const hasBreakpoint = (_: Segment, index: number) =>
      breakpoints.includes('tools') && index === tools.length - 1
    head += `,"tools":${listJson(tools, hasBreakpoint, field)}`
  }
  if (system.length > 0)
    head += `,"system":${listJson(system, (side) => breakpoints.includes(side.name), field)}`
  return head + ',"messages":[' + messages + ']' + rest.join('') + '}'
}

/** Everything behind the messages: none of it may stand before a breakpoint. */
function restOf(parameters: ComposeParameters, thinking: WireThinking | undefined): readonly string[] {
  const { effort, contextEdits, cacheEdits } = parameters
  const rest: readonly (readonly [string, unknown])[] = [
    ['max_tokens', parameters.maxTokens],
    ['stream', true],
    ['thinking', thinking],
    ['output_config', effort === undefined ? undefined : { effort }],
    ['context_management', contextEdits === undefined ? undefined : { edits: contextEdits }],
    ['cache_edits', cacheEdits?.length === 0 ? undefined : cacheEdits],
  ]
  return rest.flatMap(([name, value]) => (value === undefined ? [] : [`,"${name}":${JSON.stringify(value)}`]))
}

/** Only the last answer can have calls without results: those before it were answered when the next fact came. */
function openCalls(list: readonly SentMessage[]): readonly string[] {
  const at = list.findLastIndex((message) => message.role === 'assistant')
  const calls = list[at]?.calls ?? []
  if (calls.length === 0) return calls
  const answered = new Set(list.slice(at + 1).flatMap((message) => message.answers))
  return calls.filter((call) => !answered.has(call))
}

/** With thinking switched on by hand, the tool loop in progress must begin with reasoning. */
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

// ---- the list of messages ----
// As it is sent, made from a view. Most of a list is the same as in the request before, so it is
// compared by identity first and only what is new is looked at.

/** Which reasoning goes along. */
interface ReasoningChoice {
  readonly model: string
  /** Reasoning is bound to the exact prefix it was made under. */
  readonly bindsPrefix: boolean
  /** The provider refused earlier reasoning: what was made before this place is left out. */
  readonly reasoningFrom?: number | undefined
}

/** Ours included; empty when the view shows nothing. */
type Lister = (view: View, choice: ReasoningChoice) => SentMessage[]

// Stands first where the view begins with an answer: the wire wants a user message there.
const beginning = ownMessage('[The session goes on from here.]')

/** The messages of the view in the last request, what was sent for them, and where that ended for each. */
interface Last {
  readonly choice: string
  readonly messages: readonly Message[]
  readonly list: readonly SentMessage[]
  readonly ends: readonly number[]
}

function createLister(options: SerializerOptions): Lister {
  const serializer = createSerializer(options)
  const reminder = createReminder()
  let last: Last = { choice: '', messages: [], list: [], ends: [] }
  return (view, { model, bindsPrefix, reasoningFrom = 0 }) => {
    const stale: readonly Range[] = bindsPrefix ? view.staleReasoning : []
    const leavesOut = (part: Part): boolean =>
      part.from < reasoningFrom || part.model !== model || holds(stale, part.from)
    const choice = JSON.stringify([model, reasoningFrom, stale])
    const same = last.choice === choice ? sameMessages(last.messages, view) : 0
    const messages = last.messages.slice(0, same)
    const ends = last.ends.slice(0, same)
    const list = last.list.slice(0, ends.at(-1) ?? 0)
    for (const message of view.messages.slice(same)) {
      list.push(...serializer.messages(message, leavesOut))
      messages.push(message)
      ends.push(list.length)
    }
    last = { choice, messages, list, ends }
    return withOurs([...list], view.reminder === null ? null : reminder(view.reminder))
  }
}

function sameMessages(before: readonly Message[], { messages }: View): number {
  const most = Math.min(before.length, messages.length)
  let count = 0
  while (count < most && before[count] === messages.at(count)) count++
  return count
}

function withOurs(list: SentMessage[], reminder: SentMessage | null): SentMessage[] {
  if (list.length === 0) return list
  if (reminder !== null) list.unshift(reminder)
  else if (list[0]!.role === 'assistant') list.unshift(beginning)
  if (list.at(-1)!.role === 'assistant') list.push(continueMessage)
  return list
}

function createReminder(): (text: string) => SentMessage {
  let last: { readonly text: string; readonly message: SentMessage } | null = null
  return (text) => {
    if (last?.text !== text) last = { text, message: ownMessage(text) }
    return last.message
  }
}

// Ranges of places that are in order and apart from each other.

function holds(ranges: readonly Range[], place: number): boolean {
  let low = 0
  let high = ranges.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const range = ranges[middle]!
    if (place < range.from) high = middle - 1
    else if (place > range.to) low = middle + 1
    else return true
  }
  return false
}
