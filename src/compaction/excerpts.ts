// Excerpts: lines of older blocks that stay word for word beside a summary, because later work is likely to need them.
// The score says how likely an edit quotes a piece, and how likely the names in it are used; what is in sight anyway is worth
// nothing. The best for their size are taken as long as they fit. Deterministic, and no model is asked.
import type { Kept } from '../transcript/fact.ts'
import { defaults } from '../settings/defaults.ts'
import type { Place, Usage } from './file-work.ts'
import { linesIn, piecesIn, type Parts, type Piece, type PieceContext } from './pieces.ts'
import { isCall } from './plain-call.ts'
import { chanceOf } from './scoring/choice.ts'
import { pieceValues, type PieceFacts } from './scoring/pieces.ts'

/** What stays of the parts, in the order of their places. `shown` stays in any case. */
export function excerptsOf(
  context: PieceContext,
  span: Parts,
  tokens: number,
  shown: readonly string[],
): readonly Kept[] {
  if (tokens <= 0) return []
  const chosen = chosenFrom(likelyIn(context, span), tokens, new Sight(context, span, shown))
  return keptOf(chosen, context.usage())
}

/** The pieces that later work could go by, each with its chance. */
export function likelyIn(context: PieceContext, span: Parts): readonly Likely[] {
  const { need, weights } = context.scored()
  const usage = context.usage()
  return piecesIn(context, span, true).map((piece): Likely => {
    const values = pieceValues(factsOf(piece, usage, need))
    return { piece, values, chance: chanceOf(values, weights.piece) }
  })
}

/** Those that would have come next beside what stayed. */
export function nextOf(
  context: PieceContext,
  span: Parts,
  {
    left,
    stayed,
    shown,
  }: {
    readonly left: readonly Likely[]
    readonly stayed: readonly Likely[]
    readonly shown: readonly string[]
  },
): readonly Likely[] {
  const sight = new Sight(context, span, shown)
  for (const { piece } of stayed) sight.take(piece)
  return chosenFrom(left, defaults.score.whyTokens, sight)
}

/** A piece as the score sees it. */
export function factsOf(piece: Piece, usage: Usage, need: Float64Array): PieceFacts {
  const { block, part, age, isKept, blockLines, tokens, names } = piece
  let expected = 0
  for (const name of names) expected += need[name]!
  return {
    age,
    now: usage.now,
    shows: usage.showsFile(block),
    role: block.type === 'tool_use' ? 'call' : part.kind === 'answer' ? 'answer' : 'result',
    isKept,
    file: usage.fileOf(block),
    lines: () => piece.lines,
    blockLines,
    tokens,
    need: expected,
  }
}

/** What can be seen beside a span, and what a piece of it adds to that. */
class Sight {
  /** Lines by the line before them, and all by none: a text is in sight where it stands together. */
  readonly #after = new Map<string, Set<string>>()
  readonly #need: Float64Array
  /** Names that stand somewhere else: 1 each. */
  readonly #known: Uint8Array

  constructor({ parts, scored }: PieceContext, { start, end }: Parts, shown: readonly string[]) {
    const { need, survey } = scored()
    this.#need = need
    this.#known = new Uint8Array(need.length)
    for (const part of parts.slice(end)) for (const block of part.blocks) this.#see(linesIn(block))
    for (const text of shown) this.#see(text.split('\n'))
    for (const [part, names] of survey.shown.entries())
      if (part < start || part >= end) for (const name of names) this.#known[name] = 1
  }

  /** For each token: an edit that finds its text, and names that calls will use. */
  worthOf(likely: Likely): number {
    const unseen = this.#unseenOf(likely.piece.lines)
    return unseen === 0 ? 0 : this.#worth(likely, unseen)
  }

  /** The same, if nothing of its text is in sight. */
  mostOf(likely: Likely): number {
    return this.#worth(likely, 1)
  }

  #worth({ piece, chance }: Likely, unseen: number): number {
    const { fenceTokens, namesWeight } = defaults.excerpts
    let names = 0
    for (const name of piece.names) if (this.#known[name] === 0) names += this.#need[name]!
    return (unseen * chance + namesWeight * names) / (piece.tokens + fenceTokens)
  }

  take({ lines, names }: Piece): void {
    this.#see(lines)
    for (const name of names) this.#known[name] = 1
  }

  /** The share of these lines that stands nowhere behind the line that is before it here. */
  #unseenOf(lines: readonly string[]): number {
    if (lines.length === 1) return this.#follows('', lines[0]!) ? 0 : 1
    let unseen = 0
    for (let at = 1; at < lines.length; at++) if (!this.#follows(lines[at - 1]!, lines[at]!)) unseen++
    return unseen / Math.max(1, lines.length - 1)
  }

  #follows(before: string, line: string): boolean {
    return this.#after.get(before)?.has(line) === true
  }

  #see(lines: readonly string[]): void {
    let before = ''
    for (const line of lines.map((one) => one.trim()).filter((one) => one !== '')) {
      this.#note('', line)
      if (before !== '') this.#note(before, line)
      before = line
    }
  }

  #note(before: string, line: string): void {
    const own = this.#after.get(before)
    if (own === undefined) this.#after.set(before, new Set([line]))
    else own.add(line)
  }
}

/** A piece with its features, and the chance they give that an edit quotes it before it is shown again. */
export interface Likely {
  readonly piece: Piece
  readonly values: readonly number[]
  readonly chance: number
}

/**
 * Greedy by worth for the size. What was taken makes others worth less, so each is weighed when its turn comes, by what it is
 * worth at most; where nothing of it is in sight, that is true.
 */
function chosenFrom(pieces: readonly Likely[], tokens: number, sight: Sight): readonly Likely[] {
  const { fenceTokens, leastWorth } = defaults.excerpts
  const queue = pieces.map((likely) => ({ likely, worth: sight.mostOf(likely) })).sort(byWorth)
  const chosen: Likely[] = []
  let left = tokens
  for (let next = queue.pop(); next !== undefined && next.worth > leastWorth; next = queue.pop()) {
    const { likely } = next
    const cost = likely.piece.tokens + fenceTokens
    if (cost > left) continue
    const weighed = { likely, worth: sight.worthOf(likely) }
    if (weighed.worth <= leastWorth) continue
    const then = queue.at(-1)
    if (then !== undefined && byWorth(weighed, then) < 0) {
      insert(queue, weighed)
      continue
    }
    chosen.push(likely)
    left -= cost
    sight.take(likely.piece)
  }
  return chosen
}

/** Of equals the newer block, and in it the earlier lines, come first off the end. */
const byPlace = (a: Piece, b: Piece): number => a.part.from - b.part.from || b.from - a.from

interface Weighed {
  readonly likely: Likely
  readonly worth: number
}

const byWorth = (a: Weighed, b: Weighed): number =>
  a.worth - b.worth || byPlace(a.likely.piece, b.likely.piece)

function insert(queue: Weighed[], one: Weighed): void {
  let low = 0
  let high = queue.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byWorth(queue[middle]!, one) < 0) low = middle + 1
    else high = middle
  }
  queue.splice(low, 0, one)
}

/** Pieces of one block as one, neighbours joined, and before a result the call that says what it is. */
function keptOf(chosen: readonly Likely[], usage: Usage): readonly Kept[] {
  const pieces = chosen.map(({ piece }) => piece)
  const blocks = new Map<string, { readonly at: Required<Kept['at']>; readonly lines: [number, number][] }>()
  const linesFor = ({ part, source }: Place): [number, number][] => {
    const key = `${part.from}.${source}`
    const own = blocks.get(key) ?? { at: { seq: part.from, block: source }, lines: [] }
    blocks.set(key, own)
    return own.lines
  }
  for (const piece of pieces.toSorted((a, b) => a.from - b.from)) {
    const lines = linesFor(piece)
    const last = lines.at(-1)
    if (last?.[1] === piece.from) last[1] = piece.to
    else lines.push([piece.from, piece.to])
  }
  for (const piece of pieces) {
    const { block } = piece
    // Which file a change is in stands at its beginning.
    const first = isCall(block) ? linesFor(piece)[0]! : null
    if (first !== null && first[0] <= defaults.excerpts.headLines) first[0] = 0
    else if (first !== null) linesFor(piece).unshift([0, defaults.excerpts.headLines])
    const call = block.type === 'tool_result' ? usage.callOf(block.tool_use_id) : undefined
    if (call === undefined) continue
    const lines = linesFor(call)
    if (lines.length === 0) lines.push([0, defaults.excerpts.callLines])
  }
  return [...blocks.values()].sort((a, b) => a.at.seq - b.at.seq || a.at.block - b.at.block)
}
