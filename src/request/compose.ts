// From a view to the bytes of a request (law C1): without an edit, the next request begins with the bytes of this one
// up to its last breakpoint, breakpoints apart. So the body begins with what the cache is keyed by, in the order it is
// read: model, tools, system, messages; what may differ from one request to the next stands behind.
//
// This is the frame that every wire shares: which messages are new, which reasoning goes along, where the cached part
// ends, and the hash. How a message, a tool and the body are written is a wire's own (`Dialect`).
import type { View, Message, Part } from '../projection/view.ts'
import type { WireCacheEdit, WireContextEdit, WireThinking } from '../model/wire.ts'
import type { Range, ToolSpec } from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import {
  boundaryIn,
  positionOf,
  spotOf,
  type BreakpointName,
  type BreakpointPosition,
} from './breakpoints.ts'
import {
  createJoiner,
  hashOf,
  segment,
  type Joiner,
  type Segment,
  type Segments,
  type SentMessage,
  type WithBreakpoint,
} from './segments.ts'
import type { Lifetime } from '../transcript/lifetime.ts'

export type { BreakpointPosition } from './breakpoints.ts'
export type { Segment, Segments } from './segments.ts'

export interface ComposeParameters extends ReasoningChoice {
  readonly maxTokens: number
  /** Null sends no breakpoints at all; on a wire whose cache needs none it says that nothing is cached. */
  readonly lifetime: Lifetime | null
  /** For a fork that must not write: the block that carried its parent's last breakpoint, or the last up to an entry. */
  readonly breakpointAt?: BreakpointPosition | { readonly seq: Seq } | undefined
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
  readonly contextEdits?: readonly WireContextEdit[] | undefined
  readonly cacheEdits?: readonly WireCacheEdit[] | undefined
  readonly betas?: readonly string[] | undefined
  /** Requests that share a prefix name it, where the provider sends those of one name to one machine. */
  readonly cacheKey?: string | undefined
  /** The provider is asked to compare with the request of an earlier answer, null for the first: no part of the cache key. */
  readonly diagnosis?: { readonly after: string | null; readonly beta: string } | undefined
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

export interface ComposerOptions {
  /** A tag that ends every real input in the request copy (snip); decided once for a session. */
  readonly tag?: ((part: Part) => string | null) | undefined
  /** The base64 of a medium that is kept beside the session; null where it cannot be read. */
  readonly media?: ((blob: string) => string | null) | undefined
  /** Results carry their id as `cache_reference`, so that the server can be told to leave them out. */
  readonly references?: boolean | undefined
}

// ---- what a wire writes ----

export interface MessageWriter {
  /**
   * The messages sent for one of the view, when what only its maker reads (reasoning, items) is left out of the parts
   * named; perhaps none. It keeps what it has written: the same message gives the same objects.
   */
  messages(message: Message, leavesOut: (part: Part) => boolean): readonly SentMessage[]
}

/** What the frame has put together, for the body. */
export interface BodyParts {
  readonly segments: Segments
  /** The items of the list, joined by commas. */
  readonly messages: string
  /** The field of a breakpoint; empty where there is none. */
  readonly field: string
  /** What stood before a boundary ends with the system prompt, and a breakpoint belongs there. */
  readonly boundaryAfterSystem: boolean
  readonly parameters: ComposeParameters
  readonly thinking: WireThinking | undefined
}

export interface Dialect {
  readonly writer: MessageWriter
  /** For messages behind the last breakpoint, where they take another form. */
  readonly bare?: MessageWriter | undefined
  /** A message of ours that no entry stands behind; nothing of it takes a breakpoint. */
  own(text: string): SentMessage
  /** Asks for the next answer, where the list ends with one. */
  readonly goOn: SentMessage
  tool(spec: ToolSpec): object
  /** One side of the system prompt. */
  system(text: string): object
  /** Which parts of the prompt carry breakpoints; none on a wire whose cache needs none. */
  breakpoints(fixed: FixedParts): readonly BreakpointName[]
  /** The field that is a breakpoint. */
  field(lifetime: Lifetime): string
  readonly withBreakpoint: WithBreakpoint
  /** The field that ends what stands before the summary of a boundary, for this model; empty or unset where none does. */
  boundaryField?(model: string): string
  /** Whether the list allows the thinking that is asked for. */
  allowsThinking(thinking: WireThinking, list: readonly SentMessage[]): boolean
  body(parts: BodyParts): string
}

export interface FixedParts {
  readonly tools: readonly Segment[]
  readonly system: readonly Segment[]
}

/** What lives as long as a session: everything that was serialized. */
interface Bench {
  readonly dialect: Dialect
  readonly list: Lister
  /** For messages behind the last breakpoint, where no reference may stand; null where none stands anywhere. */
  readonly bare: Lister | null
  readonly join: Joiner
  readonly fixed: Fixed
}

/** A composer in a dialect, one for a session: it keeps what it has serialized. */
export function createComposerOf(dialect: Dialect): Composer {
  const bench: Bench = {
    dialect,
    list: createLister(dialect, dialect.writer),
    bare: dialect.bare === undefined ? null : createLister(dialect, dialect.bare),
    join: createJoiner(dialect.withBreakpoint),
    fixed: createFixed(dialect),
  }
  return { compose: (view, parameters) => compose(bench, view, parameters) }
}

function compose(bench: Bench, view: View, parameters: ComposeParameters): ComposeOutcome {
  const { dialect } = bench
  const { lifetime } = parameters
  const fixed = bench.fixed(view)
  const breakpoints = lifetime === null ? [] : dialect.breakpoints(fixed)
  const list = bench.list(view, parameters)
  if (list.length === 0)
    return { ok: false, why: 'there is nothing to send: the session shows no message yet' }
  const open = openCalls(list)
  if (open.length > 0) return { ok: false, why: `calls wait for their results: ${open.join(', ')}` }
  const spot = lifetime === null ? null : spotOf(list, parameters.breakpointAt)
  if (bench.bare !== null) {
    const bare = bench.bare(view, parameters)
    const cached = spot === null ? 0 : spot.message + 1
    list.splice(cached, Infinity, ...bare.slice(cached))
  }
  const asked = parameters.thinking
  const withoutThinking = asked !== undefined && !dialect.allowsThinking(asked, list)
  const thinking = withoutThinking ? undefined : asked
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
  const field = lifetime === null ? '' : dialect.field(lifetime)
  const marked = breakpoints.includes('messages') ? spot : null
  const boundaryField = lifetime === null ? '' : (dialect.boundaryField?.(parameters.model) ?? '')
  const boundary = boundaryField === '' ? null : boundaryIn(list)
  const messages = bench.join(list, marked ?? boundary?.spot ?? null, marked === null ? boundaryField : field)
  const boundaryAfterSystem = boundary !== null && boundary.spot === null
  const composed = {
    body: dialect.body({
      segments,
      messages: messages.json,
      field,
      boundaryAfterSystem,
      parameters,
      thinking,
    }),
    betas: [
      ...(parameters.betas ?? []),
      ...(parameters.diagnosis === undefined ? [] : [parameters.diagnosis.beta]),
    ],
    segments,
    hash: hashOf(segments, messages),
    lastBreakpoint: spot === null ? null : positionOf(list[spot.message]!, spot.block),
    withoutThinking,
  }
  return { ok: true, composed }
}

/** Only the last answer can have calls without results: those before it were answered when the next fact came. */
function openCalls(list: readonly SentMessage[]): readonly string[] {
  const at = list.findLastIndex((message) => message.role === 'assistant')
  const calls = list[at]?.calls ?? []
  if (calls.length === 0) return calls
  const answered = new Set(list.slice(at + 1).flatMap((message) => message.answers))
  return calls.filter((call) => !answered.has(call))
}

type Fixed = (view: View) => FixedParts

/** Tools and system as JSON, made once for as long as they stay the same. */
function createFixed(dialect: Dialect): Fixed {
  const cache = new WeakMap<object, readonly Segment[]>()
  const once = (key: object, make: () => readonly Segment[]): readonly Segment[] => {
    const found = cache.get(key) ?? make()
    cache.set(key, found)
    return found
  }
  return (view) => ({
    tools: once(view.tools, () => view.tools.map((tool) => segment(tool.name, dialect.tool(tool)))),
    system: once(view.sections, () => systemSegments(view, dialect)),
  })
}

function systemSegments(view: View, dialect: Dialect): readonly Segment[] {
  return (['static', 'dynamic'] as const).flatMap((side) => {
    const text = view.sections
      .filter((section) => section.side === side)
      .map((section) => section.text)
      .join('\n\n')
    return text.trim() === '' ? [] : [segment(side, dialect.system(text))]
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

// Stands first where the view begins with an answer: every wire wants a user message there.
const beginningText = '[The session goes on from here.]'

/** The messages of the view in the last request, what was sent for them, and where that ended for each. */
interface Last {
  readonly choice: string
  readonly messages: readonly Message[]
  readonly list: readonly SentMessage[]
  readonly ends: readonly number[]
}

function createLister(dialect: Dialect, writer: MessageWriter): Lister {
  const reminder = createReminder(dialect)
  const ours = { beginning: dialect.own(beginningText), goOn: dialect.goOn }
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
      list.push(...writer.messages(message, leavesOut))
      messages.push(message)
      ends.push(list.length)
    }
    last = { choice, messages, list, ends }
    return withOurs([...list], view.reminder === null ? null : reminder(view.reminder), ours)
  }
}

function sameMessages(before: readonly Message[], { messages }: View): number {
  const most = Math.min(before.length, messages.length)
  let count = 0
  while (count < most && before[count] === messages.at(count)) count++
  return count
}

function withOurs(
  list: SentMessage[],
  reminder: SentMessage | null,
  ours: { readonly beginning: SentMessage; readonly goOn: SentMessage },
): SentMessage[] {
  if (list.length === 0) return list
  if (reminder !== null) list.unshift(reminder)
  else if (list[0]!.role === 'assistant') list.unshift(ours.beginning)
  if (list.at(-1)!.role === 'assistant') list.push(ours.goOn)
  return list
}

function createReminder(dialect: Dialect): (text: string) => SentMessage {
  let last: { readonly text: string; readonly message: SentMessage } | null = null
  return (text) => {
    if (last?.text !== text) last = { text, message: dialect.own(text) }
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
