// What an embedding program sees: the request has the type of the wire that was named. Checked by the compiler (npm run check).
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  anthropicWire,
  createEngine,
  type createPreset,
  geminiWire,
  inMemoryStore,
  modelTable,
  openAiChatWire,
  openAiResponsesWire,
  providersOf,
  scriptedModel,
  wireChooser,
  type AnthropicRequest,
  type ChatRequest,
  type ChoosingOptions,
  type EngineOptions,
  type GeminiRequest,
  type Preset,
  type ResponsesRequest,
  type Session,
} from '../../src/index.ts'

const store = inMemoryStore()
const models = modelTable()
type RequestOf<S extends { request(): Promise<unknown> }> = Awaited<ReturnType<S['request']>>

describe('session.request()', () => {
  it('[EM8] has the type of the wire, of the Messages API where none is named, and none that could be wrong where it may change', async () => {
    const plain = await createEngine({ store, modelId: 'claude-opus-5' }).open()
    const messages = await createEngine({ store, modelId: 'claude-opus-5', wire: anthropicWire }).open()
    const chat = await createEngine({ store, modelId: 'gpt-6-sol', wire: openAiChatWire }).open()
    const responses = await createEngine({ store, modelId: 'gpt-6-sol', wire: openAiResponsesWire }).open()
    const gemini = await createEngine({ store, modelId: 'gemini-4-argon', wire: geminiWire }).open()
    const any = await createEngine({
      store,
      modelId: 'claude-opus-5',
      wire: wireChooser(providersOf(), models),
    }).open()
    expectTypeOf<RequestOf<typeof plain>>().toEqualTypeOf<AnthropicRequest>()
    expectTypeOf<RequestOf<typeof messages>>().toEqualTypeOf<AnthropicRequest>()
    expectTypeOf<RequestOf<typeof chat>>().toEqualTypeOf<ChatRequest>()
    expectTypeOf<RequestOf<typeof responses>>().toEqualTypeOf<ResponsesRequest>()
    expectTypeOf<RequestOf<typeof gemini>>().toEqualTypeOf<GeminiRequest>()
    expectTypeOf<RequestOf<typeof any>>().toEqualTypeOf<unknown>()
    for (const session of [plain, messages, chat, responses, gemini]) await session.say('hello')
    expect((await plain.request()).messages).toHaveLength(1)
    expect((await messages.request()).messages).toHaveLength(1)
    expect((await chat.request()).messages).toHaveLength(1)
    expect((await responses.request()).input).toHaveLength(1)
    expect((await gemini.request()).contents).toHaveLength(1)
    for (const session of [plain, messages, chat, responses, gemini, any]) await session.close()
    // The model makes no difference to the type, and is checked against the wire when it is asked.
    const answered = createEngine({
      store,
      modelId: 'gpt-6-sol',
      wire: openAiChatWire,
      model: scriptedModel([]),
    })
    expectTypeOf<RequestOf<Awaited<ReturnType<typeof answered.open>>>>().toEqualTypeOf<ChatRequest>()
  })

  it('[EM8] is unknown where the wire is chosen by the model: of createPreset, of options with a chooser, of a session of nobody in particular', () => {
    type PresetSession = Awaited<ReturnType<Preset['engine']['open']>>
    expectTypeOf<RequestOf<PresetSession>>().toEqualTypeOf<unknown>()
    expectTypeOf<ReturnType<typeof createPreset>>().toEqualTypeOf<Preset>()
    expectTypeOf<RequestOf<Session>>().toEqualTypeOf<unknown>()
    // A chooser does not pass for the wire of options that say what a request is.
    expectTypeOf<ChoosingOptions>().not.toExtend<EngineOptions>()
    expectTypeOf<Session<ChatRequest>>().toExtend<Session>()
    expectTypeOf<Session>().not.toExtend<Session<ChatRequest>>()
  })
})
