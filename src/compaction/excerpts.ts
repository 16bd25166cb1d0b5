// Excerpts: lines of older blocks that stay word for word beside a summary, because later work is likely to need them.
// Blocks are cut into pieces of neighbouring lines, so that what an edit will quote stands whole. A piece is worth more the
// more its file is worked on and the newer it is; what is in sight anyway is worth nothing. The best for their size are
// taken as long as they fit. Names that are likely to be needed are the score's. Deterministic, and no model is asked.
import type { Kept } from '../transcript/fact.ts'
import { defaults } from '../settings/defaults.ts'
import { blockWords } from '../projection/folding/render.ts'
import { isPinned } from '../projection/folding/render.ts'
import { estimateText } from '../projection/tokens.ts'
import type { Part, ViewBlock } from '../projection/view.ts'
import type { PlanContext } from './plan-context.ts'
import { isRestored } from './restoring.ts'
import { callShape, showsFile } from './call-shape.ts'

interface Piece extends Place {
  readonly from: number
  /** Without the numbers that tools put before them. */
  readonly lines: readonly string[]
  readonly tokens: number
  readonly age: number
}

/** What stays of the parts from `start` to before `end`, in the order of their places. `shown` stays in any case. */
export function excerptsOf(
  context: PlanContext,
  { start, end }: { readonly start: number; readonly end: number },
  tokens: number,
  shown: readonly string[],
): readonly Kept[] {
  if (tokens <= 0) return []
  const calls = callsIn(context, start, end)
  const usage = usageIn(
    context.parts,
    [...calls.values()].map(({ block }) => block),
  )
  const sight = new Sight()
  for (const part of context.parts.slice(end)) for (const block of part.blocks) sight.add(linesIn(block))
  for (const text of shown) sight.add(text.split('\n'))
  const looked = context.parts.slice(newestFrom(context, start, end), end)
  const pieces = looked.flatMap((part) => piecesOf(context, part, usage))
  return keptOf(chosenFrom(pieces, tokens, usage, sight), calls)
}

/** A span longer than any window is looked through from its end: what lies further back is the least likely to be needed. */
function newestFrom({ parts }: PlanContext, start: number, end: number): number {
  let tokens = 0
  for (let index = end - 1; index >= start; index--) {
    tokens += parts[index]!.estimate
    if (tokens > defaults.excerpts.mostTokens) return index
  }
  return start
}

/** A block of an entry. */
interface Place {
  readonly part: Part
  readonly block: ViewBlock
  /** Its index in the entry. */
  readonly source: number
}

/** The calls of a span by their ids, those that an earlier boundary kept included. */
function callsIn(context: PlanContext, start: number, end: number): ReadonlyMap<string, Place> {
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
  { fold }: PlanContext,
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

/** The lines that can be seen. */
class Sight {
  readonly #lines = new Set<string>()

  add(lines: readonly string[]): void {
    for (const line of lines) this.#lines.add(line.trim())
  }

  hasLine(line: string): boolean {
    return this.#lines.has(line)
  }
}

const numbered = /^ *\d+(?:→|\t|[:-](?=\D))/
const bareOf = (line: string): string => (numbered.test(line) ? line.replace(numbered, '') : line)
const linesIn = (block: ViewBlock): string[] => blockWords(block).split('\n').map(bareOf)

function piecesOf(context: PlanContext, part: Part, usage: Usage): readonly Piece[] {
  // What was restored or held then is said again as it is now; quoted, it would be taken for that.
  if (part.kind === 'input' || isRestored(part)) return []
  if (part.kind === 'edit')
    return keptIn(context, part).flatMap(({ place, lines }) =>
      piecesIn(context, place, lines, defaults.excerpts.keptAge),
    )
  // What a stub left is not what the entry holds, and a made-up result holds nothing.
  if (part.by !== null || part.source[0] === -1) return []
  return part.blocks.flatMap((block, index) =>
    usage.isInstructions(block)
      ? []
      : piecesIn(context, { part, block, source: part.source[index]! }, null, usage.age(part)),
  )
}

function piecesIn(
  { factor, fold }: PlanContext,
  place: Place,
  ranges: Kept['lines'] | null,
  age: number,
): readonly Piece[] {
  // What is pinned stays whole beside them.
  if (isPinned(fold.edits.pins, place.part.from, place.source, Infinity)) return []
  const { pieceLines, pieceTokens } = defaults.excerpts
  const raw = blockWords(place.block).split('\n')
  const bare = raw.map(bareOf)
  const pieces: Piece[] = []
  const cut = (from: number, to: number): void => {
    const tokens = factor * estimateText(raw.slice(from, to).join('\n'))
    const middle = (from + to) >>> 1
    if (tokens > pieceTokens && middle > from) {
      cut(from, middle)
      cut(middle, to)
    } else if (tokens > 0 && tokens <= pieceTokens)
      pieces.push({ ...place, from, lines: bare.slice(from, to), tokens, age })
  }
  for (const [first, end] of ranges ?? [[0, raw.length] as const])
    for (let from = first; from < end; from += pieceLines) cut(from, Math.min(end, from + pieceLines))
  return pieces
}

/** What a piece adds to what is in sight, in tokens of a file at work. */
function worthOf({ block, lines, age }: Piece, usage: Usage, sight: Sight): number {
  const { newness, fading, otherWeight } = defaults.excerpts
  const each =
    (Math.log1p(usage.work(block)) + newness * Math.exp(-age / fading)) *
    (usage.showsFile(block) ? 1 : otherWeight)
  const unseen = lines.filter((line) => {
    const trimmed = line.trim()
    return trimmed !== '' && !sight.hasLine(trimmed)
  })
  return each * estimateText(unseen.join('\n'))
}

/** Greedy by worth for the size. What was taken makes others worth less, so each is weighed again when its turn comes. */
function chosenFrom(pieces: readonly Piece[], tokens: number, usage: Usage, sight: Sight): readonly Piece[] {
  const { fenceTokens, leastWorth } = defaults.excerpts
  const weigh = (piece: Piece): number => worthOf(piece, usage, sight) / (piece.tokens + fenceTokens)
  const queue = pieces
    .map((piece) => ({ piece, worth: weigh(piece) }))
    .sort((a, b) => a.worth - b.worth || a.piece.part.from - b.piece.part.from || b.piece.from - a.piece.from)
  const chosen: Piece[] = []
  let left = tokens
  for (let next = queue.pop(); next !== undefined && next.worth > leastWorth; next = queue.pop()) {
    const { piece } = next
    const cost = piece.tokens + fenceTokens
    if (cost > left) continue
    const worth = weigh(piece)
    if (worth < (queue.at(-1)?.worth ?? 0)) {
      insert(queue, { piece, worth })
      continue
    }
    chosen.push(piece)
    left -= cost
    sight.add(piece.lines)
  }
  return chosen
}

interface Weighed {
  readonly piece: Piece
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
function keptOf(pieces: readonly Piece[], calls: ReadonlyMap<string, Place>): readonly Kept[] {
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
    const to = piece.from + piece.lines.length
    if (last?.[1] === piece.from) last[1] = to
    else lines.push([piece.from, to])
  }
  for (const { block } of pieces) {
    const call = block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined
    if (call === undefined) continue
    const lines = linesFor(call)
    if (lines.length === 0) lines.push([0, defaults.excerpts.callLines])
  }
  return [...blocks.values()].sort((a, b) => a.at.seq - b.at.seq || a.at.block - b.at.block)
}

// Which files the calls worked on, lately more than long ago. What was worked on will be; nothing here knows the future.

interface Usage {
  /** How much calls have worked on the files that this block shows or names. */
  work(block: ViewBlock): number
  /** The block shows the text of a file: what an edit will have to quote. */
  showsFile(block: ViewBlock): boolean
  /** The block shows a file that comes with the instructions anyway. */
  isInstructions(block: ViewBlock): boolean
  /** Answers that came after a part. */
  age(part: Part): number
}

interface Worked {
  readonly files: readonly string[]
  readonly shows: boolean
  readonly changes: boolean
}

type Call = Extract<ViewBlock, { readonly type: 'tool_use'; readonly input: unknown }>

/** `earlier` are calls that an earlier boundary kept: they say what their results show, and use nothing any more. */
function usageIn(parts: readonly Part[], earlier: readonly ViewBlock[]): Usage {
  const { fading, changeWeight } = defaults.excerpts
  const files = new Map<string, number>()
  const calls = new Map<string, Worked>()
  const ages = new Map<Part, number>()
  const learn = (call: Call) => {
    const shape = callShape(call)
    const own = {
      files: shape.files.map(nearestOf),
      shows: showsFile(shape),
      changes: shape.deed === 'edited' || shape.deed === 'written',
    }
    calls.set(call.id, own)
    return own
  }
  for (const call of earlier.filter(isCall)) learn(call)
  let age = parts.filter((part) => part.kind === 'answer').length
  for (const part of parts) {
    if (part.kind === 'answer') age--
    ages.set(part, age)
    const weight = Math.exp(-age / fading)
    for (const call of part.blocks.filter(isCall)) {
      const own = learn(call)
      const worked = weight * (own.changes ? changeWeight : 1)
      for (const file of own.files) files.set(file, (files.get(file) ?? 0) + worked)
    }
  }
  const callOf = (block: ViewBlock) => {
    if (isCall(block)) return calls.get(block.id)
    return block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined
  }
  return {
    work: (block) => Math.max(0, ...(callOf(block)?.files ?? []).map((file) => files.get(file) ?? 0)),
    showsFile: (block) => (isCall(block) ? callOf(block)?.changes : callOf(block)?.shows) === true,
    isInstructions: (block) =>
      callOf(block)?.files.some((file) => instructionFiles.has(file.slice(file.lastIndexOf('/') + 1))) ===
      true,
    age: (part) => ages.get(part) ?? 0,
  }
}

const instructionFiles: ReadonlySet<string> = new Set(defaults.restoration.instructionFiles)

const isCall = (block: ViewBlock): block is Call => block.type === 'tool_use' && 'input' in block

/** Each with its nearest folder: commands name them in many ways. */
const nearestOf = (path: string): string => path.split('/').slice(-2).join('/')
