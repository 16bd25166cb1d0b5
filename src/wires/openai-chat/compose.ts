// Requests for chat completions: how the body, its tools and its system prompt are written.
import { objectIn } from '../../transcript/json.ts'
import { createComposerOf, type BodyParts, type Composer } from '../../request/compose.ts'
import type { Segment } from '../../request/segments.ts'
import type { ToolSpec } from '../../transcript/fact.ts'
import { continueText } from '../anthropic/block-rules.ts'
import { openAiComposing, systemParts } from '../openai-caching.ts'
import { textOf } from '../reading.ts'
import type { Quirks, WireComposerOptions } from '../wire.ts'
import { spelledName } from '../repairing.ts'
import { createChatWriter, ownChatMessage } from './serialize.ts'

/** A composer of chat completions, one for a session and a model. */
export function createChatComposer(options: WireComposerOptions = {}): Composer {
  const quirks = options.quirks ?? {}
  return createComposerOf({
    writer: createChatWriter({ ...options, quirks }),
    own: (text) => ownChatMessage(text, quirks),
    goOn: ownChatMessage(continueText, quirks),
    tool: toolOf,
    system: (text) => ({ type: 'text', text }),
    ...openAiComposing(quirks),
    body: (parts) => bodyOf(parts, quirks),
  })
}

const toolOf = ({ name, description, input_schema }: ToolSpec): object => ({
  type: 'function',
  function: { name: spelledName(name), description, parameters: input_schema },
})

function bodyOf(parts: BodyParts, quirks: Quirks): string {
  const { segments, messages, parameters } = parts
  const { model, tools, system } = segments
  let head = `{"model":${JSON.stringify(model)}`
  if (tools.length > 0) head += `,"tools":[${tools.map(({ json }) => json).join(',')}]`
  head += ',"messages":['
  if (system.length > 0) head += `${systemJson(system, parts, quirks)},`
  return head + messages + ']' + restOf(parameters, tools.length > 0, quirks) + '}'
}

function systemJson(system: readonly Segment[], parts: BodyParts, quirks: Quirks): string {
  const role = quirks.systemRole ?? 'developer'
  if (quirks.textContent === true) {
    const text = system.map(({ json }) => textOf(objectIn(json)?.['text']) ?? '').join('\n\n')
    return JSON.stringify({ role, content: text })
  }
  return `{"role":"${role}","content":[${systemParts(system, parts, quirks).join(',')}]}`
}

/** Everything behind the messages may differ from one request to the next. */
function restOf(parameters: BodyParts['parameters'], hasTools: boolean, quirks: Quirks): string {
  const fields: readonly (readonly [string, unknown])[] = [
    [quirks.maxTokensField ?? 'max_completion_tokens', parameters.maxTokens],
    ['stream', true],
    ['stream_options', quirks.streamUsage === false ? undefined : { include_usage: true }],
    ['reasoning_effort', quirks.effort === false ? undefined : parameters.effort],
    ['parallel_tool_calls', hasTools && quirks.parallelCalls === false ? false : undefined],
    ['prompt_cache_key', quirks.cacheKey === false ? undefined : parameters.cacheKey],
    ['cache_control', quirks.rootCacheControl === true ? { type: 'ephemeral' } : undefined],
  ]
  return fields
    .flatMap(([name, value]) => (value === undefined ? [] : [`,"${name}":${JSON.stringify(value)}`]))
    .join('')
}
