// What stands until something newer replaces it: the task list, and attachments such as the plan and the mode. Given back
// word for word, so that five compactions leave the same text as one.
import { isTaskCall, tasksOf } from '../../compaction/extract.ts'
import { headWithin } from '../../compaction/restoring.ts'
import type { Call } from '../../compaction/span-reading.ts'
import type { Part } from '../../projection/view.ts'
import type { Seq } from '../../transcript/ids.ts'
import { closed, fenced } from '../../transcript/fence.ts'
import { expandCall, modeKind } from '../../transcript/markers.ts'
import type { Restorer } from './restorer.ts'
import { textIn } from '../../transcript/content.ts'

/** The kinds of attachment that stand: who writes a newer one of the kind replaces the older. */
export const planKind = 'plan'
export const tasksKind = 'tasks'

/** The newest attachment of a kind, whoever wrote it. */
export function standingAttachment(kind: string): Restorer {
  const isOne = (part: Part): boolean => part.attachment?.kind === kind
  return {
    name: kind,
    isWhole: true,
    restore: async ({ kept, gone }, { tokens, cost }) => {
      const last = gone.findLast(isOne)
      const newer = kept.findLast(isOne)
      if (last === undefined || (newer !== undefined && newer.from > last.from)) return null
      const text = textOf(last)
      if (cost(text) <= tokens) return text
      const marker = `[the rest of the ${kind} is left out; ${expandCall(last.from)} returns it]`
      const { text: head } = headWithin(text, tokens - cost(`\n</${kind}>\n${marker}`), cost)
      return head === '' ? marker : `${closed(head)}\n${marker}`
    },
  }
}

/** The task list as the model left it. The newest call decides, also when it emptied the list. */
export const taskList: Restorer = {
  name: tasksKind,
  restore: async ({ kept, gone }) => {
    const last = newestList(gone)
    const shown = newestList(kept)
    if (last === null || (shown !== null && shown.at > last.at)) return null
    if (last.text !== null) return last.text
    const lines = tasksOf(last.calls)
    if (lines.length === 0) return null
    return fenced('restored-tasks', {}, `The task list as you left it:\n${lines.join('\n')}`)
  },
}

interface List {
  readonly at: Seq
  /** As a compaction gave it back, or null where it stands in a call. */
  readonly text: string | null
  readonly calls: readonly Call[]
}

/** Looks at calls alone: results may be large. */
function newestList(parts: readonly Part[]): List | null {
  const failed = new Set<string>()
  for (const part of parts.toReversed()) {
    if (part.attachment?.kind === tasksKind) return { at: part.from, text: textOf(part), calls: [] }
    for (const block of part.blocks.toReversed()) {
      if (block.type === 'tool_result' && 'is_error' in block && block.is_error) failed.add(block.tool_use_id)
      if (block.type !== 'tool_use' || !('name' in block)) continue
      if (isTaskCall(block) && !failed.has(block.id))
        return { at: part.from, text: null, calls: [callOf(part, block)] }
    }
  }
  return null
}

const callOf = ({ from: at }: Part, { name, input }: Pick<Call, 'name' | 'input'>): Call => ({
  at,
  name,
  input,
  outcome: { at, text: '', lines: 0, isError: false },
})

const textOf = ({ blocks }: Part): string => textIn(blocks)

export const builtIn: readonly Restorer[] = [
  standingAttachment(planKind),
  standingAttachment(modeKind),
  taskList,
]
