// What an answer says of the request before it: what the provider counted, what it cost, where the border of the cache lay, and
// what removals have saved and cost by it.
import { dollarsOf, tokenRates } from '../../engine/limits/spend.ts'
import { lookUp, price } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Entry, FactOf, Usage } from '../../transcript/fact.ts'
import type { IndexParts } from './index-rows.ts'
import { noPrices, promptPrices } from './request-prices.ts'

export function answered(index: IndexParts, { seq, at }: Entry, fact: FactOf<'assistant-message'>): void {
  const { lists, requests, options } = index
  const model = index.labelled('models', fact.model)
  lists.modelAnswers[model] = (lists.modelAnswers[model] ?? 0) + 1
  const { usage, timing } = fact
  const row = requests.length - 1
  const isFirst = row >= 0 && Number.isNaN(requests.get(row, 'answer'))
  if (isFirst) {
    requests.set(row, 'answer', seq)
    if (timing?.firstMs !== undefined) requests.set(row, 'firstMs', timing.firstMs)
    if (timing !== undefined) requests.set(row, 'ms', timing.ms)
    if (timing !== undefined) requests.set(row, 'tries', timing.tries)
  }
  if (usage === undefined) return
  const dollars = dollarsOf(options.models, fact.model, usage)
  const { totals } = lists
  totals.requests++
  totals.input += usage.input
  totals.read += usage.cacheRead
  totals.written += usage.cacheWrite
  totals.output += usage.output
  totals.dollars += dollars ?? 0
  totals.unpriced += dollars === null ? 1 : 0
  const saving = gained(index, at, fact.model, usage)
  if (!isFirst) return
  const info = lookUp(options.models, fact.model)
  const paid = info === null ? null : price(info, usage)
  const prices = lists.unfoldedFrom === null ? promptPrices(index.state.fold.view(), usage, paid) : noPrices
  requests.set(row, 'input', usage.input)
  requests.set(row, 'read', usage.cacheRead)
  requests.set(row, 'written', usage.cacheWrite)
  requests.set(row, 'output', usage.output)
  requests.set(row, 'dollars', dollars ?? Number.NaN)
  requests.set(row, 'readTo', prices.readTo)
  requests.set(row, 'writtenTo', prices.writtenTo)
  requests.set(row, 'perRead', prices.perRead)
  requests.set(row, 'perWritten', prices.perWritten)
  requests.set(row, 'perInput', prices.perInput)
  requests.set(row, 'saving', saving)
}

/** As `pal stats` reckons layers: what an edit made a warm cache write again; gives what a token that is gone saves here. */
function gained({ lists, options }: IndexParts, at: number, model: string, usage: Usage): number {
  const lifetime = (usage.cacheWrite1h ?? 0) > 0 ? '1h' : '5m'
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const rates = tokenRates(options.models, model, lifetime, prompt)
  const isWarm =
    lists.answeredAt !== null && at - lists.answeredAt < defaults.request.cacheLifetimeMs[lifetime]
  const freed = lists.pending.reduce((sum, one) => sum + one.freed, 0)
  if (rates !== null && freed > 0) {
    const again = isWarm ? Math.max(0, lists.cached - usage.cacheRead - freed) : 0
    for (const { seq, freed: own } of lists.pending)
      lists.rewritten.push([seq, (own / freed) * again * (rates.write - rates.read)])
  }
  lists.pending = []
  lists.cached = usage.cacheRead + usage.cacheWrite
  lists.answeredAt = at
  return rates === null ? 0 : isWarm ? rates.read : rates.write
}
