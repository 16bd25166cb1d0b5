// What calls worked on, as names and counts: files with how often they were read and changed, programs that failed with
// their exit codes, the open tasks. Arguments and output of commands stay where they are.
import { callShape, tasksIn } from '../compaction/call-shape.ts'
import { defaults } from '../settings/defaults.ts'
import { programOf } from './hook/programs.ts'
import type { FailedCommand, FileAtWork, OpenTask } from './block-input.ts'

/** One call with what came of it; `text` may be the beginning of it. */
export interface WorkCall {
  readonly input: Readonly<Record<string, unknown>>
  readonly outcome: { readonly isError: boolean; readonly text: string } | null
}

export interface Work {
  /** The newest first. */
  readonly files: readonly FileAtWork[]
  readonly failures: readonly FailedCommand[]
  /** Null where no list was made. */
  readonly tasks: readonly OpenTask[] | null
}

export const noWork: Work = { files: [], failures: [], tasks: null }

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
    tasks: now.tasks ?? before.tasks,
  }
}
const mostFiles = 500
const mostFailures = 4 * defaults.companion.failures

/** In the order in which the calls were made. */
export function workOf(calls: readonly WorkCall[]): Work {
  const edits = new Map<string, number>()
  const failures: FailedCommand[] = []
  let tasks: readonly OpenTask[] | null = null
  for (const { input, outcome } of calls) {
    const listed = tasksIn(input)
    if (listed !== null) {
      if (outcome?.isError !== true) tasks = openIn(listed)
      continue
    }
    const { files: paths, deed, command } = callShape({ input })
    if (command !== null && outcome?.isError === true)
      failures.unshift({ program: programOf(command), exitCode: exitCodeIn(outcome.text) })
    if (outcome?.isError === true) continue
    for (const path of deed === null ? foldersIn(input, command) : paths) {
      const known = edits.get(path) ?? 0
      // The newest last, whatever came before.
      edits.delete(path)
      edits.set(path, known + (deed === 'edited' || deed === 'written' ? 1 : 0))
    }
  }
  return {
    files: [...edits].map(([path, count]) => ({ path, edits: count })).toReversed(),
    failures: failures.slice(0, mostFailures),
    tasks,
  }
}

/** Where a call searches, or a command runs: what a field names as a whole path, and where `cd` leads. */
function foldersIn(input: WorkCall['input'], command: string | null): readonly string[] {
  const moved = command === null ? undefined : /^\s*cd\s+(\/[\w.@~+/-]+)\s*(?:&&|;|$)/.exec(command)?.[1]
  if (command !== null) return moved === undefined ? [] : [moved]
  return Object.values(input).filter(
    (value): value is string => typeof value === 'string' && /^\/[\w.@~+-]+(?:\/[\w.@~+-]+)+$/.test(value),
  )
}

const openIn = (listed: readonly string[]): readonly OpenTask[] =>
  listed
    .filter((task) => !task.startsWith('[x]'))
    .map((task) => ({ text: task.slice('[ ] '.length), isStarted: task.startsWith('[>]') }))

/** As the clients write it at the beginning or the end of what a command gave back. */
function exitCodeIn(text: string): number | null {
  const found = /\bexit(?:ed with)?(?: status| code)?:? (\d{1,3})\b/i.exec(
    `${text.slice(0, ends)}\n${text.slice(-ends)}`,
  )
  return found === null ? null : Number(found[1])
}
const ends = 300
