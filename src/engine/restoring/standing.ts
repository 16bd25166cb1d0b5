// What stands until something newer replaces it: the task list, and attachments such as the plan and the mode. Given back
// word for word, so that five compactions leave the same text as one.
import { tasksOf } from '../../compaction/extract.ts'
import { readSpan } from '../../compaction/reading.ts'
import type { Part } from '../../projection/view.ts'
import type { Restorer } from './restorer.ts'

/** The kinds of attachment that stand: who writes a newer one of the kind replaces the older. */
export const planKind = 'plan'
export const modeKind = 'mode'
export const tasksKind = 'tasks'

/** The newest attachment of a kind, whoever wrote it. */
export function standingAttachment(kind: string): Restorer {
  const isOne = (part: Part): boolean => part.attachment?.kind === kind
  return {
    name: kind,
    isWhole: true,
    restore: async ({ kept, gone }) => {
      const last = gone.findLast(isOne)
      const newer = kept.findLast(isOne)
      if (last === undefined || (newer !== undefined && newer.from > last.from)) return null
      return last.blocks.flatMap((block) => ('text' in block ? [String(block.text)] : [])).join('\n')
    },
  }
}

/** The task list as the model left it. The newest call decides, also when it emptied the list. */
export const taskList: Restorer = {
  name: tasksKind,
  restore: async ({ kept, gone }) => {
    const shown = placeOf(kept)
    const last = placeOf(gone)
    if (last === null || (shown !== null && shown > last)) return null
    const said = gone.find((part) => part.from === last)!
    if (said.attachment !== undefined)
      return said.blocks.flatMap((block) => ('text' in block ? [String(block.text)] : [])).join('\n')
    const lines = tasksOf(readSpan(gone).calls)
    if (lines.length === 0) return null
    return `<restored-tasks>\nThe task list as it stands:\n${lines.join('\n')}\n</restored-tasks>`
  },
}

/** Where the newest task list stands: a call that was answered well, or what a compaction gave back. */
function placeOf(parts: readonly Part[]): number | null {
  const attached = parts.findLast((part) => part.attachment?.kind === tasksKind)?.from ?? -1
  const called = readSpan(parts).calls.findLast(
    (call) => isTaskCall(call.name) && call.outcome?.isError === false,
  )
  const place = Math.max(attached, called?.at ?? -1)
  return place < 0 ? null : place
}

const isTaskCall = (name: string): boolean => /^(?:TaskList|TodoWrite|update_plan)$/.test(name)

export const builtIn: readonly Restorer[] = [
  standingAttachment(planKind),
  standingAttachment(modeKind),
  taskList,
]
