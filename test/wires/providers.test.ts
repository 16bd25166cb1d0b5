// Who is asked, by the name of a model: rows of ours, rows of the settings, and what must be known before anything is sent.
import { describe, expect, it } from 'vitest'
import { modelTable } from '../../src/model/models.ts'
import { unknownOf } from '../../src/preset/model-choice.ts'
import { check } from '../../src/settings/schema.ts'
import { modelNamed, providersOf, unreachable } from '../../src/wires/providers.ts'
import { wireChooser } from '../../src/wires/routing.ts'

const table = modelTable()
const providers = providersOf({ home: { baseUrl: 'http://10.0.0.2:8000/v1', quirks: { effort: false } } })
const spoken = (id: string, gateway = false) => {
  const { wire, model, provider } = wireChooser(providers, table, { gateway })(id)
  return `${wire.name} ${provider ?? '–'} ${model}`
}

describe('a model by its name', () => {
  it('[WS2] is asked of the provider before the slash, and without one of its maker or the Messages API', () => {
    expect(spoken('claude-opus-5')).toBe('anthropic – claude-opus-5')
    expect(spoken('anthropic/claude-opus-5')).toBe('anthropic – claude-opus-5')
    expect(spoken('openai/gpt-6-sol')).toBe('openai-responses openai gpt-6-sol')
    expect(spoken('gpt-6-sol')).toBe('openai-responses openai gpt-6-sol')
    expect(spoken('google/gemini-4-argon')).toBe('gemini google gemini-4-argon')
    expect(spoken('ollama/qwen3:8b')).toBe('openai-chat ollama qwen3:8b')
    expect(spoken('openrouter/anthropic/claude-opus-5')).toBe(
      'openai-chat openrouter anthropic/claude-opus-5',
    )
    expect(spoken('home/mine')).toBe('openai-chat home mine')
    // Behind a gateway of the Messages API a name is what that gateway calls it.
    expect(spoken('gpt-6-sol', true)).toBe('anthropic – gpt-6-sol')
    expect(spoken('bedrock/claude-opus-5')).toBe('anthropic – bedrock/claude-opus-5')
    expect(spoken('anthropic/claude-opus-5', true)).toBe('anthropic – anthropic/claude-opus-5')
    // What is meant for it goes nowhere else, unless the settings name the provider.
    expect([...providersOf({ home: {} }, { gateway: true }).keys()]).toEqual(['home'])
  })

  it('[WS2] has the quirks of its server, those of the settings over ours', () => {
    expect(providers.get('home')?.quirks).toEqual({ effort: false })
    expect(providersOf({ deepseek: { quirks: { images: true } } }).get('deepseek')?.quirks).toMatchObject({
      images: true,
      reasoningBack: true,
    })
  })

  it('[WS2] is refused where key or address are missing, with what helps', () => {
    expect(unreachable(providers.get('openai')!, undefined)).toMatch(/OPENAI_API_KEY.*pal login openai/)
    expect(unreachable(providers.get('openai')!, 'sk')).toBe(null)
    expect(unreachable(providers.get('ollama')!, undefined)).toBe(null)
    expect(unreachable(providers.get('azure')!, 'key')).toMatch(/providers\.azure\.baseUrl/)
  })

  it('[WS3] must have a window and a price, and whoever lacks one is told the setting', () => {
    expect(unknownOf({}, 'openai/gpt-6-sol')).toBe(null)
    expect(unknownOf({}, 'claude-unheard-of')).toBe(null)
    expect(unknownOf({}, 'openai/gpt-unheard-of')).toMatch(
      /the window of openai\/gpt-unheard-of .* models in the settings/,
    )
    expect(unknownOf({ window: 8000 }, 'openai/gpt-unheard-of')).toMatch(
      /the price of .* models in the settings/,
    )
    // Nobody bills what runs at home.
    expect(unknownOf({}, 'ollama/qwen3:8b')).toMatch(/the window of ollama\/qwen3:8b/)
    expect(unknownOf({ models: [{ id: 'qwen3:8b', window: 32_768 }] }, 'ollama/qwen3:8b')).toBe(null)
    expect(modelNamed('ollama/qwen3:8b', providers, table).model).toBe('qwen3:8b')
  })

  it('[WS2] is a setting that is checked whole', () => {
    expect(check('providers', { mine: { wire: 'openai-chat', baseUrl: 'http://localhost:1/v1' } }).ok).toBe(
      true,
    )
    expect(check('providers', { mine: { wire: 'telex' } })).toMatchObject({
      ok: false,
      where: 'providers.mine.wire',
    })
    expect(check('providers', { 'Not a name': {} }).ok).toBe(false)
  })
})
