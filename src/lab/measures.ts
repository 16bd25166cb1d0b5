// The measures of a replay, defined in docs/measures.md. Figures are sums, so that sessions add up; shares are made of
// the sums. Nothing here knows a policy: it sees what was sent, what it was charged, and what the future needed.
import type { ModelInfo } from '../model/models.ts'
import { defaults } from '../settings/defaults.ts'
import type { CacheUsage } from '../simulator/index.ts'
import type { WireBlock } from '../model/wire.ts'
import { Ledger, type Lifetime } from './measuring/ledger.ts'
import type { Needs } from './measuring/needs.ts'
import { Recovery, type Missing } from './measuring/recovery.ts'
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
  /** Of input, summaries and those answers whose output is known. */
  dollars: 0,
  /** Requests whose price nobody knows: in no sum of money. Answers whose output is not known: their output is in none. */
  unpriced: 0,
  outputUnknown: 0,
  /** Answers that had to look something up first; what that costs, in equivalents and in money. */
  rounds: 0,
  recovery: 0,
  recoveryDollars: 0,
  /** Needs that no look-up brings back (said once, or put out by what cannot be repeated), and those of them in sight. */
  saidOnce: 0,
  saidOnceKept: 0,
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

/** Figures added up. */
export function sum(all: readonly Figures[]): Figures {
  const total = { ...noFigures }
  const keys = Object.keys(noFigures) as (keyof Figures)[]
  for (const figures of all) {
    for (const key of keys) {
      if (key === 'largest') total.largest = Math.max(total.largest, figures.largest)
      else total[key] += figures[key]
    }
  }
  return total
}

/** What is read out of the sums. Shares of nothing are null. */
export interface Shares {
  readonly equivalents: number
  /** With what it costs to look up again what was forgotten. */
  readonly total: number
  /** Rounds that come on top, as a share of all requests. */
  readonly moreRounds: number | null
  /** Of what no look-up brings back, the share in sight. */
  readonly saidOnce: number | null
  readonly hitRate: number | null
  /** Tokens of a request on average. */
  readonly carried: number | null
  readonly retention: number | null
  readonly visibility: number | null
  readonly readiness: number | null
  readonly words: number | null
}

/** Cost, hits and what stayed in sight, from the sums. */
export function sharesOf(figures: Figures): Shares {
  const { equivalents } = defaults.lab
  const context = figures.fresh + figures.read + figures.written5m + figures.written1h
  const of = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
  const cost =
    figures.fresh * equivalents.fresh +
    (figures.read + figures.summaryInput) * equivalents.read +
    figures.written5m * equivalents.write5m +
    figures.written1h * equivalents.write1h +
    figures.backgroundInput +
    (figures.summaryOutput + figures.backgroundOutput) * equivalents.output
  return {
    equivalents: cost,
    total: cost + figures.recovery,
    moreRounds: of(figures.rounds, figures.requests),
    saidOnce: of(figures.saidOnceKept, figures.saidOnce),
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
  /** Counted in another recording: followed, and in no figure. */
  readonly isCopy: boolean
  readonly blocks: readonly PlainBlock[]
  /** What the wire rules said; null where they were not asked. */
  readonly isRejected: boolean | null
  /** What the person has said so far. */
  readonly said: readonly string[]
  /** Tokens that edits have freed since the last request, and whether a text now stands for a span. */
  readonly freed: number
  readonly isSummary: boolean
  /** Output of the answer; null where its count is not known. */
  readonly output: number | null
  /** Whose prices hold for it; null where they are not known. */
  readonly info: ModelInfo | null
  /** What each lifetime was charged, in the order in which they were named. */
  readonly charges: readonly Charge[]
}

export interface MeterOptions {
  readonly lifetimes: readonly Lifetime[]
  readonly weigh: (block: WireBlock) => number
}

type Needed = Pick<
  Figures,
  'atoms' | 'remembered' | 'visible' | 'replaced' | 'ready' | 'saidOnce' | 'saidOnceKept'
>

export interface Charge {
  readonly usage: CacheUsage
  /** More time has passed since the last request than its cache lives. */
  readonly isCold: boolean
}

/** Follows one replay request by request; charges are kept for each lifetime, what can be seen is the same for all. */
export class Meter {
  readonly #needs: Needs
  readonly #sight: Sight
  readonly #recovery: Recovery
  readonly #ledgers: readonly Ledger[]
  readonly #words: { readonly text: string; share: number }[] = []
  #seen: Figures = { ...noFigures, sessions: 1 }

  constructor(needs: Needs, { lifetimes, weigh }: MeterOptions) {
    this.#needs = needs
    this.#sight = new Sight(needs)
    this.#recovery = new Recovery(needs, weigh)
    this.#ledgers = lifetimes.map((lifetime) => new Ledger(lifetime))
  }

  request(sent: Sent): void {
    const isLess = this.#sight.look(sent.blocks)
    const { figures, missing } = this.#needed(sent.step)
    const lookUp = this.#recovery.request(sent.step, missing, sent.freed > 0)
    const before = this.#seen
    if (sent.isCopy) {
      this.#wordsIn(sent.said, isLess)
      for (const [index, ledger] of this.#ledgers.entries()) ledger.follow(sent.charges[index]!.usage)
      return
    }
    this.#seen = {
      ...before,
      requests: before.requests + 1,
      checked: before.checked + (sent.isRejected === null ? 0 : 1),
      rejected: before.rejected + (sent.isRejected === true ? 1 : 0),
      rounds: before.rounds + (lookUp.fetched > 0 ? 1 : 0),
      outputUnknown: before.outputUnknown + (sent.output === null ? 1 : 0),
      ...figures,
      ...this.#wordsIn(sent.said, isLess),
    }
    for (const [index, ledger] of this.#ledgers.entries())
      ledger.request({ ...sent, lookUp }, sent.charges[index]!)
  }

  /** A model would have read the view from the cache and written this much. */
  summary(viewTokens: number, textTokens: number, info: ModelInfo | null): void {
    const before = this.#seen
    this.#seen = {
      ...before,
      summaryInput: before.summaryInput + viewTokens,
      summaryOutput: before.summaryOutput + textTokens,
    }
    for (const ledger of this.#ledgers) ledger.summary(viewTokens, textTokens, info)
  }

  /** A fork or a direct call; what each lifetime was charged for its input. */
  background(charged: readonly CacheUsage[], output: number, info: ModelInfo | null): void {
    const before = this.#seen
    this.#seen = {
      ...before,
      backgroundRequests: before.backgroundRequests + 1,
      backgroundOutput: before.backgroundOutput + output,
    }
    for (const [index, ledger] of this.#ledgers.entries()) ledger.background(charged[index]!, output, info)
  }

  breakOff(): void {
    this.#seen = { ...this.#seen, brokenOff: 1 }
  }

  /** For each lifetime. */
  figures(): readonly Figures[] {
    return this.#ledgers.map((ledger) => ({ ...this.#seen, ...ledger.figures() }))
  }

  #needed(step: number): { readonly figures: Needed; readonly missing: Missing } {
    const { atoms = [], replaced = [], saidOnce = [] } = this.#needs.steps[step] ?? {}
    const visible = atoms.filter((atom) => this.#sight.shows(atom))
    const remembered = new Set(visible.filter((atom) => this.#sight.remembers(atom, step)))
    const ready = new Set(replaced.filter((text) => this.#sight.showsText(text)))
    const before = this.#seen
    return {
      missing: {
        atoms: atoms.filter((atom) => !remembered.has(atom)),
        texts: replaced.filter((text) => !ready.has(text)),
      },
      figures: {
        atoms: before.atoms + atoms.length,
        visible: before.visible + visible.length,
        remembered: before.remembered + remembered.size,
        replaced: before.replaced + replaced.length,
        ready: before.ready + ready.size,
        saidOnce: before.saidOnce + saidOnce.length,
        saidOnceKept: before.saidOnceKept + saidOnce.filter((atom) => remembered.has(atom)).length,
      },
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
