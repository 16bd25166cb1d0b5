// Requests to the Messages API: how the body, its tools and its system prompt are written.
import type { WireThinking, CacheControl } from '../../model/wire.ts'
import {
  createComposerOf,
  type BodyParts,
  type Composed,
  type ComposeParameters,
  type Composer,
  type ComposerOptions,
} from '../../request/compose.ts'
import { type Segment, type SentMessage, withField } from '../../request/segments.ts'
import { isReasoning } from '../../transcript/content.ts'
import { continueMessage, createSerializer, ownMessage, messageJson } from './serialize.ts'
import type { BreakpointName } from '../../request/breakpoints.ts'
import type { Lifetime } from '../../transcript/lifetime.ts'

/** A composer of requests to the Messages API, one for a session: it keeps what it has serialized. */
export function createComposer(options: ComposerOptions = {}): Composer {
  return createComposerOf({
    writer: createSerializer(options),
    bare:
      options.references === true ? createSerializer({ tag: options.tag, media: options.media }) : undefined,
    own: ownMessage,
    goOn: continueMessage,
    tool: (spec) => spec,
    system: (text) => ({ type: 'text', text }),
    breakpoints: chooseBreakpoints,
    field: breakpointField,
    withBreakpoint: messageWithBreakpoint,
    allowsThinking: (thinking, list) => thinking.type !== 'enabled' || allowsManual(list),
    body: bodyOf,
  })
}

// Put together with `+`: the engine keeps such a string in pieces, so the messages are not copied once more.
function bodyOf({ segments, messages, field, parameters, thinking }: BodyParts): string {
  const { model, tools, system, breakpoints } = segments
  const rest = restOf(parameters, thinking)
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

/** The body as it was composed, its list of messages left empty: for whoever knows them already. */
export function frameOf({ segments, withoutThinking }: Composed, parameters: ComposeParameters): string {
  const { lifetime } = segments
  return bodyOf({
    segments,
    messages: '',
    field: lifetime === null ? '' : breakpointField(lifetime),
    boundaryAfterSystem: false,
    parameters,
    thinking: withoutThinking ? undefined : parameters.thinking,
  })
}

/** The messages of what was composed, each as it stands in the body. */
export function messageTexts({ segments }: Composed): readonly string[] {
  const { messages, breakpoint, breakpoints, lifetime } = segments
  const marked = breakpoint !== null && breakpoints.includes('messages') ? breakpoint : null
  return messages.map((message, index) =>
    index === marked?.message && lifetime !== null
      ? messageWithBreakpoint(message, marked.block, breakpointField(lifetime))
      : message.json,
  )
}

/** Everything behind the messages: none of it may stand before a breakpoint. */
function restOf(parameters: ComposeParameters, thinking: WireThinking | undefined): readonly string[] {
  const { effort, contextEdits, cacheEdits, diagnosis } = parameters
  const rest: readonly (readonly [string, unknown])[] = [
    ['max_tokens', parameters.maxTokens],
    ['stream', true],
    ['thinking', thinking],
    ['output_config', effort === undefined ? undefined : { effort }],
    ['context_management', contextEdits === undefined ? undefined : { edits: contextEdits }],
    ['cache_edits', cacheEdits?.length === 0 ? undefined : cacheEdits],
    ['diagnostics', diagnosis === undefined ? undefined : { previous_message_id: diagnosis.after }],
  ]
  return rest.flatMap(([name, value]) => (value === undefined ? [] : [`,"${name}":${JSON.stringify(value)}`]))
}

/** With thinking switched on by hand, the tool loop in progress must begin with reasoning. */
function allowsManual(list: readonly SentMessage[]): boolean {
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

// Cache breakpoints of the Messages API. At most four: last tool, static block, dynamic block, and exactly one in the
// messages.

/** One for each part of the prompt that is there. */
function chooseBreakpoints(fixed: {
  readonly tools: readonly Segment[]
  readonly system: readonly Segment[]
}): readonly BreakpointName[] {
  const has = (side: 'static' | 'dynamic') => fixed.system.some((segment) => segment.name === side)
  const names: BreakpointName[] = ['messages']
  if (has('dynamic')) names.push('dynamic')
  if (has('static')) names.push('static')
  if (fixed.tools.length > 0) names.push('tools')
  return names
}

/** The cache breakpoint is written onto a block as this field. */
function breakpointField(lifetime: Lifetime): string {
  const control: CacheControl = lifetime === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  return `"cache_control":${JSON.stringify(control)}`
}

/** Segments as one JSON list, with the breakpoint on those named. */
function listJson(
  segments: readonly Segment[],
  hasBreakpoint: (segment: Segment, index: number) => boolean,
  field: string,
): string {
  const items = segments.map((segment, index) =>
    hasBreakpoint(segment, index) ? withField(segment.json, field) : segment.json,
  )
  return `[${items.join(',')}]`
}

/** A message with the breakpoint on one of its blocks. */
const messageWithBreakpoint = ({ role, blocks }: SentMessage, at: number, field: string): string =>
  messageJson(
    role,
    blocks.map(({ json }, index) => (index === at ? withField(json, field) : json)),
  )
