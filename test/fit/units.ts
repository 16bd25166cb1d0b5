// A list as the blocks that a provider's cache compares, and whether its wire takes it, by a witness that shares no code with the repair.
import {
  checkChatRequest,
  checkGeminiRequest,
  checkRequest,
  checkResponsesRequest,
} from '../../src/simulator/index.ts'
import type { WireName } from '../../src/model/model.ts'
import { models } from './lists.ts'

type Fields = Readonly<Record<string, unknown>>

/** Each block with its role, as text. A string is one text block. */
export function unitsOf(wire: WireName, messages: readonly unknown[]): readonly string[] {
  return messages.flatMap((message) => {
    const fields = message as Fields
    if (wire === 'openai-chat' || wire === 'openai-responses') return [JSON.stringify(fields)]
    const parts = fields[wire === 'gemini' ? 'parts' : 'content']
    const blocks = typeof parts === 'string' ? [{ type: 'text', text: parts }] : (parts as readonly unknown[])
    return blocks.map((block) => `${String(fields['role'])} ${JSON.stringify(block)}`)
  })
}

export const begins = (list: readonly string[], start: readonly string[]): boolean =>
  start.every((unit, at) => list[at] === unit)

const tools = [{ name: 'read', description: 'Reads.', input_schema: { type: 'object', properties: {} } }]

/** What the simulator would refuse it for; none where it takes it. */
export function refusal(wire: WireName, messages: readonly unknown[], model = models[wire]): string | null {
  const said = refusals[wire](messages, model)
  return said === null || said === undefined ? null : JSON.stringify(said)
}
const refusals: Readonly<Record<WireName, (messages: readonly unknown[], model: string) => unknown>> = {
  anthropic: (messages, model) => checkRequest({ model, max_tokens: 100, messages, tools }),
  'openai-chat': (messages, model) => checkChatRequest({ model, messages }),
  'openai-responses': (messages, model) =>
    checkResponsesRequest({
      model,
      input: messages,
      store: false,
      include: ['reasoning.encrypted_content'],
    }),
  gemini: (messages, model) => checkGeminiRequest({ contents: messages }, model),
}
