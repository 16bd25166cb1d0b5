// What jobs on memories are made of.
import type { FileSystem } from '../../disk/fs.ts'
import type { FolderStore } from '../../memory/keeping/folder-store.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import { isInside } from '../../disk/under-root.ts'
import { pathIn } from '../../tools/files/guard.ts'
import type { Judge } from '../../tools/permission/pipeline.ts'
import type { Tool } from '../../tools/tool.ts'

export interface MemoryJobOptions {
  readonly fs: FileSystem
  /** The folders that may be written to, the project's first. A team's is not among them. */
  readonly keepers: readonly FolderStore[]
  /** The tools of the session; their list is sent as it is. */
  readonly tools: () => readonly Tool[]
  /** Who decides about what is read; they ask nobody. */
  readonly judges: readonly Judge[]
  readonly cwd: string
  readonly userHome: string | undefined
}

/** Whether a call names a path in a folder of memories. */
export const isOurs =
  (stores: readonly MemoryStore[], { cwd, userHome }: Pick<MemoryJobOptions, 'cwd' | 'userHome'>) =>
  (input: Readonly<Record<string, unknown>>): boolean => {
    const path = pathIn(input, cwd, userHome)
    return path !== null && stores.some(({ root }) => path !== root && isInside(root, path))
  }
