// The figures of one session, taken from its entries as they are read. Nothing of what was said is kept.
import { dollarsOf } from '../../engine/limits/spend.ts'
import { selectPurpose } from '../../forks/select-memory.ts'
import type { ModelTable } from '../../model/models.ts'
import { textIn } from '../../transcript/content.ts'
import {
  isEditing,
  isRealInput,
  isSimulated,
  type Entry,
  type Fact,
  type FactOf,
} from '../../transcript/fact.ts'
import { added, Gains, type LayerGain } from './gains.ts'

export interface Bill {
  readonly requests: number
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly dollars: number
  /** Answers of models without a known price. */
  readonly unpriced: number
  /** Answers whose server did not say what they took: counted by size. */
  readonly estimated: number
  /** Answers of the offline model or a simulator, and what of the dollars they would have cost: nothing was paid for them. */
  readonly simulated: number
  readonly unpaid: number
}

export interface Compactions {
  readonly count: number
  /** By what wrote the text: notes, a model, or the extraction. */
  readonly sources: Readonly<Record<string, number>>
  /** Turns from one compaction to the next, added up, and how many such stretches there are. */
  readonly turnsBetween: number
  readonly stretches: number
  /** Audits, and the shares they found still in sight, added up. */
  readonly audits: number
  readonly retention: number
  /** Summaries that failed; the longest run of them, and the run that has not ended. */
  readonly failures: number
  readonly longestRun: number
  readonly openRun: number
}

/** A fork as its parent knows it. */
export interface ForkEnd {
  readonly child: string
  readonly day: string
  readonly purpose: string
  readonly outcome: string
  readonly tokens: number
  readonly dollars: number
}

export interface SessionStats {
  readonly session: string
  readonly purpose: string
  readonly turns: number
  readonly days: ReadonlyMap<string, Bill>
  readonly layers: ReadonlyMap<string, LayerGain>
  readonly compactions: Compactions
  readonly cacheBreaks: number
  readonly forks: readonly ForkEnd[]
  /** Memories that were recalled, and those whose words came up again in an answer or a call. */
  readonly recalls: { readonly recalled: number; readonly used: number }
}

export const noBill: Bill = {
  requests: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  dollars: 0,
  unpriced: 0,
  estimated: 0,
  simulated: 0,
  unpaid: 0,
}
export const noCompactions: Compactions = {
  count: 0,
  sources: {},
  turnsBetween: 0,
  stretches: 0,
  audits: 0,
  retention: 0,
  failures: 0,
  longestRun: 0,
  openRun: 0,
}

/** Figures of one session from its entries. */
export class SessionTally {
  readonly #models: ModelTable
  readonly #dayOf: (at: number) => string
  readonly #days = new Map<string, Bill>()
  readonly #forks: ForkEnd[] = []
  readonly #gains: Gains
  readonly #recalls = new Recalls()
  /** Choices among memories that have ended and that no request has followed yet. */
  #unasked: ForkEnd[] = []
  #session = ''
  #purpose = 'main'
  #turns = 0
  #turnsSince = 0
  #breaks = 0
  #compactions = noCompactions

  constructor(models: ModelTable, dayOf: (at: number) => string) {
    this.#models = models
    this.#dayOf = dayOf
    this.#gains = new Gains(models)
  }

  take({ fact, at }: Entry): void {
    this.#recalls.take(fact)
    if (fact.type === 'request-sent') this.#unasked = []
    if (fact.type === 'session-start') {
      this.#session = fact.session
      this.#purpose = fact.purpose
    } else if (isRealInput(fact)) {
      this.#turns += 1
      this.#turnsSince += 1
    } else if (fact.type === 'assistant-message') this.#answer(fact, at)
    else if (fact.type === 'cache-break') this.#breaks += 1
    else if (fact.type === 'compaction-failed') this.#fail()
    else if (fact.type === 'fork-end') this.#fork(fact, at)
    if (isEditing(fact)) this.#gains.edit(fact.layer, fact.tokensFreed, fact.type === 'boundary')
    if (fact.type === 'boundary') this.#compact(fact)
  }

  stats(): SessionStats {
    return {
      session: this.#session,
      purpose: this.#purpose,
      turns: this.#turns,
      days: this.#days,
      layers: this.#gains.layers(),
      compactions: this.#compactions,
      cacheBreaks: this.#breaks,
      // A choice that no request could bring any more was made for nothing.
      forks: this.#forks.map((fork) =>
        this.#unasked.includes(fork) ? { ...fork, outcome: 'too-late' } : fork,
      ),
      recalls: this.#recalls.counts(),
    }
  }

  #answer({ usage, model, messageId }: FactOf<'assistant-message'>, at: number): void {
    if (usage === undefined) return
    // What nobody counted says nothing of what was read.
    if (usage.estimated !== true) this.#gains.answer(at, model, usage)
    const paid = dollarsOf(this.#models, model, usage)
    const day = this.#dayOf(at)
    const bill: Bill = {
      requests: 1,
      input: usage.input,
      cacheRead: usage.cacheRead,
      cacheWrite: usage.cacheWrite,
      output: usage.output,
      dollars: paid ?? 0,
      unpriced: paid === null ? 1 : 0,
      estimated: usage.estimated === true ? 1 : 0,
      simulated: isSimulated(messageId) ? 1 : 0,
      unpaid: isSimulated(messageId) ? (paid ?? 0) : 0,
    }
    this.#days.set(day, added(this.#days.get(day) ?? noBill, bill))
  }

  #compact({ source, audit }: FactOf<'boundary'>): void {
    const before = this.#compactions
    const isFirst = before.count === 0
    const retention = retentionIn(audit)
    this.#compactions = {
      ...before,
      count: before.count + 1,
      sources: { ...before.sources, [source]: (before.sources[source] ?? 0) + 1 },
      turnsBetween: before.turnsBetween + (isFirst ? 0 : this.#turnsSince),
      stretches: before.stretches + (isFirst ? 0 : 1),
      audits: before.audits + (retention === null ? 0 : 1),
      retention: before.retention + (retention ?? 0),
      openRun: source === 'model' ? 0 : before.openRun,
    }
    this.#turnsSince = 0
  }

  #fail(): void {
    const before = this.#compactions
    const openRun = before.openRun + 1
    this.#compactions = {
      ...before,
      failures: before.failures + 1,
      openRun,
      longestRun: Math.max(before.longestRun, openRun),
    }
  }

  #fork({ child, purpose, outcome, spent }: FactOf<'fork-end'>, at: number): void {
    const { tokens, dollars } = spent ?? { tokens: 0, dollars: 0 }
    const end = { child, day: this.#dayOf(at), purpose, outcome, tokens, dollars }
    this.#forks.push(end)
    if (purpose === selectPurpose && outcome === 'done') this.#unasked.push(end)
  }
}

/** What an audit says is kept in a loose record, since it may be of another version. */
function retentionIn(audit: unknown): number | null {
  if (typeof audit !== 'object' || audit === null || !('retention' in audit)) return null
  return typeof audit.retention === 'number' ? audit.retention : null
}

interface Open {
  readonly words: ReadonlySet<string>
  readonly met: Set<string>
}

/**
 * How many memories were recalled in a session, and how many of them were of use: a later answer or call has at least two telling
 * words of the memory that the user had not said. An estimate, and a low one: what a memory kept from being done is not seen.
 */
class Recalls {
  #recalled = 0
  #used = 0
  #open: Open[] = []
  /** What the user said, by its words. */
  readonly #said = new Set<string>()

  take(fact: Fact): void {
    if (isRealInput(fact)) for (const word of wordsIn(textIn(fact.content))) this.#said.add(word)
    else if (fact.type === 'memory-recall') this.#recall(fact)
    else if (fact.type === 'assistant-message') this.#answer(fact)
  }

  counts(): { readonly recalled: number; readonly used: number } {
    return { recalled: this.#recalled, used: this.#used }
  }

  #recall({ files, text }: FactOf<'memory-recall'>): void {
    this.#recalled += files.length
    for (const [, body] of text.matchAll(/<memory [^>]*>\n([\s\S]*?)\n<\/memory>/gu)) {
      const words = new Set([...wordsIn(body!)].filter((word) => !this.#said.has(word)))
      this.#open.push({ words, met: new Set() })
    }
  }

  #answer({ content }: FactOf<'assistant-message'>): void {
    if (this.#open.length === 0) return
    const words = wordsIn(
      content
        .map((block) =>
          block.type === 'text' ? block.text : block.type === 'tool_use' ? JSON.stringify(block.input) : '',
        )
        .join('\n'),
    )
    for (const { words: telling, met } of this.#open)
      for (const word of words) if (telling.has(word)) met.add(word)
    const used = this.#open.filter(({ met }) => met.size >= tellingWords)
    this.#used += used.length
    this.#open = this.#open.filter((one) => !used.includes(one))
  }
}

const tellingWords = 2
const leastChars = 5
const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(
    (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu) ?? [])
      .map((word) => word.replace(/[._-]+$/u, ''))
      .filter((word) => word.length >= leastChars || /\p{N}/u.test(word)),
  )
