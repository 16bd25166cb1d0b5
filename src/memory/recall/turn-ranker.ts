// Ranks turns of past sessions: BM25 in which a turn also stands for the turns around it. People answer
// without repeating what they were asked, so the words looked for often stand one turn before. Long turns are cut into
// chunks and count by their best one; what a user said counts double; a session full of the words asked for lifts its
// turns a little. The index holds the words of each turn alone; neighbours are looked at when a query comes, so adding
// a turn never changes what was there. Deterministic.
import { defaults } from '../../settings/defaults.ts'
import { Postings } from './postings.ts'
import { askedTerms, Best, rounded, Sums } from './ranking.ts'
import { charactersOf, type Lexicon } from './lexicon/terms.ts'

export interface Turn {
  readonly id: string
  readonly session: string
  readonly text: string
  readonly speaker?: string | undefined
  /** As people write it; a date in digits is understood. */
  readonly date?: string | undefined
  readonly isUser?: boolean | undefined
}

export interface RankedTurn {
  readonly id: string
  readonly session: string
  /** Share of the best score. */
  readonly score: number
}

interface KnownTurn {
  readonly id: string
  readonly session: number
  readonly place: number
  readonly firstChunk: number
  readonly lastChunk: number
  readonly words: number
  readonly prior: number
}

interface KnownSession {
  readonly name: string
  readonly turns: number[]
  words: number
}

export class TurnRanker {
  readonly #lexicon: Lexicon
  readonly #chunks = new Postings()
  readonly #turnOf: number[] = []
  readonly #turns: KnownTurn[] = []
  readonly #sessions: KnownSession[] = []
  readonly #sessionOf = new Map<string, number>()
  #words = 0

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon
  }

  /** Turns of a session are added in their order. */
  add(turn: Turn): void {
    const words = this.#lexicon.words(turn.text)
    const session = this.#sessionAt(turn.session)
    const known = this.#sessions[session]!
    const { speaker, date, chunkWords, overlapWords, user } = defaults.turns
    const around = new Map<string, number>()
    for (const word of this.#lexicon.words(turn.speaker ?? '')) around.set(word, speaker)
    for (const word of this.#lexicon.words(turn.date ?? '')) around.set(word, (around.get(word) ?? 0) + date)
    const firstChunk = this.#turnOf.length
    for (let from = 0; from === 0 || from + overlapWords < words.length; from += chunkWords - overlapWords) {
      const chunk = words.slice(from, from + chunkWords)
      const amounts = new Map(around)
      for (const word of chunk) {
        amounts.set(word, (amounts.get(word) ?? 0) + 1)
        for (const one of charactersOf(word)) amounts.set(one, (amounts.get(one) ?? 0) + halfOfPairs)
      }
      this.#chunks.add(amounts, chunk.length)
      this.#turnOf.push(this.#turns.length)
    }
    this.#turns.push({
      id: turn.id,
      session,
      place: known.turns.length,
      firstChunk,
      lastChunk: this.#turnOf.length - 1,
      words: words.length,
      prior: turn.isUser === true ? user : 1,
    })
    known.turns.push(this.#turns.length - 1)
    known.words += words.length
    this.#words += words.length
  }

  rank(query: string, most: number, isWanted: (id: string) => boolean = () => true): RankedTurn[] {
    const sums = new Sums(this.#turnOf.length)
    const sessionScores = new Float64Array(this.#sessions.length)
    const spread = new Sums(this.#turnOf.length)
    for (const [term, weight] of askedTerms(this.#lexicon, query, 0))
      this.#score(term, weight, spread, sums, sessionScores)
    const scores = new Sums(this.#turns.length)
    sums.drain((chunk, score) => {
      const turn = this.#turnOf[chunk]!
      scores.raise(turn, score * this.#turns[turn]!.prior)
    })
    const highest = scores.highest()
    if (highest === 0) return []
    const highestSession = sessionScores.reduce((a, b) => Math.max(a, b), 0) || 1
    const best = new Best<RankedTurn>(most)
    scores.drain((turn, own) => {
      const { id, session } = this.#turns[turn]!
      const lift = (defaults.turns.session * sessionScores[session]!) / highestSession
      const score = rounded(own / highest + lift)
      if (score >= best.least && isWanted(id))
        best.offer({ id, session: this.#sessions[session]!.name, score })
    })
    return best.all()
  }

  /** The ids around a turn in its session, in order, itself included. */
  around(id: string, turns: number): readonly string[] {
    const known = this.#turns.find((turn) => turn.id === id)
    if (known === undefined) return []
    const { turns: all } = this.#sessions[known.session]!
    return all
      .slice(Math.max(0, known.place - turns), known.place + turns + 1)
      .map((turn) => this.#turns[turn]!.id)
  }

  #sessionAt(name: string): number {
    const known = this.#sessionOf.get(name)
    if (known !== undefined) return known
    this.#sessions.push({ name, turns: [], words: 0 })
    this.#sessionOf.set(name, this.#sessions.length - 1)
    return this.#sessions.length - 1
  }

  #score(term: string, weight: number, spread: Sums, sums: Sums, sessionScores: Float64Array): void {
    const list = this.#chunks.list(term)
    if (list === undefined || (weight < 1 && list.live > defaults.ranking.longList)) return
    const { k1, b } = defaults.turns
    const bySession = new Map<number, number>()
    for (let at = 0; at < list.slots.length; at++) {
      const chunk = list.slots[at]!
      const amount = list.amounts[at]!
      spread.add(chunk, amount)
      const turn = this.#turns[this.#turnOf[chunk]!]!
      bySession.set(turn.session, (bySession.get(turn.session) ?? 0) + amount)
      this.#toNeighbours(turn, amount, spread)
    }
    const most = weight * this.#chunks.rarity(term) * (k1 + 1)
    const mean = this.#chunks.meanLength
    spread.drain((chunk, amount) => {
      sums.add(chunk, (most * amount) / (amount + k1 * (1 - b + (b * this.#chunks.lengthOf(chunk)) / mean)))
    })
    this.#scoreSessions(weight, bySession, sessionScores)
  }

  #toNeighbours(turn: KnownTurn, amount: number, spread: Sums): void {
    const { neighbours, neighbourWords } = defaults.turns
    const { turns } = this.#sessions[turn.session]!
    const cap = neighbourWords / Math.max(1, turn.words)
    for (const [offset, weight] of neighbours) {
      // A turn is the neighbour at -1 of the one after it.
      const other = turns[turn.place - offset]
      if (other === undefined) continue
      const { firstChunk, lastChunk } = this.#turns[other]!
      for (let chunk = firstChunk; chunk <= lastChunk; chunk++)
        spread.add(chunk, amount * Math.min(weight, cap))
    }
  }

  #scoreSessions(weight: number, found: ReadonlyMap<number, number>, scores: Float64Array): void {
    const { sessionK1: k1, sessionB: b } = defaults.turns
    const total = this.#sessions.length
    const mean = Math.max(1, this.#words / total)
    const rarity = Math.log(1 + (total - found.size + 0.5) / (found.size + 0.5))
    for (const [session, amount] of found) {
      const length = this.#sessions[session]!.words
      scores[session]! +=
        (weight * rarity * amount * (k1 + 1)) / (amount + k1 * (1 - b + (b * length) / mean))
    }
  }
}

/** A character stands in two pairs, but at the ends of a run. */
const halfOfPairs = 0.5
