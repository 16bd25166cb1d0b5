// The port of restoration: whoever knows something that work goes on with says it again after a compaction.
// What a restorer gives becomes an attachment of its name, in the same append as the boundary.
import type { Part } from '../../projection/view.ts'
import type { ReadFile } from '../../tools/tool.ts'
import type { SessionId } from '../../transcript/ids.ts'

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
