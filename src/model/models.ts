// What is known of a model: its row, its window and what a request costs. Pure; users extend the table.
import { defaults } from '../settings/defaults.ts'
import type { Usage } from '../transcript/fact.ts'
import type { Overflow } from './model.ts'
import {
  knownModels,
  messagesMedia,
  plainCapabilities,
  type Capabilities,
  type MediaLimits,
  type ModelInfo,
  type Rates,
} from './model-table.ts'
import { promptTokens } from './usage.ts'

export { messagesMedia } from './model-table.ts'
export type { Capabilities, MediaLimits, ModelInfo, Prices, Rates, ThinkingMode } from './model-table.ts'

/** Rows by plain id. */
export type ModelTable = ReadonlyMap<string, ModelInfo>

/** A row of a user's: what it leaves out is taken from the row we have, or assumed plain. */
export type ModelRow = Partial<Omit<ModelInfo, 'id' | 'capabilities' | 'media'>> & {
  readonly id: string
  readonly capabilities?: Partial<Capabilities> | undefined
  readonly media?: Partial<MediaLimits> | undefined
}

/** The models that are known, with window, prices and abilities; rows of your own come first. */
export function modelTable(extra: readonly ModelRow[] = []): ModelTable {
  const table = new Map(knownModels.map((row) => [row.id, row]))
  for (const row of extra) {
    const id = plainId(row.id)
    const base = lookUp(table, id) ?? plainModel(id)
    const unverified = row.unverified ?? base.unverified.filter((field) => row[field] === undefined)
    const capabilities = { ...base.capabilities, ...row.capabilities }
    const media = { ...base.media, ...row.media }
    table.set(id, { ...base, ...row, id, capabilities, media, unverified })
  }
  return table
}

function plainModel(id: string): ModelInfo {
  return {
    id,
    provider: 'unknown',
    window: defaults.counting.unknownWindowTokens,
    maxOutput: defaults.model.unknownMaxOutputTokens,
    minCacheTokens: defaults.model.unknownMinCacheTokens,
    prices: null,
    capabilities: plainCapabilities,
    media: messagesMedia,
    unverified: ['window', 'maxOutput', 'prices', 'minCacheTokens'],
  }
}

const longSuffix = /\[1m\]$/i

/** The id to put on the wire: the window suffix is ours, the API does not know it. */
export const wireModelId = (id: string): string => id.replace(longSuffix, '')

// What may follow a name without making it another model: a date, a revision, a release channel, a host's version.
// A bare number does: claude-opus-4-9 is not claude-opus-4.
const variants =
  /^(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{3}|-latest|-preview(?:-\d{2}-\d{2,4})?|-exp|-v\d+(?::\d+)?|[@:][a-z0-9._-]+)+$/

/** The row of a model under any of the names hosts give it; the longest name that fits wins. */
export function lookUp(table: ModelTable, id: string): ModelInfo | null {
  const plain = plainId(id)
  let best: ModelInfo | null = null
  for (const [name, row] of table) {
    if (plain === name) return row
    if (
      plain.startsWith(name) &&
      variants.test(plain.slice(name.length)) &&
      name.length > (best?.id.length ?? 0)
    )
      best = row
  }
  return best
}

/** Lower case, without window suffix, host path (`openrouter/anthropic/…`) and region (`us.anthropic.…`). */
function plainId(id: string): string {
  const name = wireModelId(id).toLowerCase().replace(/^.*\//, '')
  const local = name.replace(/^(?:[a-z-]+\.)?anthropic\./, '')
  // Some hosts write the version of a Claude with a dot.
  return local.startsWith('claude-') ? local.replaceAll(/(?<=-\d+)\.(?=\d)/g, '-') : local
}

// ---- window ----

export type WindowSource = 'override' | 'suffix' | 'table' | 'learned' | 'unknown'

export interface Window {
  readonly tokens: number
  /** Who said so. `unknown` is a guess and must be shown as one. */
  readonly from: WindowSource
}

export interface WindowClues {
  readonly model: string
  readonly table: ModelTable
  /** What the user set. */
  readonly override?: number | undefined
  /** From an earlier overflow, see `learnedWindow`. */
  readonly learned?: number | undefined
}

/** The window of a model: the first that answers, most specific first. What is no positive number is no answer. */
export function windowOf(clues: WindowClues): Window {
  const answers: readonly (readonly [WindowSource, number | undefined])[] = [
    ['override', clues.override],
    ['suffix', longSuffix.test(clues.model) ? defaults.model.longWindowTokens : undefined],
    ['table', lookUp(clues.table, clues.model)?.window],
    ['learned', clues.learned],
  ]
  for (const [from, tokens] of answers) {
    if (tokens !== undefined && Number.isFinite(tokens) && tokens > 0)
      return { tokens: Math.floor(tokens), from }
  }
  return { tokens: defaults.counting.unknownWindowTokens, from: 'unknown' }
}

/** What an overflow teaches of the window: limits on bytes or on tokens a minute teach nothing. */
export function learnedWindow(overflow: Overflow): number | null {
  return overflow.perMinute || overflow.bytes ? null : overflow.limitTokens
}

// ---- price ----

/** Dollars of one request, by what was paid for. */
export interface Price {
  readonly fresh: number
  readonly read: number
  readonly write: number
  readonly output: number
  readonly total: number
}

/** What a request cost, or null where no price is known. `promptTokens` chooses the tier; by default the usage does. */
export function price(
  info: ModelInfo,
  usage: Usage,
  size: { readonly promptTokens?: number } = {},
): Price | null {
  const rates = ratesOf(info, size.promptTokens ?? promptTokens(usage))
  if (rates === null) return null
  const written1h = usage.cacheWrite1h ?? 0
  const fresh = (usage.input * rates.input) / perTokens
  const read = (usage.cacheRead * rates.read) / perTokens
  const write = ((usage.cacheWrite - written1h) * rates.write5m + written1h * rates.write1h) / perTokens
  const output = (usage.output * rates.output) / perTokens
  return { fresh, read, write, output, total: fresh + read + write + output }
}

/** The rates of a request of this size. */
export function ratesOf(info: ModelInfo, prompt: number): Rates | null {
  const tier = info.prices?.tier
  return tier !== undefined && prompt > tier.abovePromptTokens ? tier.rates : info.prices
}

/** Prices are for a million tokens. */
const perTokens = 1_000_000

/** A model without its provider's prefix. */
export const plainName = (model: string): string => model.toLowerCase().replace(/^.*\//, '')
