// Models of other vendors: windows, prices and how their caches count. The judge keeps its own numbers, as for its own
// models. Where a vendor publishes no window here (OpenAI since 5.6) the number is a choice of the simulator: it must lie above
// the price step at 272,000 tokens.
import { unknownModel, type SimulatedModel } from '../models.ts'

/** Dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly read: number
  /** What is written to the cache; as `input` where writing costs nothing extra. */
  readonly write: number
}

/** How prefixes are kept without being asked for, or at marks. */
export interface ModelCache {
  readonly minimum: number
  /** Hits are whole multiples of this many tokens. */
  readonly step: number
  readonly lifetimeMs: number
  /** Written tokens are reported and billed, and explicit breakpoints are taken. */
  readonly writes: boolean
  /** `certain`: what is there is read. `chance`: the vendor promises nothing. */
  readonly hits: 'certain' | 'chance'
}

export interface DialectModel {
  readonly id: string
  readonly vendor: 'openai' | 'google' | 'other'
  readonly window: number
  readonly maxOutput: number
  readonly price: ModelPrice
  /** Above so many prompt tokens the whole request costs more. */
  readonly long?: ModelPrice & { readonly above: number }
  readonly cache: ModelCache
  /** Thinks before it answers, and then takes no sampling parameters. */
  readonly reasons: boolean
  /** Calls of the current turn must come back with their signature. */
  readonly signs: boolean
}

const MINUTE_MS = 60_000
const openaiOld: ModelCache = {
  minimum: 1024,
  step: 128,
  lifetimeMs: 5 * MINUTE_MS,
  writes: false,
  hits: 'certain',
}
const openaiNew: ModelCache = { ...openaiOld, lifetimeMs: 30 * MINUTE_MS, writes: true }
const gemini = (minimum: number): ModelCache => ({
  minimum,
  step: 128,
  lifetimeMs: 5 * MINUTE_MS,
  writes: false,
  hits: 'chance',
})

const LONG_OPENAI_PROMPT = 272_000
const LONG_GEMINI_PROMPT = 200_000
const price = (input: number, output: number, read: number, write = input): ModelPrice => ({
  input,
  output,
  read,
  write: write === 0 ? input : write,
})

/** Above 272,000 tokens: twice the input, one and a half times the output, for the whole request. */
const longPrice = ({ input, output, read, write }: ModelPrice): DialectModel['long'] & object => ({
  above: LONG_OPENAI_PROMPT,
  input: input * 2,
  output: output * 1.5,
  read: read * 2,
  write: write * 2,
})

function gpt(id: string, cost: ModelPrice, more: Partial<DialectModel> = {}): DialectModel {
  return {
    id,
    vendor: 'openai',
    window: 1_050_000,
    maxOutput: 128_000,
    price: cost,
    // Models before 5.5 have one price.
    ...(more.reasons === false ? {} : { long: longPrice(cost) }),
    cache: openaiNew,
    reasons: true,
    signs: false,
    ...more,
  }
}

function google(
  id: string,
  cost: ModelPrice,
  minimum: number,
  more: Partial<DialectModel> = {},
): DialectModel {
  return {
    id,
    vendor: 'google',
    window: 1_048_576,
    maxOutput: 65_536,
    price: cost,
    cache: gemini(minimum),
    reasons: true,
    signs: true,
    ...more,
  }
}

const above200k = (cost: ModelPrice): DialectModel['long'] & object => ({
  above: LONG_GEMINI_PROMPT,
  ...cost,
})
const plainOld = { cache: openaiOld, reasons: false } as const

/** The models of other vendors that the simulator knows. */
export const dialectModels: readonly DialectModel[] = [
  gpt('gpt-6.1-sol', price(2, 10, 0.1, 2.5)),
  gpt('gpt-6.1-terra', price(1, 5, 0.05, 1.25)),
  gpt('gpt-6-sol', price(2, 10, 0.2, 2.5)),
  gpt('gpt-6-luna', price(0.1, 0.5, 0.01, 0.125)),
  gpt('gpt-6-astra', price(10, 50, 1, 12.5)),
  gpt('gpt-5.6-sol', price(4, 20, 0.4, 5)),
  gpt('gpt-5.5', price(5, 30, 0.5, 0), { cache: openaiOld }),
  gpt('gpt-4.1', price(2, 8, 0.5), { ...plainOld, window: 1_047_576, maxOutput: 32_768 }),
  gpt('gpt-4o', price(2.5, 10, 1.25), { ...plainOld, window: 128_000, maxOutput: 16_384 }),
  google('gemini-4-argon', price(2, 10, 0.1), 4096, { maxOutput: 32_768 }),
  google('gemini-3.8-flash', price(0.75, 3.75, 0.075), 4096),
  google('gemini-3.1-pro', price(2, 12, 0.2), 4096, { long: above200k(price(4, 18, 0.4)) }),
  google('gemini-2.5-pro', price(1.25, 10, 0.125), 2048, {
    long: above200k(price(2.5, 15, 0.25)),
    signs: false,
  }),
  google('gemini-2.5-flash', price(0.3, 2.5, 0.03), 2048, { signs: false }),
  google('gemini-2.5-flash-lite', price(0.1, 0.4, 0.01), 2048, { signs: false }),
]

/** What a local server runs under any name. */
export const localModel: DialectModel = {
  id: 'local',
  vendor: 'other',
  window: 131_072,
  maxOutput: 32_768,
  price: price(0, 0, 0),
  cache: openaiOld,
  reasons: false,
  signs: false,
}

const VARIANT = /-(?:preview|latest|\d{3}|\d{2}-\d{4}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2})$/

/** A dated or preview id names the same model as the plain one. */
export function findDialectModel(models: readonly DialectModel[], id: string): DialectModel | null {
  const plain = id.replace(VARIANT, '')
  return models.find((each) => each.id === id) ?? models.find((each) => each.id === plain) ?? null
}

/** The counter knows the simulator's own models; these weigh as the older tokenizer does. */
export function weigherOf(model: DialectModel): SimulatedModel {
  return { ...unknownModel, id: model.id, window: model.window, maxOutput: model.maxOutput, generation: 4.1 }
}
