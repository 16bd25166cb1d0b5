// Responses that were kept: by id, for the tenant that made them, the newest few hundred. Also what a later request is compared with.
import type { Json } from '../../front.ts'
import { stringOf } from '../../../rules/blocks.ts'
import { fault, type ApiFault } from '../errors.ts'
import type { Item, ResponsesBody } from './request.ts'

export interface StoredResponse {
  readonly tenant: string
  readonly response: Json
  /** What was sent, without what an earlier response brought. */
  readonly input: readonly Item[]
  /** The whole conversation up to and including the answer. */
  readonly items: readonly Item[]
}

/** What the prompt of a response was, for telling who broke a prefix. */
export interface ComparedPrompt {
  readonly model: string
  readonly key: string
  readonly effort: string
  readonly text: string
  readonly tools: string
  readonly steps: readonly string[]
  readonly step: number
}

export interface ResponseStore {
  keep(id: string, stored: StoredResponse): void
  find(id: string, tenant: string): StoredResponse | null
  remove(id: string, tenant: string): boolean
  hasItem(id: string, tenant: string): boolean
  item(id: string, tenant: string): Item | null
  remember(id: string, prompt: ComparedPrompt): void
  compared(id: string): ComparedPrompt | null
}

const KEPT = 512

export function createResponseStore(): ResponseStore {
  const responses = new Map<string, StoredResponse>()
  const prompts = new Map<string, ComparedPrompt>()
  const bounded = <T>(map: Map<string, T>, id: string, value: T): void => {
    map.set(id, value)
    const [oldest] = map.keys()
    if (map.size > KEPT && oldest !== undefined) map.delete(oldest)
  }
  const find = (id: string, tenant: string): StoredResponse | null => {
    const found = responses.get(id)
    return found?.tenant === tenant ? found : null
  }
  const item = (id: string, tenant: string): Item | null => {
    for (const stored of responses.values()) {
      const found = stored.tenant === tenant ? stored.items.find((each) => each['id'] === id) : undefined
      if (found !== undefined) return found
    }
    return null
  }
  return {
    keep: (id, stored) => bounded(responses, id, stored),
    find,
    remove: (id, tenant) => find(id, tenant) !== null && responses.delete(id),
    hasItem: (id, tenant) => item(id, tenant) !== null,
    item,
    remember: (id, prompt) => bounded(prompts, id, prompt),
    compared: (id) => prompts.get(id) ?? null,
  }
}

/** What an earlier response brings into a request that names it. */
export function earlierItems(
  body: ResponsesBody,
  store: ResponseStore | null,
  tenant: string,
): { readonly items: readonly Item[] } | { readonly wrong: ApiFault } {
  const id = body['previous_response_id']
  if (typeof id !== 'string') return { items: [] }
  const found = store?.find(id, tenant) ?? null
  if (found !== null) return { items: found.items }
  const message = `Previous response with id '${id}' not found.`
  return { wrong: fault(message, 'previous_response_id', 'previous_response_not_found') }
}

/** An item that is only named, as it was kept. */
export function filledIn(item: Item, store: ResponseStore | null, tenant: string): Item {
  const isBare = item.type === 'reasoning' && (item['encrypted_content'] ?? null) === null
  const isReference =
    item.type === 'item_reference' || (item.type === undefined && item['role'] === undefined)
  if (!isBare && !isReference) return item
  return store?.item(stringOf(item['id']), tenant) ?? item
}

/** What is named where several parts have changed: the first. */
const causes = [
  ['model', 'model_changed'],
  ['key', 'prompt_cache_key_changed'],
  ['effort', 'reasoning_effort_changed'],
  ['text', 'text_format_changed'],
  ['tools', 'tools_changed'],
] as const

/** Why a prefix could not be read, in the words of the vendor; null where all of it could. */
export function diagnosisOf(before: ComparedPrompt | null, now: ComparedPrompt): Json {
  if (before === null) return { type: 'comparison_response_not_found' }
  const differs = before.steps.findIndex((name, index) => now.steps[index] !== name)
  const shared = differs < 0 ? before.steps.length : differs
  const changed = causes.find(([part]) => before[part] !== now[part])
  if (changed === undefined && differs < 0) return { type: 'cache_hit' }
  return {
    type: 'cache_miss',
    reason: changed?.[1] ?? 'input_changed',
    cache_missed_tokens: (before.steps.length - shared) * before.step,
    comparison_reusable_tokens: before.steps.length * before.step,
  }
}
