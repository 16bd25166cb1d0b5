// The port of restoration: whoever knows something that work goes on with says it again after a compaction.
// What a restorer gives becomes an attachment of its name, in the same append as the boundary.
import { callShape } from '../../compaction/call-shape.ts'
import { listIn } from '../../compaction/extract.ts'
import { headWithin } from '../../compaction/restoring.ts'
import { isTask } from '../../compaction/sections.ts'
import { readSpan, type Reading } from '../../compaction/span-reading.ts'
import type { Part } from '../../projection/view.ts'
import type { ReadFile } from '../../tools/tool.ts'
import { textIn } from '../../transcript/content.ts'
import { closed, fenced } from '../../transcript/fence.ts'
import type { SessionId } from '../../transcript/ids.ts'
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

/** The task list as calls left it, those that stay in sight included. The newest call decides, also when it emptied the list. */
const taskList: Restorer = {
  name: tasksKind,
  restore: async ({ kept, gone }) => {
    const parts = [...gone, ...kept].toSorted((a, b) => a.from - b.from)
    const given = parts.findLast((part) => part.attachment?.kind === tasksKind)
    const since = (those: readonly Part[]): Reading => {
      const reading = readSpan(those.filter(({ from }) => given === undefined || from > given.from))
      // What was given back is the whole list; a summary may have had no room for it.
      return given === undefined
        ? reading
        : { ...reading, earlier: [], tasks: textOf(given).split('\n').filter(isTask) }
    }
    const isGone = given !== undefined && gone.includes(given)
    const now = since(parts)
    const lines = listIn(now)
    if (lines === null) return isGone ? textOf(given) : null
    const whole = now.calls.findLast((call) => call.outcome?.isError !== true && callShape(call).isTasks)
    const isShown = kept.some(({ from }) => from === whole?.at) || (!isGone && listIn(since(gone)) === null)
    if (isShown || lines.length === 0) return null
    return fenced('restored-tasks', {}, `The task list as you left it:\n${lines.join('\n')}`)
  },
}

const textOf = ({ blocks }: Part): string => textIn(blocks)

export const builtIn: readonly Restorer[] = [
  standingAttachment(planKind),
  standingAttachment(modeKind),
  taskList,
]
