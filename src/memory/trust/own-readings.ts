// Memories that may be shown unasked are no strangers' words when they are read, nor are our own answers to a write that
// was refused.
import { relative, sep } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import type { FileSystem } from '../../disk/fs.ts'
import { readMemory } from '../files.ts'
import type { Keeper } from '../keeping/keeper.ts'
import { indexName } from '../memory.ts'
import type { Reading } from './lineage.ts'

/** The readings without those of open memories and of the index. */
export async function othersOf(
  fs: FileSystem,
  keepers: readonly Keeper[],
  readings: readonly Reading[],
): Promise<readonly Reading[]> {
  const own = await Promise.all(readings.map((reading) => isOwn(fs, keepers, reading)))
  return readings.filter((_, at) => !own[at])
}

async function isOwn(
  fs: FileSystem,
  keepers: readonly Keeper[],
  { tool, source }: Reading,
): Promise<boolean> {
  if (!tools.has(tool) || source === null) return false
  const keeper = keepers.find(({ place }) => isInside(place.root, source))
  if (keeper === undefined || !(await keeper.ledger.refresh()).ok) return false
  const file = relative(keeper.place.root, source).split(sep).join('/')
  if (file === indexName) return true
  const read = await readMemory(fs, keeper.place, file, keeper.ledger)
  return read.ok ? read.memory.standing === 'open' : tool !== 'Read'
}

const tools: ReadonlySet<string> = new Set(['Read', 'Write', 'Edit'])
