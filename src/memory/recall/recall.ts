// Recall: which memories are put before the model for what the user has just said. Two steps, neither of which
// the request waits for: `quick` ranks what is already read, `choose` reads what has changed and asks a selector, with
// the ranker in its place when there is none or it fails. What is not trusted, no longer holds or stands in the view
// already is no candidate. Never throws.
import type { OrWhy } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import type { RankedFile } from './file-ranker.ts'
import { MemoryVectors, mixed, type Embedder } from './vectors.ts'
import { MemoryIndex, type IndexedMemory } from './memory-index.ts'
import { manifestLine, recalledText, type Chosen } from './recall-text.ts'
import { countWords } from './lexicon/terms.ts'
import type { MemorySource } from './memory-source.ts'

export interface RecallQuery {
  /** What the user has just said. */
  readonly message: string
  /** What the user said before, newest first. */
  readonly earlier: readonly string[]
  /** Names of memories that stand in the view, and the bytes they take there. */
  readonly surfaced: ReadonlySet<string>
  readonly visibleBytes: number
  /** Paths the model has read. */
  readonly read: ReadonlySet<string>
  readonly recentTools: readonly string[]
}

export interface Recalled {
  readonly files: readonly string[]
  readonly text: string
}

export interface Selection {
  readonly message: string
  readonly manifest: readonly string[]
  readonly recentTools: readonly string[]
}

/** Names from the manifest, or why there are none to be had. Never rejects. */
export type Selector = (
  selection: Selection,
  signal: AbortSignal,
) => Promise<OrWhy<{ readonly names: readonly string[] }>>

export interface RecallOptions {
  readonly sources: readonly MemorySource[]
  readonly now: () => number
  /** Waits; resolves early when the signal fires. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  /** Vectors beside words; off where it is left out. */
  readonly embedder?: Embedder | undefined
}

/** What was recalled, and what went wrong on the way, to be said and not to stop anything. */
export interface RecallOutcome {
  readonly recalled: Recalled | null
  readonly problem: string | null
}

export class MemoryRecall {
  readonly index: MemoryIndex
  readonly #options: RecallOptions
  readonly #vectors: MemoryVectors | null
  #background: Promise<void> | null = null

  constructor(options: RecallOptions) {
    this.#options = options
    this.index = new MemoryIndex(options.sources)
    this.#vectors = options.embedder === undefined ? null : new MemoryVectors(options.embedder, this.index)
  }

  /**
   * What the words alone bring at once. Where a selector is asked afterwards only what hardly can be wrong. Few files are
   * looked at first; of many what was stored and what the ledger knows of them serves, and where one request may be all
   * there is their reading goes on beside it, for the next process too.
   */
  async quick(
    ask: RecallQuery,
    hasSelector: boolean,
    signal: AbortSignal,
    isPatient = false,
  ): Promise<RecallOutcome> {
    if (!isWorthwhile(ask)) return nothing
    const unready = await this.#ready(signal, isPatient)
    if (unready !== null) return unready
    if (signal.aborted) return nothing
    const { floor, strong } = defaults.recall
    // Where a later request can bring what vectors find, this one does not wait for them.
    const ordered = isPatient
      ? await this.#ordered(ask, defaults.encoder.freshAtOnce, signal)
      : { ranked: this.#ranked(ask), problem: null }
    const ranked = ordered.ranked.filter(
      ({ score, isTriggered }) => isTriggered || score >= (hasSelector ? strong : floor),
    )
    const shown = await this.#shown(ranked.map(({ id }) => id).slice(0, defaults.recall.local))
    const outcome = { ...shown, problem: shown.problem ?? ordered.problem }
    const isBehind = this.index.unread > defaults.recall.unreadFiles || this.#vectors !== null
    if (isPatient && this.index.isRecorded && isBehind) void this.#readRest(signal)
    return outcome
  }

  /** Null when there is something to rank, else what to answer. */
  async #ready(signal: AbortSignal, isPatient: boolean): Promise<RecallOutcome | null> {
    const { index } = this
    const { coldFiles, unreadFiles, patientFiles, patientReadMs } = defaults.recall
    const unopened = await index.open()
    if (unopened !== null) return problem(unopened.message)
    const size = index.isRecorded || index.isWarm ? index.size : await index.count()
    const { unread } = index
    if (size <= coldFiles && unread <= unreadFiles) {
      const failure = await index.refresh(signal)
      return failure === null ? null : problem(failure.message)
    }
    if (!index.isRecorded) return index.isWarm ? null : nothing
    if (unread <= unreadFiles) await index.readUnread(signal)
    else if (isPatient && unread <= patientFiles)
      await Promise.race([this.#readRest(signal), this.#options.pause(patientReadMs, signal)])
    return null
  }

  /** Reads what only heads are known of, and keeps the index, however far it came: the next process goes on from there. */
  #readRest(signal: AbortSignal): Promise<void> {
    this.#background ??= (async () => {
      await this.index.refresh(signal)
      await this.index.store()
      await this.#vectors?.fill(signal)
      this.#background = null
    })()
    return this.#background
  }

  /** Waits for what goes on in the background; its signal ends it. */
  async settled(): Promise<void> {
    await this.#background
  }

  /** The choice beside the request. */
  async choose(ask: RecallQuery, selector: Selector | null, signal: AbortSignal): Promise<RecallOutcome> {
    if (!isWorthwhile(ask)) return nothing
    if (!this.index.isWarm) await this.#options.pause(defaults.recall.coldPauseMs, signal)
    const failure = await this.index.refresh(signal)
    await this.index.store()
    if (failure !== null) return signal.aborted ? nothing : problem(failure.message)
    const { ranked, problem: unmixed } = await this.#ordered(ask, defaults.encoder.textsAtOnce, signal)
    if (this.#vectors !== null) void this.#readRest(signal)
    if (signal.aborted) return nothing
    if (selector === null)
      return { problem: unmixed, recalled: (await this.#shown(this.#byRank(ranked))).recalled }
    const candidates = this.#manifest(ask, ranked)
    if (candidates.length === 0) return nothing
    const { message, recentTools } = ask
    const answer = await selector({ message, recentTools, manifest: candidates.map(manifestLine) }, signal)
    if (signal.aborted) return nothing
    if (!answer.ok) return { ...(await this.#shown(this.#byRank(ranked))), problem: answer.why }
    const known = new Set(candidates.map(({ name }) => name))
    const names = [...new Set(answer.names)].filter((name) => known.has(name))
    return {
      problem: unmixed,
      recalled: (await this.#shown(names.slice(0, defaults.recall.chosen))).recalled,
    }
  }

  /** Best first: by words alone, or with vectors where there are any; and why there are none where some were wanted. */
  async #ordered(
    ask: RecallQuery,
    mostFresh: number,
    signal: AbortSignal,
  ): Promise<{ readonly ranked: readonly RankedFile[]; readonly problem: string | null }> {
    const ranked = this.#ranked(ask)
    if (this.#vectors === null) return { ranked, problem: null }
    const candidates = this.index.all().filter((one) => this.#isCandidate(one, ask))
    const asked = await this.#vectors.near(queryOf(ask), candidates, mostFresh, signal)
    if (!asked.ok) return { ranked, problem: signal.aborted ? null : asked.why }
    const { near } = asked
    const byWords = new Map(ranked.map((one) => [one.id, one]))
    const both = mixed(
      new Map(ranked.map(({ id, score }) => [id, score])),
      near,
      defaults.ranking.fileVectors,
    )
    const { floor, nearFloor } = defaults.recall
    const mixedRank = [...both]
      .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .map(([id]) => {
        const own = byWords.get(id)
        // What is near enough passes the floor although no word is shared.
        const score = Math.max(own?.score ?? 0, (near.get(id) ?? 0) >= nearFloor ? floor : 0)
        return { id, score, isTriggered: own?.isTriggered ?? false }
      })
    return { ranked: mixedRank, problem: null }
  }

  #ranked(ask: RecallQuery): readonly RankedFile[] {
    const { manifestFiles } = defaults.recall
    const now = this.#options.now()
    return this.index
      .rank(queryOf(ask), manifestFiles, (one) => this.#isCandidate(one, ask))
      .map((one) => ({ ...one, score: one.score * priorOf(this.index.get(one.id)!, now) }))
      .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
  }

  #byRank(ranked: readonly RankedFile[]): readonly string[] {
    const { floor, local } = defaults.recall
    return ranked
      .filter(({ score, isTriggered }) => isTriggered || score >= floor)
      .map(({ id }) => id)
      .slice(0, local)
  }

  /** All of them while they fit; else the best by rank with every correction of the user, and the newest. */
  #manifest(ask: RecallQuery, ranked: readonly RankedFile[]): readonly IndexedMemory[] {
    const { manifestFiles, rankedFiles } = defaults.recall
    const all = this.index.all().filter((one) => this.#isCandidate(one, ask))
    const rank = new Map(ranked.map(({ id }, at) => [id, at]))
    const place = ({ name }: IndexedMemory): number => rank.get(name) ?? Infinity
    const ordered = all.toSorted(
      (a, b) =>
        (place(a) === place(b) ? 0 : place(a) - place(b)) ||
        b.memory.modifiedMs - a.memory.modifiedMs ||
        (a.name < b.name ? -1 : 1),
    )
    if (ordered.length <= manifestFiles) return ordered
    const first = ordered.slice(0, rankedFiles)
    const others = ordered.slice(rankedFiles)
    return [
      ...first,
      ...others.filter(({ memory }) => memory.type === 'feedback'),
      ...others.filter(({ memory }) => memory.type !== 'feedback'),
    ].slice(0, manifestFiles)
  }

  #isCandidate(one: IndexedMemory, ask: RecallQuery): boolean {
    const { name, path, memory } = one
    if (memory.standing !== 'open' || ask.surfaced.has(name) || ask.read.has(path)) return false
    if (this.index.isSuperseded(one)) return false
    return memory.expires === null || Date.parse(memory.expires) > this.#options.now()
  }

  /** Reads what was chosen and makes the text. What has changed its standing meanwhile is left out. */
  async #shown(names: readonly string[]): Promise<RecallOutcome> {
    const chosen: Chosen[] = []
    for (const name of names) {
      const one = this.index.get(name)
      const read = one === undefined ? null : await this.index.read(one)
      if (one === undefined || read === null || !read.ok || read.memory.standing !== 'open') continue
      const { memory, text } = read
      const { readMemoryText } = await import('../format/frontmatter.ts')
      chosen.push({ ...one, memory, text: `${memory.description}\n\n${readMemoryText(text).body}`.trim() })
    }
    if (chosen.length === 0) return nothing
    const files = chosen.map(({ name }) => name)
    return { recalled: { files, text: recalledText(chosen, this.#options.now()) }, problem: null }
  }
}

const nothing: RecallOutcome = { recalled: null, problem: null }
const problem = (why: string): RecallOutcome => ({ recalled: null, problem: why })

/** One word asks for nothing in particular, and there is an end to what a view should hold of memories. */
function isWorthwhile({ message, visibleBytes }: RecallQuery): boolean {
  const { leastWords, visibleBytes: most } = defaults.recall
  return visibleBytes < most && countWords(message, leastWords) >= leastWords
}

/** The user's words, newest message first, up to a number of them. */
function queryOf({ message, earlier }: RecallQuery): string {
  const { queryWords } = defaults.recall
  const words = [message, ...earlier].join('\n').split(/(?<=\s)/u)
  // Scripts without spaces have no words to count here; their characters stand for them.
  return words
    .slice(0, queryWords)
    .join('')
    .slice(0, queryWords * charsPerWord)
}
const charsPerWord = 12

function priorOf({ memory }: IndexedMemory, now: number): number {
  const { recency, recencyHalfMs, feedback } = defaults.ranking
  const age = Math.max(0, now - memory.modifiedMs)
  return 1 + recency * 2 ** (-age / recencyHalfMs) + (memory.type === 'feedback' ? feedback : 0)
}
