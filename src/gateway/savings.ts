// What the requests cost, and what they would have cost untouched: both are kept from the first request on, so that "never
// more expensive than direct" is a figure. Characters that were not sent would have been written to the cache with the request
// that first carried them, and read (or written again, where the cache was cold) by every later one.
import { lookUp, price, ratesOf, type ModelTable } from '../model/models.ts'
import { promptTokens } from '../model/usage.ts'
import type { Usage } from '../transcript/fact.ts'

/** One answered request. */
export interface Paid {
  /** Null for what was asked beside a conversation. */
  readonly session: string | null
  readonly model: string
  readonly usage: Usage
  readonly savedChars: number
  /** Of these those that this request would have carried first. */
  readonly newSavedChars: number
  /** Bytes of the body, by which its tokens tell how many characters one is here. */
  readonly sentBytes: number
}

export interface Figures {
  readonly requests: number
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  /** Dollars, of the requests whose model has a known price. */
  readonly cost: number
  readonly untouchedCost: number
  readonly unpriced: number
}

const nothing: Figures = {
  requests: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  cost: 0,
  untouchedCost: 0,
  unpriced: 0,
}

/** Where an answer reports no prompt. */
const usualChars = 4
const perTokens = 1_000_000

export class Savings {
  readonly #models: ModelTable
  readonly #bySession = new Map<string, Figures>()
  #all: Figures = nothing

  constructor(models: ModelTable) {
    this.#models = models
  }

  add(paid: Paid): void {
    this.#all = plus(this.#all, paid, this.#models)
    const { session } = paid
    if (session !== null)
      this.#bySession.set(session, plus(this.#bySession.get(session) ?? nothing, paid, this.#models))
  }

  get all(): Figures {
    return this.#all
  }

  sessions(): readonly (readonly [session: string, figures: Figures])[] {
    return [...this.#bySession]
  }
}

function plus(before: Figures, paid: Paid, models: ModelTable): Figures {
  const { usage } = paid
  const info = lookUp(models, paid.model)
  const cost = info === null ? null : price(info, usage)
  const rates = info === null ? null : ratesOf(info, promptTokens(usage))
  const prompt = promptTokens(usage)
  const charsPerToken = prompt > 0 ? paid.sentBytes / prompt : usualChars
  const older = (paid.savedChars - paid.newSavedChars) / charsPerToken
  const added = paid.newSavedChars / charsPerToken
  const [write, read] =
    rates === null ? [0, 0] : [rates.write5m, usage.cacheRead > 0 ? rates.read : rates.write5m]
  const avoided = (added * write + older * read) / perTokens
  return {
    requests: before.requests + 1,
    input: before.input + usage.input,
    cacheRead: before.cacheRead + usage.cacheRead,
    cacheWrite: before.cacheWrite + usage.cacheWrite,
    output: before.output + usage.output,
    cost: before.cost + (cost?.total ?? 0),
    untouchedCost: before.untouchedCost + (cost?.total ?? 0) + avoided,
    unpriced: before.unpriced + (cost === null ? 1 : 0),
  }
}
