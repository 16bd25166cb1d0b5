// A folder of files as a store of memories: the port, and beside it what only a folder with a ledger can do (versions,
// review, forgetting), which the commands ask for by the keeper.
import { listMemories, readMemory } from '../files.ts'
import type { MemoryPlace } from '../memory.ts'
import type { MemoryStore } from '../memory-store.ts'
import type { MemoryIndex } from '../recall/memory-index.ts'
import { folderSource } from '../recall/memory-source.ts'
import { openKeeper, type Keeper, type KeeperOptions } from './keeper.ts'

export interface FolderStore extends MemoryStore, Keeper {}

export function openFolderStore(place: MemoryPlace, options: KeeperOptions): FolderStore {
  const keeper = openKeeper(place, options)
  const { fs, ledger } = keeper
  let opened: MemoryIndex | null = null
  return {
    ...keeper,
    scope: place.scope,
    root: place.root,
    list: (most) => listMemories(fs, place, { most, ledger }),
    async read(file) {
      const known = await ledger.refresh()
      return known.ok ? await readMemory(fs, place, file, ledger) : known
    },
    async save(change, by, how) {
      // What judges a memory is large, and most sessions write none.
      const { applyWrite } = await import('./apply.ts')
      const done = await applyWrite(keeper, [change], by, how)
      return done.ok ? { ok: true, applied: done.applied[0]!, dropped: done.dropped } : done
    },
    async search(query, most, signal) {
      // The tables of words are large too.
      if (opened === null) {
        const { MemoryIndex } = await import('../recall/memory-index.ts')
        opened ??= new MemoryIndex([folderSource(fs, place, options.unique)])
      }
      const index = opened
      const failure = await index.refresh(signal)
      if (failure !== null) return { ok: false, failure }
      await index.store()
      const ranked = index.rank(query, most, () => true)
      return { ok: true, hits: ranked.map(({ id, score }) => ({ memory: index.get(id)!.memory, score })) }
    },
  }
}
