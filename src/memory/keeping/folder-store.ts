// A folder of files as a store of memories: the port, and beside it what only a folder with a ledger can do (versions,
// review, forgetting), which the commands ask for by the keeper.
import { listMemories, readMemory } from '../files.ts'
import { sessionless, type MemoryPlace } from '../memory.ts'
import type { MemorySets, SetStore } from '../memory-store.ts'
import type { MemoryIndex } from '../recall/memory-index.ts'
import { folderSource } from '../recall/memory-source.ts'
import { openKeeper, type Keeper, type KeeperOptions } from './keeper.ts'

export interface FolderStore extends SetStore, Keeper {}

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
    sets: folderSets(keeper),
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

/** Loaded when it is asked for: most sessions consolidate nothing. */
const folderSets = (keeper: Keeper): MemorySets => ({
  async last() {
    const { lastConsolidation } = await import('./consolidation-lock.ts')
    return await lastConsolidation(keeper)
  },
  async begin() {
    const { finishSet } = await import('./change-sets.ts')
    const { releaseConsolidationLock, takeConsolidationLock } = await import('./consolidation-lock.ts')
    const before = await finishSet(keeper)
    if (!before.ok) return before
    const taken = await takeConsolidationLock(keeper)
    if (!taken.ok) return taken
    const { lock } = taken
    const begun = lock === null ? null : { end: releaseConsolidationLock.bind(null, keeper, lock) }
    return { ok: true, begun }
  },
  async save(changes, { via, report, isAsked }) {
    const { applyWrite } = await import('./apply.ts')
    const id = keeper.unique()
    const review = isAsked ? { review: false } : {}
    // Every change names the memories it is made of; one that named none would be data.
    const made = await applyWrite(keeper, changes, sessionless('model', 'data', keeper.clock.now()), {
      via,
      set: { id, report },
      ...review,
    })
    return made.ok ? { ...made, set: id } : made
  },
})
