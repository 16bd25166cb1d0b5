// Requests for generated content: how the body, its tools and its system prompt are written. The model stands in the
// address, not in the body.
import { createComposerOf, type BodyParts, type Composer } from '../../request/compose.ts'
import type { ToolSpec } from '../../transcript/fact.ts'
import { continueText } from '../anthropic/block-rules.ts'
import type { Quirks, WireComposerOptions } from '../wire.ts'
import { spelledName } from '../repairing.ts'
import { asksSignatures, thinkingOf } from './models.ts'
import { createGeminiWriter, ownGeminiMessage } from './serialize.ts'

/** A composer of generated content, one for a session. Generations differ in whether calls are signed. */
export function createGeminiComposer(options: WireComposerOptions = {}): Composer {
  const made = new Map<boolean, Composer>()
  return {
    compose(view, parameters) {
      const signatures = options.quirks?.signatures ?? asksSignatures(parameters.model)
      const composer = made.get(signatures) ?? composerOf(options, { ...options.quirks, signatures })
      made.set(signatures, composer)
      return composer.compose(view, parameters)
    },
  }
}

function composerOf(options: WireComposerOptions, quirks: Quirks): Composer {
  return createComposerOf({
    writer: createGeminiWriter({ ...options, quirks }),
    own: ownGeminiMessage,
    goOn: ownGeminiMessage(continueText),
    tool: toolOf,
    system: (text) => ({ text }),
    breakpoints: () => [],
    field: () => '',
    withBreakpoint: (message) => message.json,
    allowsThinking: () => true,
    body: (parts) => bodyOf(parts, quirks),
  })
}

const toolOf = ({ name, description, input_schema }: ToolSpec): object => ({
  name: spelledName(name),
  description,
  parametersJsonSchema: input_schema,
})

function bodyOf({ segments, messages, parameters }: BodyParts, quirks: Quirks): string {
  const { model, tools, system } = segments
  const json = (list: readonly { readonly json: string }[]): string => list.map((each) => each.json).join(',')
  let head = '{'
  if (system.length > 0) head += `"systemInstruction":{"parts":[${json(system)}]},`
  if (tools.length > 0) head += `"tools":[{"functionDeclarations":[${json(tools)}]}],`
  const thinking = quirks.effort === false ? undefined : thinkingOf(model, parameters.effort)
  const config = JSON.stringify({
    maxOutputTokens: parameters.maxTokens,
    ...(thinking === undefined ? {} : { thinkingConfig: thinking }),
  })
  return head + '"contents":[' + messages + '],"generationConfig":' + config + '}'
}
