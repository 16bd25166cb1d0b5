// Recorded turns as the audit of our own compaction reads them: who said what, which call had which outcome, and what the calls
// worked on.
import { callShape, isChange } from '../compaction/call-shape.ts'
import { endsOf } from '../compaction/phrases.ts'
import {
  countLines,
  type Answer,
  type Call,
  type Outcome,
  type Reading,
  type Said,
} from '../compaction/span-reading.ts'
import { isDone, tasksOf, taskText } from '../compaction/task-list.ts'
import { isResult, isTypedWhileBusy, type RecordedBlock, type RecordedTurn } from '../lab/recording.ts'
import { defaults } from '../settings/defaults.ts'
import { seq, type Seq } from '../transcript/ids.ts'
import type { FailedCommand, FileAtWork, OpenTask } from './block-input.ts'
import { withoutOwnText, programOf } from './clean.ts'

/** What a person said, as far as the file tells: not what a program wrote in their place, and not what we said. */
export function personsText(recorded: RecordedBlock): string | null {
  const { block, kind } = recorded
  if (block.type !== 'text' || !('text' in block)) return null
  if (kind !== undefined && !isTypedWhileBusy(recorded)) return null
  const text = withoutOwnText(block.text).trim()
  return text === '' ? null : text
}

/** Beside the tasks as they stood before. */
export function readingOf(turns: readonly RecordedTurn[], tasks: readonly string[] = []): Reading {
  const outcomes = outcomesIn(turns)
  const inputs: Said[] = []
  const answers: Answer[] = []
  const calls: Call[] = []
  const injected: Said[] = []
  for (const [index, { role, content }] of turns.entries()) {
    const at = seq(index)
    if (role === 'user') {
      for (const recorded of content) {
        const { block } = recorded
        if (block.type !== 'text' || !('text' in block)) continue
        const said = personsText(recorded)
        if (said === null) injected.push({ at, text: endsOf(block.text) })
        else inputs.push({ at, text: said })
      }
      continue
    }
    const after = calls.length
    calls.push(...callsIn(content, at, outcomes))
    const text = content.flatMap(({ block }) =>
      block.type === 'text' && 'text' in block ? [endsOf(block.text)] : [],
    )
    const made = calls.length - after
    if (text.length > 0) answers.push({ at, text: text.join('\n'), isFinal: made === 0, calls: made, after })
  }
  return { inputs, answers, calls, earlier: [], injected, tasks }
}

function callsIn(
  content: readonly RecordedBlock[],
  at: Seq,
  outcomes: ReadonlyMap<string, Outcome>,
): readonly Call[] {
  return content.flatMap(({ block }) =>
    block.type === 'tool_use' && 'input' in block
      ? [{ at, name: block.name, input: block.input, outcome: outcomes.get(block.id) ?? null }]
      : [],
  )
}

function outcomesIn(turns: readonly RecordedTurn[]): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>()
  for (const [index, { content }] of turns.entries())
    for (const { block } of content) {
      if (!isResult(block)) continue
      const text = block.content.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n')
      outcomes.set(block.tool_use_id, {
        at: seq(index),
        text: endsOf(text),
        lines: countLines(text),
        isError: block.is_error,
      })
    }
  return outcomes
}

/** Everything that turns show, as one text. */
export const shownIn = (turns: readonly RecordedTurn[]): string =>
  turns
    .flatMap(({ content }) =>
      content.map(({ block }) => {
        if (isResult(block))
          return block.content.map((one) => (one.type === 'text' ? one.text : '')).join('\n')
        if (block.type === 'text' && 'text' in block) return block.text
        return block.type === 'tool_use' && 'input' in block ? JSON.stringify(block.input) : ''
      }),
    )
    .join('\n')

// ---- what calls worked on, as names and counts ----
// Files with how often they were read and changed, programs that failed with their exit codes, the open tasks. Arguments and
// output of commands stay where they are.

export interface Work {
  /** The newest first. */
  readonly files: readonly FileAtWork[]
  readonly failures: readonly FailedCommand[]
  /** All that were listed, with their states. */
  readonly tasks: readonly string[]
}

export const noWork: Work = { files: [], failures: [], tasks: [] }

/** Earlier work with what came after it. */
export function laterWork(before: Work, now: Work): Work {
  const files = new Map<string, FileAtWork>(now.files.map((file) => [file.path, file]))
  for (const file of before.files) {
    const known = files.get(file.path)
    files.set(file.path, { path: file.path, edits: (known?.edits ?? 0) + (file.edits ?? 0) })
  }
  return {
    files: [...files.values()].slice(0, mostFiles),
    failures: [...now.failures, ...before.failures].slice(0, mostFailures),
    tasks: now.tasks,
  }
}
const mostFiles = 500
const mostFailures = 4 * defaults.companion.failures

/** In the order in which the calls were made; `before` are the tasks as they stood then. */
export function workOf(
  calls: readonly Pick<Call, 'name' | 'input' | 'outcome'>[],
  before: readonly string[] = [],
): Work {
  const edits = new Map<string, number>()
  const failures: FailedCommand[] = []
  const tasks = tasksOf(calls, before) ?? before
  for (const { input, outcome } of calls) {
    const { files: paths, deed, command, isTasks } = callShape({ input })
    if (isTasks) continue
    if (command !== null && outcome?.isError === true)
      failures.unshift({ program: programOf(command), exitCode: exitCodeIn(outcome.text) })
    if (outcome?.isError === true) continue
    for (const path of deed === null ? foldersIn(input, command) : paths) {
      const known = edits.get(path) ?? 0
      // The newest last, whatever came before.
      edits.delete(path)
      edits.set(path, known + (isChange({ deed }) ? 1 : 0))
    }
  }
  return {
    files: [...edits].map(([path, count]) => ({ path, edits: count })).toReversed(),
    failures: failures.slice(0, mostFailures),
    tasks,
  }
}

/** Where a call searches, or a command runs: what a field names as a whole path, and where `cd` leads. */
function foldersIn(input: Call['input'], command: string | null): readonly string[] {
  const moved = command === null ? undefined : /^\s*cd\s+(\/[\w.@~+/-]+)\s*(?:&&|;|$)/.exec(command)?.[1]
  if (command !== null) return moved === undefined ? [] : [moved]
  return Object.values(input).filter(
    (value): value is string => typeof value === 'string' && /^\/[\w.@~+-]+(?:\/[\w.@~+-]+)+$/.test(value),
  )
}

/** Those of a list that are not done. */
export const openIn = (tasks: readonly string[]): readonly OpenTask[] =>
  tasks
    .filter((task) => !isDone(task))
    .map((task) => ({ text: taskText(task), isStarted: task.startsWith('[>]') }))

/** As the clients write it at the beginning or the end of what a command gave back. */
function exitCodeIn(text: string): number | null {
  const found = /\bexit(?:ed with)?(?: status| code)?:? (\d{1,3})\b/i.exec(
    `${text.slice(0, ends)}\n${text.slice(-ends)}`,
  )
  return found === null ? null : Number(found[1])
}
const ends = 300
