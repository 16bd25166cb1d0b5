// Jobs on memories for one engine: who watches the turns, and what is under way. They look where the user's rules let
// them without asking anybody, and write in the user's and the project's folder alone: a team's is everybody's.
import type { FileSystem } from '../../disk/fs.ts'
import { MemoryJobList, type MemoryJobOptions } from '../../forks/memory/memory-jobs.ts'
import { memoryWatcher, type MemoryWatcher } from '../../forks/memory/watcher.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import { remoteVariable } from '../../memory/place.ts'
import type { Permission } from '../../tools/permission/permission.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Clock } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { homeOf, type PermissionSetup } from '../permission.ts'
import type { MemoryWiring } from './wiring.ts'

export interface MemoryJobClues extends PermissionSetup {
  readonly permission: Permission
  readonly fs: FileSystem
  readonly memory: MemoryWiring
  readonly store: Store
  readonly clock: Clock
  readonly tools: () => readonly Tool[]
  /** A person sits before it: then both are on where no setting says otherwise, as they are where headless runs feed memory. */
  readonly interactive?: boolean | undefined
}

export interface MemoryJobs {
  readonly list: MemoryJobList
  readonly options: MemoryJobOptions
  /** Left out where nothing is to be watched for. */
  readonly watcher: MemoryWatcher | undefined
}

export function memoryJobsOf(clues: MemoryJobClues): MemoryJobs {
  const { fs, memory, settings, environment, project, store, tools } = clues
  const list = new MemoryJobList()
  const order = ['project', 'user']
  const ordered = <T extends MemoryStore>(all: readonly T[]): readonly T[] =>
    all
      .filter(({ scope }) => order.includes(scope))
      .toSorted((a, b) => order.indexOf(a.scope) - order.indexOf(b.scope))
  const stores = ordered(memory.stores)
  const options: MemoryJobOptions = {
    fs,
    stores,
    keepers: ordered(memory.keepers),
    tools,
    judges: clues.permission.at({ quiet: true }).judges,
    store,
    cwd: project.cwd,
    root: project.root,
    userHome: homeOf(clues),
    isTyped: memory.isTyped,
    clock: clues.clock,
  }
  const isRemote = (environment[remoteVariable] ?? '') !== ''
  const feeds = clues.interactive === true || settings.memoryHeadless === true
  const extracts = (settings.extraction ?? feeds) && !isRemote
  const consolidates = (settings.dream ?? feeds) && !isRemote
  const isWatched = stores.length > 0 && (extracts || consolidates)
  return {
    list,
    options,
    watcher: isWatched
      ? memoryWatcher({ ...options, list, extracts, consolidates, every: settings.extractionEvery })
      : undefined,
  }
}
