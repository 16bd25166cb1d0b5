// How each wire reads an answer, a refusal and its own cache.
import type { WireName } from '../model/model.ts'
import { anthropicWire } from '../wires/anthropic/wire.ts'
import { geminiWire } from '../wires/gemini/wire.ts'
import { openAiChatWire } from '../wires/openai-chat/wire.ts'
import { openAiResponsesWire } from '../wires/openai-responses/wire.ts'
import type { Wire } from '../wires/wire.ts'

const wires: Readonly<
  Record<WireName, Pick<Wire, 'createReader' | 'parse' | 'failureOf' | 'cacheRules' | 'check'>>
> = {
  anthropic: anthropicWire,
  'openai-chat': openAiChatWire,
  'openai-responses': openAiResponsesWire,
  gemini: geminiWire,
}

/** How the answers of a wire are read. */
export const wireOf = (name: WireName): (typeof wires)[WireName] => wires[name]
