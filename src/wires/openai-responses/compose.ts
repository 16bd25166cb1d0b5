// Requests for responses: how the body, its tools and its system prompt are written. The whole list goes along each time and
// nothing is stored: a list that the provider kept would hide what was sent from the layers that make it smaller.
import { createComposerOf, type BodyParts, type Composer } from '../../request/compose.ts'
import type { Segment } from '../../request/segments.ts'
import type { ToolSpec } from '../../transcript/fact.ts'
import { openAiComposing, reasonsSealed, systemParts } from '../openai-caching.ts'
import { continueText } from '../anthropic/block-rules.ts'
import type { Quirks, WireComposerOptions } from '../wire.ts'
import { spelledName } from '../repairing.ts'
import { createResponsesWriter, ownResponsesMessage } from './serialize.ts'

/** A composer of responses, one for a session and a model. */
export function createResponsesComposer(options: WireComposerOptions = {}): Composer {
  const quirks = options.quirks ?? {}
  return createComposerOf({
    writer: createResponsesWriter({ ...options, quirks }),
    own: ownResponsesMessage,
    goOn: ownResponsesMessage(continueText),
    tool: toolOf,
    system: (text) => ({ type: 'input_text', text }),
    ...openAiComposing(quirks),
    body: (parts) => bodyOf(parts, quirks),
  })
}

const toolOf = ({ name, description, input_schema }: ToolSpec): object => ({
  type: 'function',
  name: spelledName(name),
  description,
  parameters: input_schema,
  // Left out it would mean yes, and schemas of tools are not made for that.
  strict: false,
})

function bodyOf(parts: BodyParts, quirks: Quirks): string {
  const { segments, messages, parameters } = parts
  const { model, tools, system } = segments
  let head = `{"model":${JSON.stringify(model)},"store":false`
  if (reasonsSealed(model)) head += ',"include":["reasoning.encrypted_content"]'
  if (tools.length > 0) head += `,"tools":[${tools.map(({ json }) => json).join(',')}]`
  head += ',"input":['
  if (system.length > 0) head += `${systemJson(system, parts, quirks)},`
  return head + messages + ']' + restOf(parameters, tools.length > 0, quirks) + '}'
}

function systemJson(system: readonly Segment[], parts: BodyParts, quirks: Quirks): string {
  const content = systemParts(system, parts, quirks).join(',')
  return `{"type":"message","role":"${quirks.systemRole ?? 'developer'}","content":[${content}]}`
}

function restOf(parameters: BodyParts['parameters'], hasTools: boolean, quirks: Quirks): string {
  const { effort } = parameters
  const asked = quirks.effort === false ? undefined : effort
  const fields: readonly (readonly [string, unknown])[] = [
    ['max_output_tokens', parameters.maxTokens],
    ['stream', true],
    // A summary is all that can be shown of sealed reasoning.
    ['reasoning', asked === undefined ? undefined : { effort: asked, summary: 'auto' }],
    ['parallel_tool_calls', hasTools && quirks.parallelCalls === false ? false : undefined],
    ['prompt_cache_key', quirks.cacheKey === false ? undefined : parameters.cacheKey],
  ]
  return fields
    .flatMap(([name, value]) => (value === undefined ? [] : [`,"${name}":${JSON.stringify(value)}`]))
    .join('')
}
