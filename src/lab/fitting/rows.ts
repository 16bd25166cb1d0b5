// What is learned from: at simulated boundaries every name seen so far with whether a later call used it before it was
// seen again, and for those that were used, the lines that held them with whether they say what the use is about. The
// features are those of the compaction itself; the future is looked at here alone.
import { namesIn } from '../../compaction/phrases.ts'
import { lineValuesIn, nameValuesIn } from '../../compaction/scoring/choice.ts'
import { wordsIn } from '../../compaction/scoring/lines.ts'
import { surveyOf, type Survey } from '../../compaction/scoring/survey.ts'
import { defaults } from '../../settings/defaults.ts'
import { wordsAround } from '../measuring/atoms.ts'
import { simulatedMoments } from '../compactions/moments.ts'
import { foldOf } from '../compactions/ours.ts'
import { leaves, linesOf, textOf } from '../measuring/texts.ts'
import type { RecordedTurn, Recording } from '../recording.ts'

/** Numbers of rows of one session, ready for `fitLogistic`. */
export interface SessionRows {
  readonly name: number[]
  readonly line: number[]
}

export function rowsOf(recording: Recording): SessionRows {
  const rows: SessionRows = { name: [], line: [] }
  for (const { before, after } of simulatedMoments(recording, defaults.lab.fitting.perSession)) {
    const fold = foldOf(before)
    addRows(surveyOf({ fold, parts: [...fold.parts()] }), usesIn(after), rows)
  }
  return rows
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
        for (const leaf of leaves(block.input))
          for (const name of namesIn(leaf)) if (!again.has(name) && !uses.has(name)) uses.set(name, text)
      }
    for (const name of namesIn(text)) again.add(name)
  }
  return uses
}

function addRows(survey: Survey, uses: Uses, rows: SessionRows): void {
  const { oneIn } = defaults.lab.fitting
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
  const { linesEach } = defaults.lab.fitting
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
