// One request of Responses through the judge: shape, model, what was kept, items, size, cache, answer. Compacting asks whoever
// answers for a summary, as a model does, and so takes a turn of a script.
import { hash } from 'node:crypto'
import { isRecord, recordsIn } from '../../../rules/shape.ts'
import {
  accountOf,
  askModel,
  isSpokenRefusal,
  numbered,
  type DialectBench,
  type DialectCount,
  type DialectOutcome,
  type Refused,
  type Json,
} from '../../front.ts'
import type { DialectModel } from '../../models.ts'
import type { PrefixReading, RenderedPrompt } from '../../prefix-cache.ts'
import { checkCaching, openPrefix } from '../caching.ts'
import { modelFor, noSuchModel } from '../chat/exchange.ts'
import { fault, refusedBy, type ApiFault } from '../errors.ts'
import type { Quirks } from '../quirks.ts'
import {
  outputItems,
  ownMessages,
  responseFrames,
  responseObject,
  responsesUsage,
  summarised,
  type AcceptedItems,
  type Answered,
  type ItemContext,
} from './answer.ts'
import { itemsOf, responsesPrompt, responsesRequest, responsesThinks, sealedWeight } from './reading.ts'
import { checkResponsesShape, type Item, type ResponsesBody } from './request.ts'
import { checkItems, checkResponsesParameters } from './rules.ts'
import { diagnosisOf, earlierItems, filledIn, type ComparedPrompt, type ResponseStore } from './store.ts'
import { stringOf } from '../../../rules/blocks.ts'

export interface ResponsesAsk {
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly tenant: string
  readonly quirks: Quirks
  readonly store: ResponseStore
}

export interface ResponsesJudge {
  readonly models: readonly DialectModel[]
  readonly quirks: Quirks
  readonly secret: string | null
  readonly tenant: string | null
  readonly store: ResponseStore | null
}

type Judged =
  | { readonly ok: true; readonly accepted: AcceptedItems }
  | { readonly ok: false; readonly wrong: ApiFault }

/** Everything that can be said without counting. */
export function judgeResponses(
  value: unknown,
  action: 'create' | 'compact' | 'count',
  judge: ResponsesJudge,
): Judged {
  const misshapen = checkResponsesShape(value, action)
  if (misshapen !== null) return { ok: false, wrong: misshapen }
  // The shape has just been checked field by field.
  const body = value as ResponsesBody
  const model = modelFor(body.model, judge.quirks, judge.models)
  if (model === null) return { ok: false, wrong: noSuchModel(body.model) }
  const unfit = checkResponsesParameters(body, model) ?? checkCaching(body, model, [])
  if (unfit !== null) return { ok: false, wrong: unfit }
  const tenant = judge.tenant ?? ''
  const earlier = earlierItems(body, judge.store, tenant)
  if ('wrong' in earlier) return { ok: false, wrong: earlier.wrong }
  const items = [...earlier.items, ...itemsOf(body)]
  const wrong = checkItems(items, {
    model,
    secret: judge.secret,
    tenant: judge.tenant,
    isStored: (id) => judge.store?.hasItem(id, tenant) ?? false,
  })
  if (wrong !== null) return { ok: false, wrong }
  const filled = items.map((item) => filledIn(item, judge.store, tenant))
  return { ok: true, accepted: { body, items: filled, model } }
}

export async function createResponse(bench: DialectBench, ask: ResponsesAsk): Promise<DialectOutcome> {
  const { options } = bench
  const startedAt = options.clock.now()
  const judged = judgeAsk(bench, ask, 'create')
  if (!judged.ok) return judged
  const { body, model } = judged.accepted
  const items = body['truncation'] === 'auto' ? withinWindow(bench, judged.accepted) : judged.accepted.items
  const accepted = { body, items, model }
  const context: ItemContext = { bench, body, items, model, tenant: ask.tenant }
  const prompt = promptOf(bench, body, items)
  const id = numbered('resp_', bench.next('message'))
  const createdAt = Math.floor(startedAt / 1000)
  const opened = openCache(bench, ask, accepted, prompt, startedAt)
  const begun = responseObject({ id, createdAt, body, status: 'in_progress', output: [], usage: null })
  if (prompt.tokens > model.window) return overflow(bench, ask, { begun, id, model, reading: opened.reading })
  const answered = await answer(accepted, prompt, context, ask.headers)
  const { reading } = opened
  const reason = REASONS[answered.stop]
  const status = reason === undefined ? 'completed' : 'incomplete'
  const { usage, bill } = accountOf(reading, answered.outputTokens, model)
  const output = answered.items.map((each) => each.item)
  const compared = opened.with
  const ended = responseObject({
    id,
    createdAt,
    body,
    status,
    output,
    usage: responsesUsage(reading, answered),
    ...(reason === undefined ? {} : { reason }),
    ...(compared === null ? {} : { diagnostics: diagnosisOf(ask.store.compared(compared), opened.compared) }),
  })
  return {
    ok: true,
    reply: {
      id,
      model,
      stopReason: reason ?? status,
      usage,
      bill,
      reading,
      body: () => ended,
      frames: () => responseFrames({ begun, ended, items: answered.items }),
      begin: () => {
        reading.commit(options.clock.now())
        ask.store.remember(id, opened.compared)
        if (body['store'] !== false)
          ask.store.keep(id, {
            tenant: ask.tenant,
            response: ended,
            input: itemsOf(body),
            items: [...items, ...output],
          })
      },
    },
  }
}

const REASONS: Readonly<Record<string, string>> = {
  max_tokens: 'max_output_tokens',
  model_context_window_exceeded: 'max_output_tokens',
  refusal: 'content_filter',
  content_filter: 'content_filter',
}

function judgeAsk(
  bench: DialectBench,
  ask: ResponsesAsk,
  action: 'create' | 'compact' | 'count',
):
  | { readonly ok: true; readonly accepted: AcceptedItems }
  | { readonly ok: false; readonly refused: Refused } {
  const { models, secret } = bench.options
  const { quirks, tenant, store } = ask
  const judged = judgeResponses(ask.body, action, { models, quirks, secret, tenant, store })
  return judged.ok ? judged : { ok: false, refused: refusedBy(quirks, judged.wrong) }
}

function promptOf(bench: DialectBench, body: ResponsesBody, items: readonly Item[]): RenderedPrompt {
  return responsesPrompt(body, items, (item) => sealedWeight(bench.options.secret, item))
}

/** Leaves out the oldest items until the rest fits, and with a call what answers it. */
function withinWindow(bench: DialectBench, { body, items, model }: AcceptedItems): readonly Item[] {
  let rest = items
  while (rest.length > 1 && promptOf(bench, body, rest).tokens > model.window) {
    const gone = rest[0]?.['call_id']
    rest = rest.slice(1).filter((item) => gone === undefined || item['call_id'] !== gone)
  }
  return rest
}

function openCache(
  bench: DialectBench,
  ask: ResponsesAsk,
  { body, model }: AcceptedItems,
  prompt: RenderedPrompt,
  startedAt: number,
): { readonly reading: PrefixReading; readonly compared: ComparedPrompt; readonly with: string | null } {
  const { reading, wish } = openPrefix(bench, ask, body, model, prompt, startedAt)
  const reasoning = isRecord(body['reasoning']) ? body['reasoning'] : {}
  return {
    reading,
    with: wish.comparedWith,
    compared: {
      model: model.id,
      key: wish.key,
      effort: stringOf(reasoning['effort']),
      text: JSON.stringify(body['text'] ?? null),
      tools: hash('sha1', JSON.stringify(body['tools'] ?? [])),
      steps: reading.steps,
      step: model.cache.step,
    },
  }
}

async function answer(
  { body, items, model }: AcceptedItems,
  prompt: RenderedPrompt,
  context: ItemContext,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  const wantsSummary = items.at(-1)?.type === 'compaction_trigger'
  const isDue = prompt.tokens > thresholdOf(body)
  const summary =
    wantsSummary || isDue ? await summarised({ body, items, model }, prompt.tokens, context, headers) : null
  if (summary !== null && wantsSummary) return summary
  const thinks = responsesThinks(body, items, model)
  const said = await askModel(context.bench, {
    request: responsesRequest(body, items, model, thinks),
    model,
    promptTokens: prompt.tokens,
    headers,
  })
  return {
    items: [...(summary?.items ?? []), ...outputItems(said, context)],
    // One that is spoken is an answer like any other.
    stop: isSpokenRefusal(said) ? 'end_turn' : said.stop,
    outputTokens: said.outputTokens + (summary?.outputTokens ?? 0),
    thinkingTokens: said.thinkingTokens,
  }
}

function thresholdOf(body: ResponsesBody): number {
  const wishes = recordsIn(body['context_management'])
  const threshold = wishes.find(({ type }) => type === 'compaction')?.['compact_threshold']
  return typeof threshold === 'number' ? threshold : Infinity
}

const TOO_LONG =
  'Your input exceeds the context window of this model. Please adjust your input and try again.'

/** Refused at once, or told on the stream after it has begun. */
function overflow(
  bench: DialectBench,
  ask: ResponsesAsk,
  { begun, id, model, reading }: { begun: Json; id: string; model: DialectModel; reading: PrefixReading },
): DialectOutcome {
  const isStream = isRecord(ask.body) && ask.body['stream'] === true
  const code = 'context_length_exceeded'
  if (bench.options.overflow !== 'in-stream' || !isStream)
    return { ok: false, refused: refusedBy(ask.quirks, fault(TOO_LONG, 'input', code)) }
  const failed = { ...begun, status: 'failed', error: { code, message: TOO_LONG } }
  const none: PrefixReading = {
    ...reading,
    totalTokens: 0,
    cachedTokens: 0,
    writtenTokens: 0,
    writtenLongTokens: 0,
  }
  return {
    ok: true,
    reply: {
      id,
      model,
      stopReason: 'failed',
      ...accountOf(none, 0, model),
      reading: none,
      body: () => failed,
      frames: () => responseFrames({ begun, ended: failed, items: [] }),
      begin: () => undefined,
    },
  }
}

/** The user's own messages and one sealed account of the rest. */
export async function compactResponse(bench: DialectBench, ask: ResponsesAsk): Promise<DialectOutcome> {
  const startedAt = bench.options.clock.now()
  const judged = judgeAsk(bench, ask, 'compact')
  if (!judged.ok) return judged
  const { body, items, model } = judged.accepted
  const context: ItemContext = { bench, body, items, model, tenant: ask.tenant }
  const prompt = promptOf(bench, body, items)
  if (prompt.tokens > model.window)
    return { ok: false, refused: refusedBy(ask.quirks, fault(TOO_LONG, 'input', 'context_length_exceeded')) }
  const { reading } = openCache(bench, ask, judged.accepted, prompt, startedAt)
  const answered = await summarised(judged.accepted, prompt.tokens, context, ask.headers)
  const id = numbered('resp_', bench.next('message'))
  const own = ownMessages(items, bench)
  const whole = {
    id,
    object: 'response.compaction',
    created_at: Math.floor(startedAt / 1000),
    output: [...own, ...answered.items.map((each) => each.item)],
    usage: responsesUsage(reading, answered),
  }
  return {
    ok: true,
    reply: {
      id,
      model,
      stopReason: 'completed',
      ...accountOf(reading, answered.outputTokens, model),
      reading,
      body: () => whole,
      frames: () => [],
      begin: () => reading.commit(bench.options.clock.now()),
    },
  }
}

export function countResponse(bench: DialectBench, ask: ResponsesAsk): DialectCount {
  const judged = judgeAsk(bench, ask, 'count')
  if (!judged.ok) return judged
  const { body, items } = judged.accepted
  const { tokens } = promptOf(bench, body, items)
  return { ok: true, body: { object: 'response.input_tokens', input_tokens: tokens } }
}
