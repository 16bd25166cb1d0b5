// Requests to the Messages API: how the body, its tools and its system prompt are written.
import type { WireThinking } from '../../model/wire.ts'
import {
  createComposerOf,
  type BodyParts,
  type ComposeParameters,
  type Composer,
  type ComposerOptions,
} from '../../request/compose.ts'
import type { Segment, SentMessage } from '../../request/segments.ts'
import { isReasoning } from '../../transcript/content.ts'
import { breakpointField, chooseBreakpoints, listJson, messageWithBreakpoint } from './breakpoints.ts'
import { continueMessage, createSerializer, ownMessage } from './serialize.ts'

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
