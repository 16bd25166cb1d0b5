// The models we know: data and nothing else. Dollars are for a million tokens; windows and outputs are tokens.
// What no source confirms is named in `unverified`; a price nobody has published is null, never a guess.
// Read on 2026-11-15 from the published price list and from the providers' model pages.
import type { Threshold } from '../projection/budget.ts'

export interface Rates {
  readonly input: number
  readonly output: number
  readonly write5m: number
  readonly write1h: number
  readonly read: number
}
export interface Prices extends Rates {
  /** Above this many prompt tokens the whole request is billed at other rates. */
  readonly tier?: { readonly abovePromptTokens: number; readonly rates: Rates } | undefined
}

export type ThinkingMode = 'adaptive' | 'enabled' | 'disabled' | 'between_tools'

export interface Capabilities {
  /** Reasoning is valid only while every earlier byte is the one it was made under. */
  readonly bindsPrefix: boolean
  /** A message of role `system` may stand among the others. */
  readonly midConversationSystem: boolean
  /** The server can clear old tool results and reasoning by itself. */
  readonly contextEditing: boolean
  /** Cached blocks can be deleted by reference. No public endpoint has it: a row of the settings declares it for one that does. */
  readonly cacheEdits: boolean
  /** The last message may be the beginning of the answer. */
  readonly prefill: boolean
  /** A certain tool, or any tool, can be demanded. */
  readonly forcedTools: boolean
  readonly thinking: readonly ThinkingMode[]
  readonly defaultThinking: 'always' | 'on' | 'off'
  readonly effort: readonly string[]
  /** Reasoning of earlier turns stays in the prompt; otherwise each new input strips it and breaks the cache. */
  readonly keepsOldThinking: boolean
}

/** What one request may carry beside words. What exceeds it is refused with the whole request. */
export interface MediaLimits {
  /** Images and pages of documents together. */
  readonly count: number
  /** The longest side of an image in pixels; a shorter one holds in a request of more than `manyImages`. */
  readonly side: number
  readonly manyImages: number
  readonly manySide: number
  /** Of one image, as base64. */
  readonly imageBytes: number
  /** Of the whole request. */
  readonly requestBytes: number
}

export type Unverified = 'window' | 'maxOutput' | 'prices' | 'minCacheTokens'

export interface ModelInfo {
  readonly id: string
  readonly provider: string
  readonly window: number
  readonly maxOutput: number
  /** A shorter prefix is not cached, and nobody says so. */
  readonly minCacheTokens: number
  readonly prices: Prices | null
  readonly capabilities: Capabilities
  readonly media: MediaLimits
  readonly unverified: readonly Unverified[]
  /** Where a user wants this model's view reduced, over what holds for all. */
  readonly threshold?: Threshold | undefined
}

const M = 1_000_000
const K = 1000

/** What is assumed of a model that a user adds with little more than a name: nothing that could be refused. */
export const plainCapabilities: Capabilities = {
  bindsPrefix: false,
  midConversationSystem: false,
  contextEditing: false,
  cacheEdits: false,
  prefill: false,
  forcedTools: true,
  thinking: [],
  defaultThinking: 'off',
  effort: [],
  keepsOldThinking: false,
}

const MB = 1024 * 1024

/** As the Messages API has them. A request counts with what stands around it, so a little is left. */
export const messagesMedia: MediaLimits = {
  count: 600,
  side: 8000,
  manyImages: 20,
  manySide: 2000,
  imageBytes: 5 * MB,
  requestBytes: 32 * MB - 64 * 1024,
}
/** Models of a small window take fewer. */
const smallWindow = 200 * K
const mediaFor = (window: number): MediaLimits =>
  window > smallWindow ? messagesMedia : { ...messagesMedia, count: 100 }

// Generations of Claude, each as the change from the one before.
const effort45 = ['low', 'medium', 'high']
const effort46 = [...effort45, 'max']
const effort47 = ['low', 'medium', 'high', 'xhigh', 'max']
const gen40: Capabilities = {
  ...plainCapabilities,
  contextEditing: true,
  prefill: true,
  thinking: ['enabled', 'disabled'],
}
const gen45: Capabilities = { ...gen40, keepsOldThinking: true, effort: effort45 }
const gen46: Capabilities = {
  ...gen45,
  prefill: false,
  thinking: ['adaptive', 'enabled', 'disabled'],
  effort: effort46,
}
const gen47: Capabilities = { ...gen46, thinking: ['adaptive', 'disabled'], effort: effort47 }
const gen48: Capabilities = { ...gen47, midConversationSystem: true }
const gen5: Capabilities = { ...gen47, defaultThinking: 'on' }
const opus5: Capabilities = { ...gen5, midConversationSystem: true }
const fable5: Capabilities = { ...opus5, thinking: ['adaptive'], defaultThinking: 'always' }
const fable51: Capabilities = { ...fable5, forcedTools: false, bindsPrefix: true }
const sonnet55: Capabilities = {
  ...gen5,
  bindsPrefix: true,
  forcedTools: false,
  thinking: ['adaptive', 'between_tools'],
}

const claude = (
  id: string,
  window: number,
  maxOutput: number,
  minCacheTokens: number,
  prices: Prices | null,
  capabilities: Capabilities,
  unverified: readonly Unverified[] = [],
): ModelInfo => ({
  id,
  provider: 'anthropic',
  window,
  maxOutput,
  minCacheTokens,
  prices,
  capabilities,
  media: mediaFor(window),
  unverified,
})

const rates = (input: number, output: number, write5m: number, write1h: number, read: number): Rates => ({
  input,
  output,
  write5m,
  write1h,
  read,
})

const fablePrices = rates(10, 50, 12.5, 20, 1)
const fable51Prices = rates(10, 50, 12.5, 20, 0.25)
const opusPrices = rates(5, 25, 6.25, 10, 0.5)
const sonnet4Prices = rates(3, 15, 3.75, 6, 0.3)
const opus4Prices = rates(15, 75, 18.75, 30, 1.5)
const haiku55Prices: Prices = {
  ...rates(0.1, 0.5, 0.125, 0.2, 0.01),
  tier: { abovePromptTokens: 100 * K, rates: rates(0.5, 2.5, 0.625, 1, 0.05) },
}
const unpublished: readonly Unverified[] = ['window', 'prices', 'minCacheTokens']

const claudeModels: readonly ModelInfo[] = [
  claude('claude-fable-5-2', M, 128 * K, 512, null, fable51, unpublished),
  claude('claude-mythos-5-2', M, 128 * K, 512, null, fable5, unpublished),
  claude('claude-fable-5-1', M, 128 * K, 512, fable51Prices, fable51),
  claude('claude-mythos-5-1', M, 128 * K, 512, fable51Prices, fable5),
  claude('claude-fable-5', M, 128 * K, 512, fablePrices, fable5),
  claude('claude-mythos-5', M, 128 * K, 512, fablePrices, fable5),
  claude('claude-opus-5-5', M, 128 * K, 512, rates(4, 20, 5, 8, 0.2), fable51),
  claude('claude-opus-5', M, 128 * K, 512, opusPrices, opus5),
  claude('claude-opus-4-8', M, 128 * K, 1024, opusPrices, gen48),
  claude('claude-opus-4-7', M, 128 * K, 2048, opusPrices, gen47),
  claude('claude-opus-4-6', M, 128 * K, 4096, opusPrices, gen46),
  claude('claude-opus-4-5', 200 * K, 64 * K, 4096, opusPrices, gen45),
  claude('claude-opus-4-1', 200 * K, 32 * K, 1024, opus4Prices, gen40),
  claude('claude-opus-4', 200 * K, 32 * K, 1024, opus4Prices, gen40),
  // The price list says 0.10 for a read, the launch text said 0.20.
  claude('claude-sonnet-5-5', M, 128 * K, 512, rates(2, 10, 2.5, 4, 0.1), sonnet55, ['prices']),
  claude('claude-sonnet-5', M, 128 * K, 1024, rates(2, 10, 2.5, 4, 0.2), gen5),
  claude('claude-sonnet-4-6', M, 128 * K, 1024, sonnet4Prices, gen46),
  claude('claude-sonnet-4-5', 200 * K, 64 * K, 1024, sonnet4Prices, gen40),
  claude('claude-haiku-5-5', M, 128 * K, 512, haiku55Prices, { ...gen5, bindsPrefix: true }),
  claude('claude-haiku-4-5', 200 * K, 64 * K, 4096, rates(1, 5, 1.25, 2, 0.1), gen40),
]

// Others. They have one write price; the longer lifetime has none. Reasoning that is sent back stays in the prompt.
const others: Capabilities = { ...plainCapabilities, keepsOldThinking: true }
const openAiReasoning: Capabilities = {
  ...others,
  effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  defaultThinking: 'on',
}
const geminiThinking: Capabilities = {
  ...others,
  effort: ['minimal', 'low', 'medium', 'high'],
  defaultThinking: 'on',
}
const other = (
  provider: string,
  id: string,
  window: number,
  maxOutput: number,
  minCacheTokens: number,
  prices: Prices,
  unverified: readonly Unverified[] = [],
  capabilities: Capabilities = others,
): ModelInfo => ({
  id,
  provider,
  window,
  maxOutput,
  minCacheTokens,
  prices,
  capabilities,
  media: mediaFor(window),
  unverified,
})

/** A long prompt costs twice the input and half as much again for the output, over the whole request. */
const openAiPrices = (input: number, output: number, read: number, write: number): Prices => ({
  ...rates(input, output, write, write, read),
  tier: { abovePromptTokens: 272 * K, rates: rates(input * 2, output * 1.5, write * 2, write * 2, read * 2) },
})
const gpt = (
  id: string,
  prices: Prices,
  unverified: readonly Unverified[] = ['window', 'maxOutput'],
): ModelInfo => other('openai', id, 1_050_000, 128 * K, 1024, prices, unverified, openAiReasoning)
const gemini = (
  id: string,
  minCacheTokens: number,
  prices: Prices,
  unverified: readonly Unverified[] = ['window', 'maxOutput'],
  maxOutput = 65_536,
): ModelInfo => other('google', id, 1_048_576, maxOutput, minCacheTokens, prices, unverified, geminiThinking)

export const knownModels: readonly ModelInfo[] = [
  ...claudeModels,
  gpt('gpt-6.1-sol', openAiPrices(2, 10, 0.1, 2.5)),
  gpt('gpt-6.1-terra', openAiPrices(1, 5, 0.05, 1.25)),
  gpt('gpt-6-sol', openAiPrices(2, 10, 0.2, 2.5)),
  gpt('gpt-6-luna', openAiPrices(0.1, 0.5, 0.01, 0.125)),
  gpt('gpt-6-astra', openAiPrices(10, 50, 1, 12.5)),
  gpt('gpt-5.6-sol', openAiPrices(4, 20, 0.4, 5)),
  gpt('gpt-5.5', openAiPrices(5, 30, 0.5, 0)),
  gpt('gpt-5.4', openAiPrices(2.5, 15, 0.25, 0), ['window', 'maxOutput', 'prices']),
  other('openai', 'gpt-4o', 128 * K, 16_384, 1024, rates(2.5, 10, 0, 0, 1.25), ['maxOutput', 'prices']),
  gemini('gemini-4-argon', 4096, rates(2, 10, 0, 0, 0.1), [], 32_768),
  gemini('gemini-3.8-flash', 4096, rates(0.75, 3.75, 0, 0, 0.075)),
  gemini('gemini-3.1-pro', 4096, {
    ...rates(2, 12, 0, 0, 0.2),
    tier: { abovePromptTokens: 200 * K, rates: rates(4, 18, 0, 0, 0.4) },
  }),
  gemini('gemini-2.5-pro', 2048, {
    ...rates(1.25, 10, 0, 0, 0.125),
    tier: { abovePromptTokens: 200 * K, rates: rates(2.5, 15, 0, 0, 0.25) },
  }),
]
