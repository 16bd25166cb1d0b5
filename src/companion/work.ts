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
  readonly tasks: readonly OpenTask[]
}

/** In the order in which the calls were made. */
export function workOf(calls: readonly WorkCall[]): Work {
  const files = new Map<string, { edits: number; reads: number }>()
  const failures: FailedCommand[] = []
  let tasks: readonly OpenTask[] = []
  for (const { input, outcome } of calls) {
    const listed = tasksIn(input)
    if (listed !== null) {
      if (outcome?.isError !== true) tasks = openIn(listed)
      continue
    }
    const { files: paths, deed, command } = callShape({ input })
    if (command !== null && outcome?.isError === true)
      failures.unshift({ program: programOf(command), exitCode: exitCodeIn(outcome.text) })
    if (deed === null || outcome?.isError === true) continue
    for (const path of paths) {
      const known = files.get(path) ?? { edits: 0, reads: 0 }
      // The newest last, whatever came before.
      files.delete(path)
      files.set(path, {
        edits: known.edits + (deed === 'read' ? 0 : 1),
        reads: known.reads + (deed === 'read' ? 1 : 0),
      })
    }
  }
  return {
    files: [...files].map(([path, counts]) => ({ path, ...counts })).toReversed(),
    failures: failures.slice(0, 4 * defaults.companion.failures),
    tasks,
  }
}

const openIn = (listed: readonly string[]): readonly OpenTask[] =>
  listed
    .filter((task) => !task.startsWith('[x]'))
    .map((task) => ({ text: task.slice('[ ] '.length), isStarted: task.startsWith('[>]') }))

/** As the clients write it at the beginning or the end of what a command gave back. */
export function exitCodeIn(text: string): number | null {
  const found = /\bexit(?:ed with)?(?: status| code)?:? (\d{1,3})\b/i.exec(
    `${text.slice(0, ends)}\n${text.slice(-ends)}`,
  )
  return found === null ? null : Number(found[1])
}
const ends = 300
