// A guard over stores of memories: which store and file a path means, and what stands there. What becomes of a write is
// the caller's to say.
import { relative, sep } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import { diaryFolder, indexName } from '../../memory/memory.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import type { FileGuard, GuardedWrite } from '../../tools/files/guard.ts'
import type { ToolEnv } from '../../tools/tool.ts'

export interface Target {
  readonly store: MemoryStore
  /** Its path in the store, with slashes. */
  readonly file: string
}
export type WantedWrite = Parameters<FileGuard['write']>[0]

export function folderGuard(
  stores: readonly MemoryStore[],
  write: (target: Target, change: WantedWrite, env: ToolEnv, signal: AbortSignal) => Promise<GuardedWrite>,
): FileGuard {
  const targetOf = (path: string): Target | null => {
    const store = stores.find(({ root }) => path !== root && isInside(root, path))
    return store === undefined ? null : { store, file: relative(store.root, path).split(sep).join('/') }
  }
  return {
    covers: (path) => targetOf(path) !== null,
    isGenerated: (path) => targetOf(path)?.file === indexName,
    async read(path) {
      const { store, file } = targetOf(path)!
      const read = await store.read(file)
      if (!read.ok)
        return read.failure.code === 'not-found'
          ? { ok: true, file: null }
          : { ok: false, why: read.failure.message }
      const { memory, text } = read
      // What waits for the user is not shown, so it cannot be read first.
      return memory.standing === 'held' && !isOurs(file)
        ? {
            ok: false,
            why: `${file} was changed from outside and is held until the user accepts it (pal memory review). Save under another name.`,
          }
        : { ok: true, file: { path, text, sha256: memory.sha256 } }
    },
    write: (change, env, signal) => write(targetOf(change.path)!, change, env, signal),
  }
}

/** Neither is a memory, so nobody has to vouch for it. */
const isOurs = (file: string): boolean => file === indexName || file.startsWith(`${diaryFolder}/`)
