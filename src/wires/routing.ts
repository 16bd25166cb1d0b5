// From the name of a model to its wire, and from a request to the adapter of whoever it names.
import type { Model, ModelEvent, WireName } from '../model/model.ts'
import { wireModelId, type ModelTable } from '../model/models.ts'
import type { Clock } from '../transcript/ids.ts'
import { anthropicWire } from './anthropic/wire.ts'
import { geminiModel } from './gemini/adapter.ts'
import { geminiWire } from './gemini/wire.ts'
import { openAiChatModel, openAiResponsesModel } from './openai-adapter.ts'
import { openAiChatWire } from './openai-chat/wire.ts'
import { openAiResponsesWire } from './openai-responses/wire.ts'
import { modelNamed, unreachable, type Provider } from './providers.ts'
import type { Spoken, Wire, WireChooser } from './wire.ts'

/** Each wire by its name. */
export const wires: Readonly<Record<WireName, Wire>> = {
  anthropic: anthropicWire as Wire,
  'openai-chat': openAiChatWire as Wire,
  'openai-responses': openAiResponsesWire as Wire,
  gemini: geminiWire as Wire,
}

/** Which wire each model speaks. `gateway`: names without a provider go to a server of the Messages API, whatever they are. */
export function wireChooser(
  providers: ReadonlyMap<string, Provider>,
  table: ModelTable,
  { gateway = false }: { readonly gateway?: boolean } = {},
): WireChooser {
  const kept = new Map<string, Spoken>()
  const choose = (modelId: string): Spoken => {
    const { provider, model } = modelNamed(modelId, providers, table)
    // A gateway of the Messages API knows its own names, with a slash or without.
    if (provider === null || (gateway && !modelId.includes('/')))
      return { wire: wires.anthropic, model: gateway ? wireModelId(modelId) : model }
    return { wire: wires[provider.wire], model, provider: provider.name, quirks: provider.quirks }
  }
  return (modelId) => {
    const spoken = kept.get(modelId) ?? choose(modelId)
    kept.set(modelId, spoken)
    return spoken
  }
}

export interface RouterOptions {
  readonly providers: ReadonlyMap<string, Provider>
  /** Answers what is of the Messages API; null where that cannot be reached. */
  readonly anthropic: Model | null
  /** The key of a provider, where one was found. */
  readonly keys: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** One model for all providers: each request goes to the one it names. */
export function routedModel(options: RouterOptions): Model {
  const made = new Map<string, Model>()
  const modelFor = (name: string | undefined): Model => {
    if (name === undefined) return options.anthropic ?? refusing(noAnthropic)
    const model = made.get(name) ?? reached(name, options)
    made.set(name, model)
    return model
  }
  return {
    stream: (request, signal) => modelFor(request.provider).stream(request, signal),
    count: async (request, signal) => (await modelFor(request.provider).count?.(request, signal)) ?? null,
  }
}

function reached(name: string, { providers, keys, clock, fetch }: RouterOptions): Model {
  const provider = providers.get(name)
  if (provider === undefined)
    return refusing(`there is no provider ${name}; the setting providers names them`)
  const why = unreachable(provider, keys[name])
  if (why !== null) return refusing(why)
  const { keyHeader, baseUrl, query } = provider
  const options = { apiKey: keys[name], baseUrl, query, clock, fetch }
  if (provider.wire === 'gemini') return geminiModel(options)
  return provider.wire === 'openai-responses'
    ? openAiResponsesModel({ ...options, keyHeader })
    : openAiChatModel({ ...options, keyHeader })
}

const noAnthropic = 'no API key for the Messages API: set ANTHROPIC_API_KEY, or run pal login'

const refusing = (message: string): Model => ({
  async *stream(): AsyncGenerator<ModelEvent, void> {
    yield { type: 'failed', failure: { code: 'unauthorized', message, status: null }, partial: null }
  },
})
