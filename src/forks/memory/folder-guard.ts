// A guard over folders of memories: which folder and file a path means, and what stands there. What becomes of a write is
// the caller's to say.
import { relative, sep } from 'node:path'
import type { FileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { readBytes, shaOf } from '../../memory/files.ts'
import type { Keeper } from '../../memory/keeping/keeper.ts'
import { diaryFolder, indexName } from '../../memory/memory.ts'
import type { FileGuard, GuardedWrite } from '../../tools/files/guard.ts'
import type { ToolEnv } from '../../tools/tool.ts'

export interface Target {
  readonly keeper: Keeper
  /** Its path in the folder, with slashes. */
  readonly file: string
}
export type WantedWrite = Parameters<FileGuard['write']>[0]

export function folderGuard(
  { fs, keepers }: { readonly fs: FileSystem; readonly keepers: readonly Keeper[] },
  write: (target: Target, change: WantedWrite, env: ToolEnv, signal: AbortSignal) => Promise<GuardedWrite>,
): FileGuard {
  const targetOf = (path: string): Target | null => {
    const keeper = keepers.find(({ place }) => path !== place.root && isInside(place.root, path))
    return keeper === undefined
      ? null
      : { keeper, file: relative(keeper.place.root, path).split(sep).join('/') }
  }
  return {
    covers: (path) => targetOf(path) !== null,
    async read(path) {
      const { keeper, file } = targetOf(path)!
      const read = await readBytes(fs, keeper.place.root, file)
      if (read.ok) {
        const sha256 = shaOf(read.bytes)
        if (await isHeld(keeper, file, sha256))
          return {
            ok: false,
            why: `${file} was changed from outside and is held until the user accepts it (pal memory review). Save under another name.`,
          }
        return { ok: true, file: { path, text: read.bytes.toString('utf8'), sha256 } }
      }
      return read.failure.code === 'not-found'
        ? { ok: true, file: null }
        : { ok: false, why: read.failure.message }
    },
    write: (change, env, signal) => write(targetOf(change.path)!, change, env, signal),
  }
}

/** What waits for the user is not shown, so it cannot be read first. */
async function isHeld({ ledger }: Keeper, file: string, sha256: string): Promise<boolean> {
  if (file === indexName || file.startsWith(`${diaryFolder}/`)) return false
  return !(await ledger.refresh()).ok || ledger.known(file, sha256) === null
}
