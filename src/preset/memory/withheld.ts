// Memories that wait for the user are shown to nobody else: neither read by their path nor found by a search.
import { join } from 'node:path'
import type { FileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { filesBelow, readBytes, shaOf } from '../../memory/files.ts'
import type { Keeper } from '../../memory/keeping/keeper.ts'
import { defaults } from '../../settings/defaults.ts'

/** The real paths of held memories at a real path or below it. */
export const withheldIn =
  (fs: FileSystem, keepers: readonly Keeper[]) =>
  async (path: string): Promise<ReadonlySet<string>> => {
    const found = await Promise.all(keepers.map((keeper) => heldOf(fs, keeper, path)))
    return new Set(found.flat())
  }

async function heldOf(fs: FileSystem, { place, ledger }: Keeper, path: string): Promise<readonly string[]> {
  const root = await fs.realPath(place.root).catch(() => null)
  if (root === null || !(isInside(root, path) || isInside(path, root))) return []
  // A ledger that cannot be read knows nothing, and what it does not know is held.
  const isKnown = (await ledger.refresh()).ok
  const files = (await filesBelow(fs, place.root)).files
    .map(({ file }) => file)
    .filter((file) => isInside(path, join(root, file)))
  const held: string[] = []
  for (let at = 0; at < files.length; at += defaults.memory.parallel) {
    const some = files.slice(at, at + defaults.memory.parallel)
    const read = await Promise.all(some.map((file) => readBytes(fs, place.root, file)))
    for (const [i, one] of read.entries())
      if (!isKnown || !one.ok || ledger.known(some[i]!, shaOf(one.bytes)) === null)
        held.push(join(root, some[i]!))
  }
  return held
}
