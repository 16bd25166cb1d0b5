// The port of restoration: whoever knows something that work goes on with says it again after a compaction.
// What a restorer gives becomes an attachment of its name, in the same append as the boundary.
import { callShape } from '../../compaction/call-shape.ts'
import { tasksOf } from '../../compaction/task-list.ts'
import { headWithin } from '../../compaction/restoring.ts'
import type { Call } from '../../compaction/span-reading.ts'
import type { Part } from '../../projection/view.ts'
import type { ReadFile } from '../../tools/tool.ts'
import { textIn } from '../../transcript/content.ts'
import { closed, fenced } from '../../transcript/fence.ts'
import type { Seq, SessionId } from '../../transcript/ids.ts'
import { expandCall, modeKind } from '../../transcript/markers.ts'

export interface RestoreContext {
  readonly session: SessionId
  /** What stays in sight as it is: what these parts show need not be said again. */
  readonly kept: readonly Part[]
  /** What a summary stands for from now on, oldest first. */
  readonly gone: readonly Part[]
  readonly signal: AbortSignal
}

/** What a restorer may take: by `cost`, which counts a text as the provider would. */
export interface Allowance {
  readonly tokens: number
  readonly cost: (text: string) => number
}

/** Never throws. Null: there is nothing to say, or it is still in sight. */
export interface Restorer {
  /** The kind of the attachment. */
  readonly name: string
  /** Has its room before the others, and is cut only where it alone does not fit. */
  readonly isWhole?: boolean | undefined
  /** What it may take where there is room; left out, what any restorer may. */
  readonly tokens?: number | undefined
  /** Asked once more with less where all of them together do not fit; what is still longer is cut at a line. */
  restore(context: RestoreContext, allowance: Allowance): Promise<string | null>
}

/** A file read again: what Read shows of it, and how it is now where there is a disk. */
export interface ReadNow {
  readonly text: string
  readonly file: ReadFile | null
}

/** The files a session works on. */
export interface FileSource {
  /** Their paths, the one touched last first. */
  recent(): readonly string[]
  /** Those that can be read. */
  read(paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, ReadNow>>
}

export interface RestorationOptions {
  /** False: no file is read again; outlines and names are left out with them. */
  readonly files?: boolean | undefined
  readonly fileCount?: number | undefined
  readonly fileTokens?: number | undefined
  readonly filesTokens?: number | undefined
  readonly outlinesTokens?: number | undefined
  /** Beside the built-in ones (task list, plan, mode), in the order in which they speak. */
  readonly restorers?: readonly Restorer[] | undefined
  /** Where files come from when not through the Read tool. */
  readonly source?: FileSource | undefined
}

// ---- what stands until something newer replaces it: the task list, and attachments such as the plan and the mode ----
// Restored word for word, so that five compactions leave the same text as one.

/** The kinds of attachment that stand: who writes a newer one of the kind replaces the older. */
const planKind = 'plan'
const tasksKind = 'tasks'

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
const taskList: Restorer = {
  name: tasksKind,
  restore: async ({ kept, gone }) => {
    const last = newestList(gone)
    const shown = newestList(kept)
    if (last === null || (shown !== null && shown.at > last.at)) return null
    if (last.text !== null) return last.text
    const lines = tasksOf(last.calls) ?? []
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
      if (callShape(block).isTasks && !failed.has(block.id))
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
