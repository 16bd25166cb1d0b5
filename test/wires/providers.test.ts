// Who is asked, by the name of a model: rows of ours, rows of the settings, and what must be known before anything is sent.
import { describe, expect, it } from 'vitest'
import { modelTable } from '../../src/model/models.ts'
import { unknownOf } from '../../src/preset/model-choice.ts'
import { check } from '../../src/settings/schema.ts'
import { providersOf, unreachable } from '../../src/wires/providers.ts'
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

  const prices = '{"input": 1, "output": 5, "read": 0.1, "write5m": 1, "write1h": 1}'
  const row = (id: string) =>
    `models in the settings, as {"id": "${id}", "window": 128000, "prices": ${prices}}`
  const rows = {
    kimi: { wire: 'openai-responses', baseUrl: 'https://x/v1', keyVariable: 'KIMI_KEY' },
  } as const

  it.each(['', 'openai/', 'google/', 'azure/', 'openrouter/', 'deepseek/', 'groq/', 'litellm/', 'kimi/'])(
    '[WS3] %sMODEL must have a window and a price, and whoever lacks one is told the setting in these words',
    (provider) => {
      const id = `${provider}unheard-of`
      const settings = { providers: rows }
      expect(unknownOf(settings, id)).toBe(
        `the window of ${id} is not known: add it to ${row('unheard-of')}; or set window`,
      )
      const priceless = `the price of ${id} is not known: add it to ${row('unheard-of')}`
      expect(unknownOf({ ...settings, window: 8000 }, id)).toBe(priceless)
      expect(unknownOf({ ...settings, models: [{ id: 'unheard-of', window: 8000 }] }, id)).toBe(priceless)
      const known = {
        id: 'unheard-of',
        window: 8000,
        prices: { input: 1, output: 2, read: 0.1, write5m: 1, write1h: 1 },
      }
      expect(unknownOf({ ...settings, models: [known] }, id)).toBe(null)
    },
  )

  it.each(['ollama', 'vllm', 'lmstudio', 'own'])(
    '[WS3] %s bills nobody: its models must have a window alone',
    (provider) => {
      const settings = { providers: { own: { baseUrl: 'http://10.0.0.2/v1', keyVariable: null } } }
      expect(unknownOf(settings, `${provider}/qwen3:8b`)).toBe(
        `the window of ${provider}/qwen3:8b is not known: add it to models in the settings, as {"id": "qwen3:8b", "window": 128000}; or set window`,
      )
      const models = [{ id: 'qwen3:8b', window: 32_768 }]
      expect(unknownOf({ ...settings, models }, `${provider}/qwen3:8b`)).toBe(null)
      expect(unknownOf({ ...settings, window: 8000 }, `${provider}/qwen3:8b`)).toBe(null)
    },
  )

  it('[WS3] behind a server of the user, names are what that server calls them; those of known makers are known', () => {
    expect(unknownOf({ baseUrl: 'https://gateway/' }, 'unheard-of')).toBe(null)
    expect(unknownOf({ baseUrl: 'https://gateway/' }, 'bedrock/claude')).toBe(null)
    for (const id of [
      'claude-opus-5',
      'anthropic/claude-opus-5',
      'openai/gpt-6-sol',
      'google/gemini-4-argon',
    ])
      expect(unknownOf({}, id), id).toBe(null)
  })

  it('[WS6] of a provider that nobody knows says which there are and how one is added', () => {
    expect(unknownOf({ providers: { work: {} } }, 'nosuch/x')).toBe(
      `nosuch/x names the provider nosuch, and there is none: there are anthropic, openai, google, azure, openrouter, deepseek, groq, ollama, vllm, lmstudio, litellm, work; the setting providers adds one, as pal config providers '{"nosuch": {"wire": "openai-chat", "baseUrl": "https://…/v1", "keyVariable": "…"}}'`,
    )
    // What the sentence shows is a row that the setting takes.
    const shown = {
      nosuch: { wire: 'openai-chat', baseUrl: 'https://x/v1', keyVariable: 'NOSUCH_KEY' },
    } as const
    expect(check('providers', shown).ok).toBe(true)
    expect(unknownOf({ providers: shown }, 'nosuch/x')).toMatch(/^the window of nosuch\/x/)
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
