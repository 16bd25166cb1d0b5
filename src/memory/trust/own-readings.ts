// Memories that may be shown unasked are no strangers' words when they are read, nor are our own answers to a write that
// was refused.
import { relative, sep } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import { indexName } from '../memory.ts'
import type { MemoryStore } from '../memory-store.ts'
import type { Reading } from './lineage.ts'

/** The readings without those of open memories and of the index. */
export async function othersOf(
  stores: readonly MemoryStore[],
  readings: readonly Reading[],
): Promise<readonly Reading[]> {
  const own = await Promise.all(readings.map((reading) => isOwn(stores, reading)))
  return readings.filter((_, at) => !own[at])
}

async function isOwn(stores: readonly MemoryStore[], { tool, source }: Reading): Promise<boolean> {
  if (!tools.has(tool) || source === null) return false
  const store = stores.find(({ root }) => isInside(root, source))
  if (store === undefined) return false
  const file = relative(store.root, source).split(sep).join('/')
  if (file === indexName) return true
  const read = await store.read(file)
  return read.ok ? read.memory.standing === 'open' : tool !== 'Read'
}

const tools: ReadonlySet<string> = new Set(['Read', 'Write', 'Edit'])
