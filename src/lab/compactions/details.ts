// What the recorded future needed of what had been said before a compaction: atoms that a later call uses and that were
// not seen again until then. Independent of any text that is judged by it.
import { isDone, tasksOf, taskText } from '../../compaction/task-list.ts'
import { decisionWord, endsOf, isQuestion, sentencesOf } from '../../compaction/phrases.ts'
import type { Outcome } from '../../compaction/span-reading.ts'
import { defaults } from '../../settings/defaults.ts'
import { atomsOf, wordsAround } from '../measuring/atoms.ts'
import { linesOf, textOf } from '../measuring/texts.ts'
import { isResult, isTypedWhileBusy, type RecordedBlock, type RecordedTurn } from '../recording.ts'
import { seq } from '../../transcript/ids.ts'
import type { CompactionMoment } from './moments.ts'
import { withCodeOpened } from '../../compaction/call-shape.ts'
import { stringsIn } from '../../projection/folding/render.ts'

export interface Detail {
  readonly atom: string
  /** Lines in which it stood before. */
  readonly lines: ReadonlySet<string>
  /** Content words that stood beside it before. */
  readonly company: ReadonlySet<string>
  /** Content words of the answer that uses it. */
  readonly use: ReadonlySet<string>
  /** That answer's place among the turns that follow. */
  readonly turn: number
}

export interface Wanted {
  readonly details: readonly Detail[]
  /** What a person had said. */
  readonly typed: readonly string[]
  readonly openTasks: readonly string[]
  readonly decisions: readonly string[]
}

export function wantedAt({ before, after }: CompactionMoment): Wanted {
  const uses = usesIn(after)
  const seen = new Map<string, Set<string>>()
  for (const { content } of before.turns)
    for (const { block } of content)
      for (const line of linesOf(textOf({ ...block })))
        for (const atom of atomsOf(line)) {
          if (!uses.has(atom)) continue
          const lines = seen.get(atom)
          // How far a line is indented says nothing of what it says.
          if (lines === undefined) seen.set(atom, new Set([line.trim()]))
          else lines.add(line.trim())
        }
  const details = [...seen].map(([atom, lines]): Detail => {
    const { turn, text } = uses.get(atom)!
    const company = new Set([...lines].flatMap((line) => [...wordsAround(atom, line)]))
    const use = new Set([...linesOf(text)].flatMap((line) => [...wordsAround(atom, line)]))
    return { atom, lines, company, use, turn }
  })
  return { details, ...saidBefore(before.turns) }
}

/** The first use of each atom by a call, if nothing showed it in between. */
function usesIn(after: readonly RecordedTurn[]): ReadonlyMap<string, { turn: number; text: string }> {
  const uses = new Map<string, { turn: number; text: string }>()
  const again = new Set<string>()
  for (const [turn, { role, content }] of after.entries()) {
    const text = content.map(({ block }) => textOf({ ...block })).join('\n')
    if (role === 'assistant') {
      const inputs = content.flatMap(({ block }) =>
        block.type === 'tool_use' && 'input' in block ? [block.input] : [],
      )
      for (const atom of new Set(
        inputs.flatMap((input) =>
          withCodeOpened(stringsIn(input), stringsIn).flatMap((leaf) => [...atomsOf(leaf)]),
        ),
      ))
        if (!again.has(atom) && !uses.has(atom)) uses.set(atom, { turn, text })
    }
    for (const atom of atomsOf(text)) again.add(atom)
  }
  return uses
}

function saidBefore(turns: readonly RecordedTurn[]): Pick<Wanted, 'typed' | 'openTasks' | 'decisions'> {
  const typed: string[] = []
  const sentences: string[] = []
  const outcomes = new Map<string, Outcome>()
  const calls: { id: string; name: string; input: Readonly<Record<string, unknown>> }[] = []
  for (const { role, content } of turns)
    for (const recorded of content) {
      const { block } = recorded
      if (block.type === 'text' && 'text' in block) {
        if (role === 'user' && isPersons(recorded)) typed.push(block.text)
        if (role === 'assistant') sentences.push(...sentencesOf(block.text))
      }
      if (block.type === 'tool_use' && 'input' in block) calls.push(block)
      if (isResult(block))
        outcomes.set(block.tool_use_id, {
          at: seq(0),
          text: endsOf(textOf({ ...block })),
          lines: 0,
          isError: block.is_error,
        })
    }
  const tasks = tasksOf(
    calls.map(({ id, name, input }) => ({ name, input, outcome: outcomes.get(id) ?? null })),
  )
  return {
    typed: typed.filter((text) => text.trim() !== ''),
    openTasks: (tasks ?? []).filter((task) => !isDone(task)).map(taskText),
    decisions: [...new Set(sentences)]
      .filter((sentence) => decisionWord.test(sentence) && !isQuestion(sentence))
      .slice(-defaults.lab.compactions.decisions),
  }
}

const isPersons = (recorded: RecordedBlock): boolean =>
  recorded.kind === undefined || isTypedWhileBusy(recorded)
