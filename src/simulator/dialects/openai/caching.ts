// What a request of OpenAI says about its cache: the key it is routed by, implicit or explicit, how long.
import type { DialectBench, Json } from '../front.ts'
import type { DialectModel } from '../models.ts'
import type { PrefixReading, RenderedPrompt } from '../prefix-cache.ts'
import type { Quirks } from './quirks.ts'
import { isRecord } from '../../rules/shape.ts'
import { fault, type ApiFault } from './errors.ts'
import { isBoolean, isString, fieldsOf, oneOf, orNull, type ApiCheck, type ApiFields } from './shape.ts'

export interface CacheWish {
  readonly key: string
  readonly mode: 'implicit' | 'explicit'
  readonly lifetimeMs: number
  readonly comparedWith: string | null
}

const LIFETIMES: Readonly<Record<string, number>> = {
  '30m': 30 * 60_000,
  '12h': 12 * 3_600_000,
  '24h': 24 * 3_600_000,
}

/** The longer lifetime came to Responses alone. */
export const markShape = (...lifetimes: readonly string[]): ApiCheck =>
  orNull(fieldsOf({ mode: oneOf('explicit') }, { ttl: oneOf(...lifetimes) }))

export const cacheFields = (...lifetimes: readonly string[]): ApiFields => ({
  prompt_cache_key: orNull(isString),
  prompt_cache_retention: orNull(oneOf('in_memory', '24h')),
  prompt_cache_options: fieldsOf(
    {},
    {
      mode: oneOf('implicit', 'explicit'),
      ttl: oneOf(...lifetimes),
      prewarm: orNull(isBoolean),
      comparison_response_id: orNull(isString),
    },
  ),
})

function cacheWishOf(body: Json, model: DialectModel): CacheWish {
  const options = isRecord(body['prompt_cache_options']) ? body['prompt_cache_options'] : {}
  const kept = body['prompt_cache_retention'] === '24h' ? '24h' : options['ttl']
  const key = body['prompt_cache_key']
  const compared = options['comparison_response_id']
  return {
    key: typeof key === 'string' ? key : '',
    mode: options['mode'] === 'explicit' ? 'explicit' : 'implicit',
    lifetimeMs: (typeof kept === 'string' ? LIFETIMES[kept] : undefined) ?? model.cache.lifetimeMs,
    comparedWith: typeof compared === 'string' ? compared : null,
  }
}

/** The prefix that a request of either wire of OpenAI is read against, and what it wished for. */
export function openPrefix(
  bench: DialectBench,
  { quirks, tenant }: { readonly quirks: Quirks; readonly tenant: string },
  body: Json,
  model: DialectModel,
  prompt: RenderedPrompt,
  startedAt: number,
): { readonly reading: PrefixReading; readonly wish: CacheWish } {
  const wish = cacheWishOf(body, model)
  const { key, mode, lifetimeMs } = wish
  const scope = `${quirks.server}|${tenant}|${key}`
  const reading = bench.cache.open({ prompt, model, scope, startedAt, mode, lifetimeMs, isLucky: true })
  return { reading, wish }
}

/** Explicit control came with the models that bill writes. */
export function checkCaching(body: Json, model: DialectModel, marks: readonly string[]): ApiFault | null {
  if (model.cache.writes || model.vendor === 'other') return null
  const refused = body['prompt_cache_options'] === undefined ? marks[0] : 'prompt_cache_options'
  if (refused === undefined) return null
  const message = `Unsupported parameter: '${refused}' is not supported with this model.`
  return fault(message, refused, 'unsupported_parameter')
}

export function lifetimeOfMark(mark: unknown): number | null {
  if (!isRecord(mark)) return null
  const ttl = mark['ttl']
  return typeof ttl === 'string' ? (LIFETIMES[ttl] ?? null) : null
}
