// One request through the judge, without HTTP: rules, dropped reasoning, context edits, size, cache, answer, usage.
// The cache is read when a request begins and written when its response does, so the caller says when that is.
import type { WireError, WireRequest, WireResponse, WireUsage } from '../model/wire.ts'
import type { Answer, Answerer } from './answer.ts'
import { createCache, type PromptCache, type Reading } from './cache.ts'
import type { Prompt } from './prompt.ts'
import { createCounter, type Counter } from './counter.ts'
import { createDigests, type Digests } from './digest.ts'
import { applyContextEdits, withoutBlocks, withoutDeleted, type Edited } from './context-editing.ts'
import { emit, type Emission } from './emission.ts'
import { FILLS_WINDOW_SINCE, findModel, simulatedModels, type SimulatedModel } from './models.ts'
import { judgeRequest, type Judgement } from './rules.ts'
import { invalid } from './rules/problem.ts'
import { BETAS, VERSION_WITHOUT_SAMPLING } from './rules/request-shape.ts'
import { isRecord } from './rules/shape.ts'

export interface Clock {
  now(): number
}

export interface ExchangeOptions {
  readonly answerer: Answerer
  readonly clock: Clock
  readonly models?: readonly SimulatedModel[]
  /** What this server can do beyond the public API. */
  readonly capabilities?: {
    readonly cacheEdits?: boolean
    /** Whether models that are not listed for it take messages of the role `system`: clients send them there first. */
    readonly systemMessages?: 'by-model' | 'all'
  }
  /** Signs reasoning; servers with the same secret accept each other's. */
  readonly secret?: string
  readonly newAccount?: boolean
}

export interface Reply {
  readonly response: SimulatedResponse
  readonly emission: Emission
  readonly reading: Reading
  /** The first byte goes out now: what this request writes to the cache can be read from here on. */
  begin(): void
}

interface SimulatedResponse extends WireResponse {
  readonly usage: WireUsage & Readonly<Record<string, unknown>>
  readonly stop_details: null
  readonly container: null
}

export type ExchangeOutcome =
  | { readonly ok: true; readonly reply: Reply }
  | { readonly ok: false; readonly error: WireError }
type CountOutcome =
  | { readonly ok: true; readonly body: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: WireError }

export interface Exchange {
  create(body: unknown, headers: Readonly<Record<string, string>>): Promise<ExchangeOutcome>
  count(body: unknown, headers: Readonly<Record<string, string>>): CountOutcome
}

/** What reasoning is signed with where nobody chose. */
export const DEFAULT_SECRET = 'palimpsest-simulator'
const ID_DIGITS = 8
/** `max_tokens: 0` only fills the cache. */
const PREWARMED: Answer = { content: [], stop_reason: 'max_tokens', output_tokens: 0 }

type Headers = Readonly<Record<string, string>>
type Accepted = Extract<Judgement, { ok: true }>

/** What lives as long as the exchange. */
interface Bench {
  readonly options: ExchangeOptions
  readonly models: readonly SimulatedModel[]
  readonly counter: Counter
  readonly digests: Digests
  readonly cache: PromptCache
  readonly diagnostics: Diagnostics
  readonly secret: string
  readonly ids: Ids
}

/** Answers one request after the other without HTTP. */
export function createExchange(options: ExchangeOptions): Exchange {
  const models = options.models ?? simulatedModels
  const counter = createCounter()
  const digests = createDigests()
  const bench: Bench = {
    options,
    models,
    counter,
    digests,
    cache: createCache({ models, counter, digests }),
    diagnostics: createDiagnostics(),
    secret: options.secret ?? DEFAULT_SECRET,
    ids: createIds(),
  }
  return {
    create: (body, headers) => create(bench, body, headers),
    count: (body, headers) => count(bench, body, headers),
  }
}

async function create(bench: Bench, body: unknown, headers: Headers): Promise<ExchangeOutcome> {
  const { options, ids } = bench
  const startedAt = options.clock.now()
  const judged = judge(bench, body, headers)
  if (!judged.ok) return judged
  const { request, model } = judged
  const edited = edit(bench, judged)
  const reading = bench.cache.open(edited.request, model, startedAt)
  const promptTokens = reading.prompt.totalTokens
  const tooLong = checkSize(promptTokens, request, model, betasOf(headers))
  if (tooLong !== null) return { ok: false, error: tooLong }
  const turn = ids.turn()
  const visible = withoutDeleted(edited.request)
  const answer =
    request.max_tokens === 0
      ? PREWARMED
      : await options.answerer.answer({ request: visible, headers, turn, now: startedAt })
  const { secret, digests } = bench
  const { prefix, previous } = judged.admission
  const emission = emit(answer, {
    request,
    model,
    promptTokens,
    secret,
    digests,
    prefix,
    previous,
    callId: ids.call,
    nullCitations: (headers['anthropic-version'] ?? VERSION_WITHOUT_SAMPLING) === VERSION_WITHOUT_SAMPLING,
  })
  const response = respond(bench, judged, edited, reading, emission)
  const begin = (): void => {
    reading.commit(options.clock.now())
    if (isAsked(request.diagnostics)) bench.diagnostics.remember(response.id, reading.prompt)
  }
  return { ok: true, reply: { response, emission, reading, begin } }
}

function count(bench: Bench, body: unknown, headers: Headers): CountOutcome {
  const judged = judge(bench, asCreation(body, bench.models), headers)
  if (!judged.ok) return judged
  const edited = edit(bench, judged)
  const tokens = bench.cache.count(edited.request, judged.model)
  if (!isAsked(judged.request.context_management)) return { ok: true, body: { input_tokens: tokens } }
  const cleared = edited.applied.reduce((sum, each) => sum + Number(each['cleared_input_tokens']), 0)
  return {
    ok: true,
    body: { input_tokens: tokens, context_management: { original_input_tokens: tokens + cleared } },
  }
}

function judge({ options, models, secret, digests }: Bench, body: unknown, headers: Headers): Judgement {
  const version = headers['anthropic-version']
  return judgeRequest(body, {
    models,
    betas: betasOf(headers),
    cacheEdits: options.capabilities?.cacheEdits ?? false,
    systemMessages: options.capabilities?.systemMessages ?? 'by-model',
    secret,
    newAccount: options.newAccount ?? true,
    digests,
    ...(version === undefined ? {} : { version }),
  })
}

/** As the request reaches the cache: reasoning that was not admitted is gone, context edits are carried out. */
function edit({ cache, counter }: Bench, { request, model, admission }: Accepted): Edited {
  return applyContextEdits(withoutBlocks(request, admission.dropped), {
    model,
    block: (block) => counter.block(block, model),
    total: (each) => cache.count(each, model),
  })
}

function respond(
  { diagnostics, ids }: Bench,
  { request, admission }: Accepted,
  edited: Edited,
  reading: Reading,
  emission: Emission,
): SimulatedResponse {
  const previousId = request.diagnostics?.previous_message_id ?? null
  return {
    id: ids.message(),
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: emission.blocks.map((each) => each.block),
    stop_reason: emission.stopReason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: isAsked(request.diagnostics) ? diagnostics.compare(previousId, reading.prompt) : null,
    usage: usageOf(reading, emission, request),
    ...(isAsked(request.context_management) ? { context_management: { applied_edits: edited.applied } } : {}),
    ...(admission.transformations.length === 0 ? {} : { input_transformations: admission.transformations }),
  }
}

function isAsked(field: unknown): boolean {
  return field !== undefined && field !== null
}

/** Counting takes the same body, with or without `max_tokens`. */
function asCreation(body: unknown, models: readonly SimulatedModel[]): unknown {
  if (!isRecord(body) || typeof body['model'] !== 'string') return body
  return { max_tokens: findModel(models, body['model'])?.maxOutput ?? 1, ...body }
}

function checkSize(
  tokens: number,
  request: WireRequest,
  model: SimulatedModel,
  betas: readonly string[],
): WireError | null {
  const { window } = model
  if (tokens > window) return invalid(`prompt is too long: ${tokens} tokens > ${window} maximum`)
  const mayFill = model.generation >= FILLS_WINDOW_SINCE || betas.includes(BETAS.windowExceeded)
  if (mayFill || tokens + request.max_tokens <= window) return null
  return invalid(
    `input length and \`max_tokens\` exceed context limit: ${tokens} + ${request.max_tokens} > ${window}, ` +
      'decrease input length or `max_tokens` and try again',
  )
}

function usageOf(reading: Reading, emission: Emission, request: WireRequest): SimulatedResponse['usage'] {
  return {
    ...reading.usage,
    output_tokens: request.max_tokens === 0 ? 0 : emission.outputTokens,
    output_tokens_details: { thinking_tokens: emission.thinkingTokens },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: 'not_available',
    speed: request.speed ?? 'standard',
  }
}

function betasOf(headers: Headers): readonly string[] {
  return (headers['anthropic-beta'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

interface Ids {
  readonly message: () => string
  readonly call: () => string
  readonly turn: () => number
}

/** Counted, so that a run can be repeated to the letter. */
function createIds(): Ids {
  const counts = { message: 0, call: 0, turn: 0 }
  const next = (kind: keyof typeof counts): number => (counts[kind] += 1)
  const id = (prefix: string, value: number): string =>
    `${prefix}_sim${String(value).padStart(ID_DIGITS, '0')}`
  return {
    message: () => id('msg', next('message')),
    call: () => id('toolu', next('call')),
    turn: () => next('turn'),
  }
}

// Who broke the cache: the request is compared with the one that produced an earlier message, level by level.
// The tokens named are those of the earlier prompt that could have been read and now cannot.

type Divergence = 'model_changed' | 'tools_changed' | 'system_changed' | 'messages_changed'
type Diagnosis = {
  readonly cache_miss_reason:
    | { readonly type: Divergence; readonly cache_missed_input_tokens: number }
    | { readonly type: 'previous_message_not_found' }
} | null

interface Diagnostics {
  remember(messageId: string, prompt: Prompt): void
  compare(previousMessageId: string | null, prompt: Prompt): Diagnosis
}

/** Prompts are large; only the newest are kept. */
const KEPT_PROMPTS = 256

function createDiagnostics(): Diagnostics {
  const prompts = new Map<string, Prompt>()
  return {
    remember: (messageId, prompt) => {
      prompts.set(messageId, prompt)
      const [oldest] = prompts.keys()
      if (prompts.size > KEPT_PROMPTS && oldest !== undefined) prompts.delete(oldest)
    },
    compare: (previousMessageId, prompt) => {
      if (previousMessageId === null) return null
      const before = prompts.get(previousMessageId)
      if (before === undefined) return { cache_miss_reason: { type: 'previous_message_not_found' } }
      return divergence(before, prompt)
    },
  }
}

function divergence(before: Prompt, now: Prompt): Diagnosis {
  const from = (type: Divergence, kept: number): Diagnosis => ({
    cache_miss_reason: { type, cache_missed_input_tokens: before.totalTokens - kept },
  })
  if (before.model !== now.model) return from('model_changed', 0)
  if (before.toolsHash !== now.toolsHash) return from('tools_changed', 0)
  if (before.systemHash !== now.systemHash) return from('system_changed', toolsEnd(before))
  const different = before.positions.findIndex((each, index) => {
    const other = now.positions[index]
    return other !== undefined && other.hash !== each.hash
  })
  if (different < 0) return null
  return from('messages_changed', before.positions[different - 1]?.endTokens ?? 0)
}

function toolsEnd(prompt: Prompt): number {
  return prompt.positions.findLast((each) => each.level === 'tools')?.endTokens ?? 0
}

/** Time in the hands of a test: it stands still until it is moved. */
export interface ManualClock extends Clock {
  advance(ms: number): void
}

/** A clock that moves when told. */
export function createManualClock(startMs = 0): ManualClock {
  let now = startMs
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
  }
}
