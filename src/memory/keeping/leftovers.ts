// Who dies between giving a new file its name and taking its first one away leaves a file with two names, which is then
// refused as somebody else's. Whoever changes the folder next takes the temporary name away.
import { join } from 'node:path'
import { attempt, systemCode, type Result } from '../../disk/fs.ts'
import { isTemporaryName, removeIfThere } from '../../disk/replace.ts'
import type { Keeper } from './keeper.ts'

/** Removes temporary names. The caller is alone, so nobody is using one. Folders are below the root, '.' for itself. */
export async function clearLeftovers(
  { fs, place }: Keeper,
  folders: ReadonlySet<string>,
): Promise<Result<object>> {
  return await attempt('clearing up what a dead process left', async () => {
    for (const folder of folders) {
      const path = join(place.root, folder)
      for (const name of await fs.names(path).catch(noneIfGone))
        if (isTemporaryName(name)) await removeIfThere(fs, join(path, name))
    }
    return {}
  })
}

function noneIfGone(error: unknown): readonly string[] {
  if (systemCode(error) === 'ENOENT') return []
  throw error
}
