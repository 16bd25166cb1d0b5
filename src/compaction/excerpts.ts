// Excerpts: lines of older blocks that stay word for word beside a summary, because later work is likely to need them.
// Blocks are cut into pieces of neighbouring lines, so that what an edit will quote stands whole. The score says how likely
// that is, and how likely the names in a piece are used; what is in sight anyway is worth nothing. The best for their size
// are taken as long as they fit. Deterministic, and no model is asked.
import type { Kept } from '../transcript/fact.ts'
import { defaults } from '../settings/defaults.ts'
import { blockWords, isPinned } from '../projection/folding/render.ts'
import { estimateText } from '../projection/tokens.ts'
import type { Part, ViewBlock } from '../projection/view.ts'
import type { PlanContext } from './plan-context.ts'
import { isRestored, isSkillText } from './restoring.ts'
import { usageIn, type Usage } from './file-work.ts'
import { chanceOf } from './scoring/choice.ts'
import type { Survey } from './scoring/survey.ts'
import { pieceValues, type PieceFacts } from './scoring/pieces.ts'

export interface Piece extends Place {
  /** Lines of the block, from (included) to (excluded). */
  readonly from: number
  readonly to: number
  /** Those that say something, without white space at their ends and the numbers that tools put before them. */
  readonly lines: readonly string[]
  readonly tokens: number
  /** Lines of all the block. */
  readonly blockLines: number
  readonly age: number
  readonly isKept: boolean
  /** Indexes of its names in the survey. */
  readonly names: readonly number[]
}

/** What pieces are made of and chosen by. */
export type PieceContext = Pick<PlanContext, 'fold' | 'parts' | 'factor' | 'scored'>

/** Parts from `start` to before `end`. */
interface Parts {
  readonly start: number
  readonly end: number
}

/** What stays of the parts, in the order of their places. `shown` stays in any case. */
export function excerptsOf(
  context: PieceContext,
  span: Parts,
  tokens: number,
  shown: readonly string[],
): readonly Kept[] {
  if (tokens <= 0) return []
  const { likely, calls } = likelyIn(context, span)
  return keptOf(chosenFrom(likely, tokens, new Sight(context, span, shown)), calls)
}

/** The pieces that later work could go by, each with its chance. */
export function likelyIn(
  context: PieceContext,
  span: Parts,
): { readonly likely: readonly Likely[]; readonly calls: ReadonlyMap<string, Place> } {
  const { pieces, usage, calls } = piecesIn(context, span, true)
  const { need, weights } = context.scored()
  const likely = pieces.map((piece): Likely => {
    const values = pieceValues(factsOf(piece, usage, need))
    return { piece, values, chance: chanceOf(values, weights.piece) }
  })
  return { likely, calls }
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

/** What could stay of a span, with what is known of it; where it is only to be chosen from, without what can never be. */
export function piecesIn(
  context: PieceContext,
  { start, end }: Parts,
  toChoose = false,
): {
  readonly pieces: readonly Piece[]
  readonly usage: Usage
  readonly calls: ReadonlyMap<string, Place>
} {
  const calls = callsIn(context, start, end)
  const kept = [...calls.values()].map(({ block }) => block)
  const usage = usageIn(context, kept)
  const looked = context.parts.slice(newestFrom(context, start, end), end)
  // What shows no file and names nothing is nothing that later work could go by.
  const needsNames = (block: ViewBlock): boolean => toChoose && !usage.showsFile(block)
  return { pieces: looked.flatMap((part) => piecesOf(context, part, usage, needsNames)), usage, calls }
}

/** A piece as the score sees it. */
export function factsOf(piece: Piece, usage: Usage, need: Float64Array): PieceFacts {
  const { block, part, age, isKept, lines, blockLines, tokens, names } = piece
  let expected = 0
  for (const name of names) expected += need[name]!
  return {
    age,
    now: usage.now,
    shows: usage.showsFile(block),
    role: block.type === 'tool_use' ? 'call' : part.kind === 'answer' ? 'answer' : 'result',
    isKept,
    file: usage.fileOf(block),
    lines,
    blockLines,
    tokens,
    need: expected,
  }
}

/** A span longer than any window is looked through from its end: what lies further back is the least likely to be needed. */
function newestFrom({ parts }: PieceContext, start: number, end: number): number {
  let tokens = 0
  for (let index = end - 1; index >= start; index--) {
    tokens += parts[index]!.estimate
    if (tokens > defaults.excerpts.mostTokens) return index
  }
  return start
}

/** A block of an entry. */
export interface Place {
  readonly part: Part
  readonly block: ViewBlock
  /** Its index in the entry. */
  readonly source: number
}

/** The calls of a span by their ids, those that an earlier boundary kept included. */
function callsIn(context: PieceContext, start: number, end: number): ReadonlyMap<string, Place> {
  const calls = new Map<string, Place>()
  const note = (place: Place): void => {
    if (place.block.type === 'tool_use') calls.set(place.block.id, place)
  }
  for (const part of context.parts.slice(start, end)) {
    if (part.kind === 'edit') for (const { place } of keptIn(context, part)) note(place)
    else
      for (const [index, block] of part.blocks.entries()) note({ part, block, source: part.source[index]! })
  }
  return calls
}

/** What an earlier boundary kept in lines. */
function keptIn(
  { fold }: PieceContext,
  { from }: Part,
): readonly { readonly place: Place; readonly lines: NonNullable<Kept['lines']> }[] {
  const top = fold.edits.topAt(from)
  if (top?.edit.kind !== 'summary') return []
  return top.edit.keep.flatMap(({ at, lines }) => {
    const part = lines === undefined ? undefined : fold.units.find(at.seq)
    const index = part?.source.indexOf(at.block ?? 0) ?? -1
    if (part === undefined || index < 0) return []
    return [{ place: { part, block: part.blocks[index]!, source: at.block ?? 0 }, lines: lines! }]
  })
}

function namesIn(lines: readonly string[], met: Survey['met']): readonly number[] {
  const names = new Set<number>()
  for (const line of lines) for (const name of met.get(line) ?? []) names.add(name)
  return [...names]
}

/** What can be seen beside a span, and what a piece of it adds to that. */
class Sight {
  readonly #lines = new Set<string>()
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
  worthOf({ piece, chance }: Likely): number {
    const { fenceTokens, namesWeight } = defaults.excerpts
    let unseen = 0
    for (const line of piece.lines) if (!this.#lines.has(line)) unseen++
    if (unseen === 0) return 0
    let names = 0
    for (const name of piece.names) if (this.#known[name] === 0) names += this.#need[name]!
    return ((unseen / piece.lines.length) * chance + namesWeight * names) / (piece.tokens + fenceTokens)
  }

  take({ lines, names }: Piece): void {
    for (const line of lines) this.#lines.add(line)
    for (const name of names) this.#known[name] = 1
  }

  #see(lines: readonly string[]): void {
    for (const line of lines) this.#lines.add(line.trim())
  }
}

/** A piece with its features, and the chance they give that an edit quotes it before it is shown again. */
export interface Likely {
  readonly piece: Piece
  readonly values: readonly number[]
  readonly chance: number
}

const numbered = /^ *\d+(?:→|\t|[:-](?=\D))/
const bareOf = (line: string): string => (numbered.test(line) ? line.replace(numbered, '') : line)
const linesIn = (block: ViewBlock): string[] => blockWords(block).split('\n').map(bareOf)

/** Of a block that `needsNames` only what has some. */
type NeedsNames = (block: ViewBlock) => boolean

function piecesOf(context: PieceContext, part: Part, usage: Usage, needsNames: NeedsNames): readonly Piece[] {
  // What was restored or held then is said again as it is now; quoted, it would be taken for that.
  if (part.kind === 'input' || isRestored(part)) return []
  if (part.kind === 'edit')
    return keptIn(context, part).flatMap(({ place, lines }) =>
      piecesInBlock(context, place, lines, usage.ageOf(place.part.from), needsNames(place.block)),
    )
  // What a stub left is not what the entry holds, and a made-up result holds nothing.
  if (part.by !== null || part.source[0] === -1) return []
  return part.blocks.flatMap((block, index) =>
    usage.isInstructions(block)
      ? []
      : piecesInBlock(
          context,
          { part, block, source: part.source[index]! },
          null,
          usage.ageOf(part.from),
          needsNames(block),
        ),
  )
}

function piecesInBlock(
  { factor, fold, scored }: PieceContext,
  place: Place,
  ranges: Kept['lines'] | null,
  age: number,
  needsNames: boolean,
): readonly Piece[] {
  // What is pinned stays whole beside them.
  if (isPinned(fold.edits.pins, place.part.from, place.source, Infinity)) return []
  const { pieceLines, pieceTokens } = defaults.excerpts
  const text = blockWords(place.block)
  if (isSkillText(text)) return []
  const raw = text.split('\n')
  const pieces: Piece[] = []
  const { met } = scored().survey
  const cut = (from: number, to: number): void => {
    const own = raw.slice(from, to)
    const names = namesIn(own, met)
    if (needsNames && names.length === 0) return
    const tokens = factor * estimateText(own.join('\n'))
    const middle = (from + to) >>> 1
    if (tokens > pieceTokens && middle > from) {
      cut(from, middle)
      cut(middle, to)
    } else if (tokens > 0 && tokens <= pieceTokens)
      pieces.push({
        ...place,
        from,
        to,
        lines: own.map((line) => bareOf(line).trim()).filter((line) => line !== ''),
        tokens,
        blockLines: raw.length,
        age,
        isKept: ranges !== null,
        names,
      })
  }
  for (const [first, end] of ranges ?? [[0, raw.length] as const])
    for (let from = first; from < end; from += pieceLines) cut(from, Math.min(end, from + pieceLines))
  return pieces
}

/** Greedy by worth for the size. What was taken makes others worth less, so each is weighed again when its turn comes. */
function chosenFrom(pieces: readonly Likely[], tokens: number, sight: Sight): readonly Likely[] {
  const { fenceTokens, leastWorth } = defaults.excerpts
  const queue = pieces
    .map((likely) => ({ likely, worth: sight.worthOf(likely) }))
    .sort((a, b) => a.worth - b.worth || byPlace(a.likely.piece, b.likely.piece))
  const chosen: Likely[] = []
  let left = tokens
  for (let next = queue.pop(); next !== undefined && next.worth > leastWorth; next = queue.pop()) {
    const { likely } = next
    const cost = likely.piece.tokens + fenceTokens
    if (cost > left) continue
    const worth = sight.worthOf(likely)
    if (worth < (queue.at(-1)?.worth ?? 0)) {
      insert(queue, { likely, worth })
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

function insert(queue: Weighed[], one: Weighed): void {
  let low = 0
  let high = queue.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (queue[middle]!.worth < one.worth) low = middle + 1
    else high = middle
  }
  queue.splice(low, 0, one)
}

/** Pieces of one block as one, neighbours joined, and before a result the call that says what it is. */
function keptOf(chosen: readonly Likely[], calls: ReadonlyMap<string, Place>): readonly Kept[] {
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
  for (const { block } of pieces) {
    const call = block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined
    if (call === undefined) continue
    const lines = linesFor(call)
    if (lines.length === 0) lines.push([0, defaults.excerpts.callLines])
  }
  return [...blocks.values()].sort((a, b) => a.at.seq - b.at.seq || a.at.block - b.at.block)
}
