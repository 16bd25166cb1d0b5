// One folder of memories, opened to be changed.
import type { FileSystem } from '../../disk/fs.ts'
import type { Processes } from '../../disk/processes.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Clock } from '../../transcript/ids.ts'
import type { MemoryPlace } from '../memory.ts'
import { Ledger } from './ledger.ts'

export interface KeeperOptions {
  readonly fs: FileSystem
  readonly processes: Processes
  readonly clock: Clock
  /** Text that no other writer uses. */
  readonly unique: () => string
  /** Every write waits until the user has approved it. */
  readonly review?: boolean | undefined
  /** Waits; left out, by a timer. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined
}

export interface Keeper extends KeeperOptions {
  readonly place: MemoryPlace
  readonly ledger: Ledger
  /** The changes of this process, one after the other. */
  readonly line: { last: Promise<unknown> }
}

export const openKeeper = (place: MemoryPlace, options: KeeperOptions): Keeper => ({
  ...options,
  place,
  ledger: new Ledger(options.fs, place),
  line: { last: Promise.resolve() },
})

export const folderMode = ({ scope }: MemoryPlace): number =>
  scope === 'team' ? defaults.memory.sharedFolderMode : defaults.memory.folderMode
export const fileMode = ({ scope }: MemoryPlace): number =>
  scope === 'team' ? defaults.memory.sharedFileMode : defaults.memory.fileMode
