// What is learned from: at simulated boundaries every name seen so far with whether a later call used it before it was
// seen again, and for those that were used, the lines that held them with whether they say what the use is about. The
// features are those of the compaction itself; the future is looked at here alone.
import { factsOf } from '../../src/compaction/excerpts.ts'
import { piecesIn, type Piece } from '../../src/compaction/pieces.ts'
import { namesIn } from '../../src/compaction/phrases.ts'
import { lineValuesIn, nameValuesIn } from '../../src/compaction/scoring/choice.ts'
import { wordsIn } from '../../src/compaction/scoring/lines.ts'
import { pieceValues } from '../../src/compaction/scoring/pieces.ts'
import { surveyOf, type Survey } from '../../src/compaction/scoring/survey.ts'
import { withCodeOpened } from '../../src/compaction/call-shape.ts'
import { blockWords, stringsIn } from '../../src/projection/folding/render.ts'
import type { ViewBlock } from '../../src/projection/view.ts'
import type { PlanContext } from '../../src/compaction/plan-context.ts'
import { wordsAround } from '../../src/lab/measuring/atoms.ts'
import { simulatedMoments } from '../../src/lab/compactions/moments.ts'
import { quotesIn } from './at-dial.ts'
import { plannedFrom, foldOf, newestIn } from '../../src/lab/compactions/ours.ts'
import { linesOf, textOf, withoutLineNumbers } from '../../src/lab/measuring/texts.ts'
import type { RecordedTurn, Recording } from '../../src/lab/recording.ts'

/** Boundaries that are simulated in a session. */
const perSession = 8
/** Of names that were not needed one in so many is a row, which counts that often. */
const oneIn = 8
/** The newest lines of a needed name that are rows. */
const linesEach = 12

/** Numbers of rows of one session, ready for `fitLogistic`. */
export interface SessionRows {
  readonly name: number[]
  readonly line: number[]
  readonly piece: number[]
}

export function rowsOf(recording: Recording): SessionRows {
  const rows: SessionRows = { name: [], line: [], piece: [] }
  for (const { before, after } of simulatedMoments(recording, perSession)) {
    const fold = foldOf(before)
    addRows(surveyOf({ fold, parts: [...fold.parts()] }), usesIn(after), rows)
    const context = plannedFrom(fold)
    if (context === null) continue
    addPieces(
      context,
      quotesIn(after).map(({ text }) => text),
      rows,
    )
  }
  return rows
}

/** All pieces of what stands before the newest messages, with whether one of the texts stands in them. */
function addPieces(context: PlanContext, quotes: readonly string[], rows: SessionRows): void {
  const { end } = newestIn(context)
  const pieces = piecesIn(context, { start: 0, end })
  const usage = context.usage()
  const { need } = context.scored()
  const blocks = new Map<ViewBlock, Piece[]>()
  for (const piece of pieces) {
    const own = blocks.get(piece.block)
    if (own === undefined) blocks.set(piece.block, [piece])
    else own.push(piece)
  }
  const quoted = new Set<Piece>()
  for (const [block, own] of blocks) {
    const text = withoutLineNumbers(blockWords(block))
    for (const quote of quotes) {
      const at = text.indexOf(quote)
      if (at < 0) continue
      const first = text.slice(0, at).split('\n').length - 1
      const last = first + quote.split('\n').length - 1
      for (const piece of own) if (piece.from <= last && piece.to > first) quoted.add(piece)
    }
  }
  for (const [index, piece] of pieces.entries()) {
    const isQuoted = quoted.has(piece)
    if (!isQuoted && index % oneIn !== 0) continue
    rows.piece.push(...pieceValues(factsOf(piece, usage, need)), isQuoted ? 1 : 0, isQuoted ? 1 : oneIn)
  }
}

type Uses = ReadonlyMap<string, string>

/** The answer that first uses each name, where nothing showed it in between. */
function usesIn(after: readonly RecordedTurn[]): Uses {
  const uses = new Map<string, string>()
  const again = new Set<string>()
  for (const { role, content } of after) {
    const text = content.map(({ block }) => textOf({ ...block })).join('\n')
    if (role === 'assistant')
      for (const { block } of content) {
        if (block.type !== 'tool_use' || !('input' in block)) continue
        for (const leaf of withCodeOpened(stringsIn(block.input), stringsIn))
          for (const name of namesIn(leaf)) if (!again.has(name) && !uses.has(name)) uses.set(name, text)
      }
    for (const name of namesIn(text)) again.add(name)
  }
  return uses
}

function addRows(survey: Survey, uses: Uses, rows: SessionRows): void {
  const needed = new Map<number, ReadonlySet<string>>()
  for (const [index, name] of survey.names.entries()) {
    const use = uses.get(name)
    if (use === undefined && index % oneIn !== 0) continue
    rows.name.push(...nameValuesIn(survey, index), use === undefined ? 0 : 1, use === undefined ? oneIn : 1)
    if (use !== undefined) needed.set(index, useWords(name, use))
  }
  addLines(survey, needed, rows)
}

const useWords = (name: string, use: string): ReadonlySet<string> =>
  new Set([...linesOf(use)].flatMap((line) => [...wordsAround(name, line)]))

/** The newest lines of each name that was needed. */
function addLines(survey: Survey, needed: ReadonlyMap<number, ReadonlySet<string>>, rows: SessionRows): void {
  const taken = new Map<number, number>()
  for (const line of survey.lines.toReversed()) {
    for (const name of line.names) {
      const words = needed.get(name)
      const before = taken.get(name) ?? 0
      if (words === undefined || before >= linesEach) continue
      taken.set(name, before + 1)
      const { title } = survey.subjects[line.subject]!
      const around = wordsAround(survey.names[name]!, `${title}\n${line.text}`)
      const helps = [...around].some((word) => words.has(word))
      const titleShared = [...wordsIn(title)].filter((word) => survey.recent.has(word)).length
      rows.line.push(...lineValuesIn(survey, line, titleShared), helps ? 1 : 0, 1)
    }
  }
}
