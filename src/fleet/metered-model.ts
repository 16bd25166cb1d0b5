// A model whose every request is first reserved in the budgets that cover its session, whoever sends it: the conversation, an
// agent, a summary in the background. What the answer cost is counted by the store, with the answer.
import { estimateText } from '../projection/tokens.ts'
import type { Model, ModelEvent, ModelRequest } from '../model/model.ts'
import { lookUp, type ModelTable } from '../model/models.ts'
import { tokenRates } from '../engine/limits/spend.ts'
import type { Budgets, Reserved } from '../postgres/budgets.ts'

export interface MeterOptions {
  readonly model: Model
  readonly budgets: Budgets
  readonly lease: { readonly session: string; readonly token: string }
  readonly models: ModelTable
  /** Output that a request may take at most. */
  readonly maxOutputTokens: number
  readonly unique: () => string
}

/** A model whose every request is reserved in the budgets before it is sent. */
export function meteredModel(options: MeterOptions): Model {
  return { stream: (request, signal) => metered(options, request, signal) }
}

async function* metered(
  options: MeterOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<ModelEvent> {
  const { budgets, lease, model, unique } = options
  const id = unique()
  const done = await budgets.reserve(lease, id, mostDollars(options, request))
  if (!done.ok) return yield failed('network', `no budget could be asked: ${done.failure.message}`)
  const { reserved } = done
  if (!reserved.ok)
    return yield reserved.why === 'fenced'
      ? failed('aborted', 'another worker has taken this session over')
      : failed('cap', refusalText(reserved, request.model))
  try {
    yield* model.stream(request, signal)
  } finally {
    // Should this fail, the next holder of the session frees it.
    await budgets.free(lease.session, id)
  }
}

const failed = (code: 'aborted' | 'cap' | 'network', message: string): ModelEvent => ({
  type: 'failed',
  failure: { code, message, status: null },
  partial: null,
})

/** Providers count up to this much more than we estimate. */
const estimateMargin = 1.5

/** The most it can cost: nothing is read from the cache, and it answers as long as it may. */
function mostDollars(
  { models, maxOutputTokens }: Pick<MeterOptions, 'models' | 'maxOutputTokens'>,
  { model, body }: Pick<ModelRequest, 'model' | 'body'>,
): number | null {
  const tokens = Math.ceil(estimateText(body) * estimateMargin)
  const rates = tokenRates(models, model, '1h', tokens)
  if (rates === null) return null
  const output = Math.min(maxOutputTokens, lookUp(models, model)?.maxOutput ?? maxOutputTokens)
  return tokens * Math.max(rates.fresh, rates.write) + output * rates.output
}

const scopeNames = { tenant: 'this tenant', team: 'team', project: 'project', tree: 'session' } as const

function refusalText(refused: Exclude<Reserved, { ok: true } | { why: 'fenced' }>, model: string): string {
  const whose =
    refused.scope === 'tenant' ? scopeNames.tenant : `${scopeNames[refused.scope]} ${refused.name}`
  if (refused.why === 'unpriced')
    return `there is a budget for ${whose}, but the price of ${model} is not known. Add it to the model table.`
  const { cap, spent, reserved, until } = refused
  const underWay = reserved > 0 ? `, $${reserved.toFixed(4)} reserved by requests under way` : ''
  return `the budget of ${whose} is used up: $${spent.toFixed(4)} of $${cap} spent${underWay}. It ends on ${until}; raise it with pal fleet budget.`
}
