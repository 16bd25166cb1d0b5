// The measures of a replay, defined in docs/measures.md. Figures are sums, so that sessions add up; shares are made of
// the sums. Nothing here knows a policy: it sees what was sent, what it was charged, and what the future needed.
import type { ModelInfo } from '../model/models.ts'
import { defaults } from '../settings/defaults.ts'
import type { CacheUsage } from '../simulator/index.ts'
import { Ledger, nothing } from './measuring/ledger.ts'
import type { Needs } from './measuring/needs.ts'
import { Sight } from './measuring/sight.ts'
import type { PlainBlock } from './playing/wire-blocks.ts'

/** Nothing yet; every figure is a sum, the largest request apart. */
export const noFigures = {
  sessions: 0,
  /** Sessions that could not be played to their end. */
  brokenOff: 0,
  requests: 0,
  /** Requests that the wire rules judged, and those of them that they refuse or that are larger than the window. */
  checked: 0,
  rejected: 0,
  fresh: 0,
  read: 0,
  written5m: 0,
  written1h: 0,
  /** Calls that a model would have made to write summaries: what it reads from the cache, and what it puts out. */
  summaryInput: 0,
  summaryOutput: 0,
  /** Requests in the background that were really composed and charged: how many, their input in equivalents, and their output. */
  backgroundRequests: 0,
  backgroundInput: 0,
  backgroundOutput: 0,
  /** Of input and summaries; the answers themselves are the same under every policy. Null where no price is known. */
  dollars: 0 as number | null,
  largest: 0,
  atoms: 0,
  remembered: 0,
  visible: 0,
  replaced: 0,
  ready: 0,
  /** Characters of the person's words that had been said, over all requests, and of those the ones in sight. */
  wordsSaid: 0,
  wordsKept: 0,
  reductions: 0,
  lostMoney: 0,
}
export type Figures = Readonly<typeof noFigures>

export function sum(all: readonly Figures[]): Figures {
  const total = { ...noFigures }
  const keys = Object.keys(noFigures) as (keyof Figures)[]
  for (const figures of all) {
    for (const key of keys) {
      if (key === 'largest') total.largest = Math.max(total.largest, figures.largest)
      else if (key === 'dollars')
        total.dollars =
          total.dollars === null || figures.dollars === null ? null : total.dollars + figures.dollars
      else total[key] += figures[key]
    }
  }
  return total
}

/** What is read out of the sums. Shares of nothing are null. */
export interface Shares {
  readonly equivalents: number
  readonly hitRate: number | null
  /** Tokens of a request on average. */
  readonly carried: number | null
  readonly retention: number | null
  readonly visibility: number | null
  readonly readiness: number | null
  readonly words: number | null
}

export function sharesOf(figures: Figures): Shares {
  const { equivalents } = defaults.lab
  const context = figures.fresh + figures.read + figures.written5m + figures.written1h
  const of = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
  return {
    equivalents:
      figures.fresh * equivalents.fresh +
      (figures.read + figures.summaryInput) * equivalents.read +
      figures.written5m * equivalents.write5m +
      figures.written1h * equivalents.write1h +
      figures.backgroundInput +
      (figures.summaryOutput + figures.backgroundOutput) * equivalents.output,
    hitRate: of(figures.read, context),
    carried: of(context, figures.requests),
    retention: of(figures.remembered, figures.atoms),
    visibility: of(figures.visible, figures.atoms),
    readiness: of(figures.ready, figures.replaced),
    words: of(figures.wordsKept, figures.wordsSaid),
  }
}

export interface Sent {
  readonly step: number
  readonly blocks: readonly PlainBlock[]
  /** What the wire rules said; null where they were not asked. */
  readonly isRejected: boolean | null
  /** What the person has said so far. */
  readonly said: readonly string[]
  /** Tokens that edits have freed since the last request, and whether a text now stands for a span. */
  readonly freed: number
  readonly isSummary: boolean
  /** What each lifetime was charged, in the order in which they were named. */
  readonly charges: readonly Charge[]
}

export interface Charge {
  readonly usage: CacheUsage
  /** More time has passed since the last request than its cache lives. */
  readonly isCold: boolean
}

/** Follows one replay request by request; charges are kept for each lifetime, what can be seen is the same for all. */
export class Meter {
  readonly #needs: Needs
  readonly #sight: Sight
  readonly #ledgers: readonly Ledger[]
  readonly #words: { readonly text: string; share: number }[] = []
  #seen: Figures = { ...noFigures, sessions: 1 }

  constructor(needs: Needs, info: ModelInfo | null, lifetimes: number) {
    this.#needs = needs
    this.#sight = new Sight(needs)
    this.#ledgers = Array.from({ length: lifetimes }, () => new Ledger(info))
  }

  request(sent: Sent): void {
    const isLess = this.#sight.look(sent.blocks)
    const before = this.#seen
    this.#seen = {
      ...before,
      requests: before.requests + 1,
      checked: before.checked + (sent.isRejected === null ? 0 : 1),
      rejected: before.rejected + (sent.isRejected === true ? 1 : 0),
      ...this.#needed(sent.step),
      ...this.#wordsIn(sent.said, isLess),
    }
    for (const [index, ledger] of this.#ledgers.entries()) ledger.request(sent, sent.charges[index]!)
  }

  /** A model would have read the view from the cache and written this much. */
  summary(viewTokens: number, textTokens: number): void {
    const before = this.#seen
    this.#seen = {
      ...before,
      summaryInput: before.summaryInput + viewTokens,
      summaryOutput: before.summaryOutput + textTokens,
    }
    for (const ledger of this.#ledgers) ledger.pay({ ...nothing, read: viewTokens, output: textTokens })
  }

  /** A fork or a direct call; what each lifetime was charged for its input. */
  background(charged: readonly CacheUsage[], output: number): void {
    const before = this.#seen
    this.#seen = {
      ...before,
      backgroundRequests: before.backgroundRequests + 1,
      backgroundOutput: before.backgroundOutput + output,
    }
    for (const [index, ledger] of this.#ledgers.entries()) ledger.background(charged[index]!, output)
  }

  breakOff(): void {
    this.#seen = { ...this.#seen, brokenOff: 1 }
  }

  /** For each lifetime. */
  figures(): readonly Figures[] {
    return this.#ledgers.map((ledger) => ({ ...this.#seen, ...ledger.figures() }))
  }

  #needed(step: number): Pick<Figures, 'atoms' | 'remembered' | 'visible' | 'replaced' | 'ready'> {
    const { atoms, replaced } = this.#needs.steps[step] ?? { atoms: [], replaced: [] }
    const visible = atoms.filter((atom) => this.#sight.shows(atom))
    const before = this.#seen
    return {
      atoms: before.atoms + atoms.length,
      visible: before.visible + visible.length,
      remembered: before.remembered + visible.filter((atom) => this.#sight.remembers(atom, step)).length,
      replaced: before.replaced + replaced.length,
      ready: before.ready + replaced.filter((text) => this.#sight.showsText(text)).length,
    }
  }

  #wordsIn(said: readonly string[], isLess: boolean): Pick<Figures, 'wordsSaid' | 'wordsKept'> {
    for (const text of said.slice(this.#words.length))
      this.#words.push({ text, share: this.#sight.shareOf(text) })
    if (isLess) for (const word of this.#words) word.share = this.#sight.shareOf(word.text)
    let { wordsSaid, wordsKept } = this.#seen
    for (const { text, share } of this.#words) {
      wordsSaid += text.length
      wordsKept += text.length * share
    }
    return { wordsSaid, wordsKept }
  }
}
