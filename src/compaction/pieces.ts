// Blocks of a span cut into pieces of neighbouring lines, so that what an edit will quote stands whole: what excerpts are
// chosen from.
import type { Kept } from '../transcript/fact.ts'
import { defaults } from '../settings/defaults.ts'
import { blockWords, isPinned, stringsIn } from '../projection/folding/render.ts'
import { estimateText } from '../projection/tokens.ts'
import type { Part, ViewBlock } from '../projection/view.ts'
import type { PlanContext } from './plan-context.ts'
import { sidesOf } from './changes.ts'
import { isCall } from './plain-call.ts'
import { isRestored, isSkillText } from './restoring.ts'
import { keptIn, type Place, type Usage } from './file-work.ts'

export interface Piece extends Place {
  /** Lines of the block, from (included) to (excluded). */
  readonly from: number
  readonly to: number
  /** Those that say something, bare. */
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
export type PieceContext = Pick<PlanContext, 'fold' | 'parts' | 'factor' | 'scored' | 'usage'>

/** Parts from `start` to before `end`. */
export interface Parts {
  readonly start: number
  readonly end: number
}

/** What could stay of a span; where it is only to be chosen from, without what can never be. */
export function piecesIn(context: PieceContext, { start, end }: Parts, toChoose = false): readonly Piece[] {
  const usage = context.usage()
  const looked = context.parts.slice(newestFrom(context, start, end), end)
  // What shows no file and names nothing is nothing that later work could go by.
  const needsNames = (block: ViewBlock): boolean => toChoose && !usage.showsFile(block)
  return looked.flatMap((part) => piecesOf(context, part, usage, needsNames))
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

/** Of some lines, each once. */
function namesIn(from: number, to: number, namesAt: (line: number) => readonly number[]): readonly number[] {
  const names = new Set<number>()
  for (let at = from; at < to; at++) for (const name of namesAt(at)) names.add(name)
  return [...names]
}

/** Those that say something, without white space at their ends and the numbers that tools put before them. */
function wordsOf(lines: readonly string[], from: number, to: number): readonly string[] {
  const words: string[] = []
  for (let at = from; at < to; at++) {
    const line = bareOf(lines[at]!).trim()
    if (line !== '') words.push(line)
  }
  return words
}

/** Of a block that `needsNames` only what has some. */
type NeedsNames = (block: ViewBlock) => boolean

function piecesOf(context: PieceContext, part: Part, usage: Usage, needsNames: NeedsNames): readonly Piece[] {
  // What was restored or held then is said again as it is now; quoted, it would be taken for that.
  if (part.kind === 'input' || isRestored(part)) return []
  if (part.kind === 'edit')
    return keptIn(context.fold, part).flatMap(({ place, lines }) =>
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
  { factor, fold, scored, usage }: PieceContext,
  place: Place,
  ranges: Kept['lines'] | null,
  age: number,
  needsNames: boolean,
): readonly Piece[] {
  if (usage().isTasks(place.block)) return []
  // What is pinned stays whole beside them.
  if (isPinned(fold.edits.pins, place.part.from, place.source, Infinity)) return []
  const { pieceTokens } = defaults.excerpts
  const text = blockWords(place.block)
  if (isSkillText(text)) return []
  const { met, read } = scored().survey
  const known = read.get(place.block)
  const raw = known?.lines ?? text.split('\n')
  const namesAt = (at: number): readonly number[] =>
    (known === undefined ? met.get(raw[at]!) : known.names[at]) ?? []
  const begins = beginningsOf(raw)
  const pieces: Piece[] = []
  const cut = (from: number, to: number): void => {
    const names = namesIn(from, to, namesAt)
    if (needsNames && names.length === 0) return
    const tokens = factor * estimateText(text.slice(begins[from], begins[to]! - 1))
    const middle = (from + to) >>> 1
    if (tokens > pieceTokens && middle > from) {
      cut(from, middle)
      cut(middle, to)
    } else if (tokens > 0 && tokens <= pieceTokens) {
      let words: readonly string[] | null = null
      pieces.push({
        ...place,
        from,
        to,
        // Of most pieces nobody asks.
        get lines() {
          return (words ??= wordsOf(raw, from, to))
        },
        tokens,
        blockLines: raw.length,
        age,
        isKept: ranges !== null,
        names,
      })
    }
  }
  for (const [first, end] of ranges ?? standingIn(place.block, raw.length))
    for (let from = first, to = first; from < end; from = to) {
      to = pieceEnd(raw, from, end)
      cut(from, to)
    }
  return pieces
}

/** Where each line begins in their text, and where one more would. */
function beginningsOf(lines: readonly string[]): Uint32Array {
  const begins = new Uint32Array(lines.length + 1)
  for (let at = 0; at < lines.length; at++) begins[at + 1] = begins[at]! + lines[at]!.length + 1
  return begins
}

/** The lines of a block, each text of a change apart and without those that it replaces: they are in no file any more. */
function standingIn(block: ViewBlock, lines: number): readonly (readonly [from: number, to: number])[] {
  const replaced = new Set(isCall(block) ? sidesOf(block.input).map(({ old }) => old) : [])
  if (replaced.size === 0 || !isCall(block)) return [[0, lines]]
  const standing: [from: number, to: number][] = []
  // The name of the tool stands first.
  let from = 1
  for (const text of stringsIn(block.input)) {
    const to = from + text.split('\n').length
    if (!replaced.has(text)) standing.push([from, to])
    from = to
  }
  return standing
}

/** A piece ends where a paragraph does, before a line that is not indented rather than another, if one ends near the usual length. */
function pieceEnd(raw: readonly string[], from: number, end: number): number {
  const { pieceLines, pieceSlack } = defaults.excerpts
  const usual = from + pieceLines
  if (end <= usual + pieceSlack) return end
  let best = usual
  let rank = 0
  for (let at = usual - pieceSlack; at <= usual + pieceSlack; at++) {
    if (bareOf(raw[at - 1]!).trim() !== '') continue
    const own = /^\s/.test(bareOf(raw[at]!)) ? 1 : 2
    if (own > rank || (own === rank && Math.abs(at - usual) < Math.abs(best - usual))) {
      best = at
      rank = own
    }
  }
  return best
}

const numbered = /^ *\d+(?:→|\t|[:-](?=\D))/
const bareOf = (line: string): string =>
  line.charCodeAt(0) <= codeOfNine && numbered.test(line) ? line.replace(numbered, '') : line
/** Most lines begin with neither blanks nor digits. */
const codeOfNine = 57
export const linesIn = (block: ViewBlock): string[] => blockWords(block).split('\n').map(bareOf)
