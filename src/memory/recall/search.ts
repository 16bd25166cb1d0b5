// Searching what outlives a session: memories first, then what was said in earlier sessions. The index of
// turns is built when it is first asked for and goes on where it stopped; it holds no texts, those of the hits are read
// from the store. What tools printed, what was recalled and what forks said is not indexed: it would be found in place
// of what people said. Never throws.
import { refused } from '../../disk/failure.ts'
import { localDay } from '../format/day.ts'
import { defaults } from '../../settings/defaults.ts'
import { textIn } from '../../transcript/content.ts'
import { isKnown, isRealInput, type Entry, type Fact } from '../../transcript/fact.ts'
import { seq, sessionId, type Seq, type SessionId } from '../../transcript/ids.ts'
import type { Failure, Result, Store } from '../../transcript/store.ts'
import type { Standing } from '../memory.ts'
import type { MemoryIndex, IndexedMemory } from './memory-index.ts'
import { TurnRanker } from './turn-ranker.ts'
import { Lexicon } from './lexicon/terms.ts'

export interface MemoryHit {
  readonly name: string
  readonly path: string
  readonly description: string
  readonly modifiedMs: number
  readonly standing: Standing
  readonly score: number
}

export interface TurnHit {
  /** Names the turn to `around`. */
  readonly ref: string
  readonly session: string
  readonly at: number
  readonly speaker: 'user' | 'assistant'
  readonly text: string
  readonly isHit: boolean
}

export type Found<T> = Result<{ readonly hits: readonly T[] }>

/** A part of an output that was too large for a result and is kept whole. */
export interface KeptPart {
  readonly text: string
  readonly totalBytes: number
}

interface Indexed {
  bytes: number
  next: Seq
  isMain: boolean
}

export class MemorySearch {
  readonly #index: MemoryIndex
  readonly #store: Store
  readonly #sessions = new Map<SessionId, Indexed>()
  /** Kept outputs by the hash of their bytes. */
  readonly #kept = new Map<string, { readonly session: SessionId; readonly blob: string }>()
  #made: { readonly lexicon: Lexicon; readonly ranker: TurnRanker } | null = null

  constructor(index: MemoryIndex, store: Store) {
    this.#index = index
    this.#store = store
  }

  /** Memories by rank; which ones may be shown is the caller's to say. */
  async memories(
    query: string,
    most: number,
    signal: AbortSignal,
    isShown: (standing: Standing) => boolean,
  ): Promise<Found<MemoryHit>> {
    const failure = await this.#index.refresh(signal)
    if (failure !== null) return { ok: false, failure }
    await this.#index.store()
    const ranked = this.#index.rank(query, most, ({ memory }) => isShown(memory.standing))
    return { ok: true, hits: ranked.map(({ id, score }) => hitOf(this.#index.get(id)!, score)) }
  }

  /** The text of a memory by its name or path; null when there is none, or none that may be shown. */
  async memory(
    name: string,
    signal: AbortSignal,
    isShown: (standing: Standing) => boolean,
  ): Promise<{ readonly path: string; readonly text: string; readonly standing: Standing } | null> {
    const failure = await this.#index.refresh(signal)
    const one = this.#index.get(name) ?? this.#index.all().find(({ path }) => path === name)
    if (failure !== null || one === undefined) return null
    const read = await this.#index.read(one)
    if (!read.ok || !isShown(read.memory.standing)) return null
    return { path: one.path, text: read.text, standing: read.memory.standing }
  }

  /** Turns by rank, all sessions but the one that asks. */
  async turns(
    query: string,
    most: number,
    signal: AbortSignal,
    own: string | null = null,
  ): Promise<Found<TurnHit>> {
    const failure = await this.#indexTurns(signal)
    if (failure !== null) return { ok: false, failure }
    const { lexicon, ranker } = this.#turns()
    const ranked = ranker.rank(query, most, (id) => own === null || !id.startsWith(`${own}:`))
    const asked = new Set(lexicon.words(query))
    const hits: TurnHit[] = []
    for (const { id } of ranked) {
      const turn = await this.#read(id)
      if (turn !== null) hits.push({ ...turn, text: this.#excerpt(turn.text, asked) })
    }
    return { ok: true, hits }
  }

  /** A hit with the turns on both sides of it, in full up to a bound. */
  async around(ref: string, turns: number, signal: AbortSignal): Promise<Found<TurnHit>> {
    const failure = await this.#indexTurns(signal)
    if (failure !== null) return { ok: false, failure }
    const ids = this.#turns().ranker.around(ref, turns)
    const hits: TurnHit[] = []
    for (const id of ids) {
      const turn = await this.#read(id)
      if (turn !== null) hits.push({ ...turn, isHit: id === ref })
    }
    if (hits.length > 0) return { ok: true, hits }
    return refused('not-found', `there is no turn ${JSON.stringify(ref)}`)
  }

  /** The last turns of the newest session, oldest first. */
  async newest(turns: number): Promise<Found<TurnHit>> {
    const hits: TurnHit[] = []
    for await (const info of this.#store.list()) {
      if (!info.ok) return { ok: false, failure: info.failure }
      if (!(await this.#isMain(info.session))) continue
      for await (const item of this.#store.readBack(info.session)) {
        if (item.kind !== 'entry' || !isKnown(item.entry)) continue
        const turn = turnOf(`${info.session}:${item.entry.seq}`, info.session, item.entry)
        if (turn !== null) hits.unshift(turn)
        if (hits.length >= turns) break
      }
      if (hits.length > 0) break
    }
    return { ok: true, hits }
  }

  /** What runs in the background is nobody's conversation. */
  async #isMain(session: SessionId): Promise<boolean> {
    for await (const item of this.#store.read(session))
      if (item.kind === 'entry' && isKnown(item.entry))
        return item.entry.fact.type === 'session-start' && item.entry.fact.purpose === 'main'
    return false
  }

  /** Kept output by the hash of its bytes. */
  async kept(
    sha256: string,
    part: { readonly offset: number; readonly length: number },
    signal: AbortSignal,
  ): Promise<Result<KeptPart>> {
    const failure = await this.#indexTurns(signal)
    if (failure !== null) return { ok: false, failure }
    const found = this.#kept.get(sha256)
    if (found === undefined) return refused('not-found', `no kept output is ${JSON.stringify(sha256)}`)
    const read = await this.#store.getBlob(found.session, found.blob, part)
    if (!read.ok) return read
    return { ok: true, text: Buffer.from(read.bytes).toString('utf8'), totalBytes: read.total }
  }

  /** Made when it is first asked for. */
  #turns(): { readonly lexicon: Lexicon; readonly ranker: TurnRanker } {
    if (this.#made === null) {
      const lexicon = new Lexicon()
      this.#made = { lexicon, ranker: new TurnRanker(lexicon) }
    }
    return this.#made
  }

  async #indexTurns(signal: AbortSignal): Promise<Failure | null> {
    const { sessions, sessionBytes } = defaults.search
    let [count, bytes] = [0, 0]
    for await (const info of this.#store.list()) {
      if (signal.aborted) return { code: 'aborted', message: 'the search was given up' }
      if (!info.ok) return info.failure
      bytes += info.bytes
      if (++count > sessions || bytes > sessionBytes) break
      const known = this.#sessions.get(info.session) ?? { bytes: -1, next: seq(0), isMain: true }
      this.#sessions.set(info.session, known)
      if (known.bytes === info.bytes || !known.isMain) continue
      const failure = await this.#take(info.session, known, signal)
      if (failure !== null) return failure
      known.bytes = info.bytes
    }
    return null
  }

  async #take(session: SessionId, known: Indexed, signal: AbortSignal): Promise<Failure | null> {
    for await (const item of this.#store.read(session, { from: known.next })) {
      if (signal.aborted) return { code: 'aborted', message: 'the search was given up' }
      // A session that goes away while it is read has nothing to say.
      if (item.kind === 'failed') return item.failure.code === 'no-such-session' ? null : item.failure
      if (item.kind !== 'entry') continue
      known.next = seq(item.entry.seq + 1)
      if (!isKnown(item.entry)) continue
      const { fact, at } = item.entry
      if (fact.type === 'session-start') known.isMain = fact.purpose === 'main'
      if (!known.isMain) return null
      if (fact.type === 'tool-result' && fact.spill !== undefined)
        this.#kept.set(fact.spill.sha256, { session, blob: fact.spill.blob })
      const said = saidIn(fact)
      if (said === null) continue
      this.#turns().ranker.add({
        id: `${session}:${item.entry.seq}`,
        session,
        text: said.text,
        date: localDay(at),
        isUser: said.speaker === 'user',
      })
    }
    return null
  }

  async #read(ref: string): Promise<TurnHit | null> {
    const cut = ref.lastIndexOf(':')
    const session = sessionId(ref.slice(0, cut))
    const place = seq(Number(ref.slice(cut + 1)))
    for await (const item of this.#store.read(session, { from: place, to: place })) {
      if (item.kind !== 'entry' || !isKnown(item.entry)) continue
      return turnOf(ref, session, item.entry)
    }
    return null
  }

  /** The sentence with most of what was asked for, and what follows it. */
  #excerpt(text: string, asked: ReadonlySet<string>): string {
    const { shownChars } = defaults.search
    const { lexicon } = this.#turns()
    if (text.length <= shownChars) return text
    let [best, bestCount, at] = [0, -1, 0]
    for (const sentence of text.split(/(?<=[.!?。！？\n])/u)) {
      const count = new Set(lexicon.words(sentence).filter((word) => asked.has(word))).size
      if (count > bestCount) [best, bestCount] = [at, count]
      at += sentence.length
    }
    const shown = text
      .slice(best, best + shownChars)
      .toWellFormed()
      .trim()
    return `${best > 0 ? '… ' : ''}${shown}${best + shownChars < text.length ? ' …' : ''}`
  }
}

function turnOf(ref: string, session: SessionId, { fact, at }: Entry): TurnHit | null {
  const said = saidIn(fact)
  return said === null ? null : { ref, session, at, ...said, isHit: true }
}

function saidIn(fact: Fact): { readonly text: string; readonly speaker: 'user' | 'assistant' } | null {
  const speaker = isRealInput(fact) ? 'user' : fact.type === 'assistant-message' ? 'assistant' : null
  if (speaker === null || !('content' in fact)) return null
  const text = textIn(fact.content).slice(0, defaults.search.turnChars).toWellFormed().trim()
  return text === '' ? null : { text, speaker }
}

const hitOf = ({ name, path, memory }: IndexedMemory, score: number): MemoryHit => ({
  name,
  path,
  description: memory.description === '' ? memory.name : memory.description,
  modifiedMs: memory.modifiedMs,
  standing: memory.standing,
  score,
})
