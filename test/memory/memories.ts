// A folder of memories on a real disk, for tests.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import { machineProcesses } from '../../src/disk/processes.ts'
import { openFolderStore, type FolderStore } from '../../src/memory/keeping/folder-store.ts'
import type { KeeperOptions } from '../../src/memory/keeping/keeper.ts'
import type { MemoryPlace, Provenance } from '../../src/memory/memory.ts'

export const placeIn = (base: string): MemoryPlace => ({
  scope: 'project',
  root: join(base, 'memory'),
  state: join(base, 'memory-state'),
})

export const keeperOptions = (over: Partial<KeeperOptions> = {}): KeeperOptions => ({
  fs: machineFileSystem,
  processes: machineProcesses,
  clock: { now: () => Date.now() },
  unique: () => randomUUID(),
  ...over,
})

export const keeperIn = (base: string, over: Partial<KeeperOptions> = {}): FolderStore =>
  openFolderStore(placeIn(base), keeperOptions(over))

export const from = (over: Partial<Provenance> = {}): Provenance => ({
  kind: 'user',
  trust: 'user',
  session: 'session-1',
  message: 'm1',
  from: [],
  at: 1_760_000_000_000,
  ...over,
})
export const fromTool = (over: Partial<Provenance> = {}): Provenance =>
  from({ kind: 'tool', trust: 'data', from: ['Read'], ...over })

export const memoryText = (
  name: string,
  { type = 'project', description = `what ${name} is about`, body = `The text of ${name}.` } = {},
): string => `---\nname: ${name}\ndescription: ${description}\ntype: ${type}\n---\n\n${body}\n`

/** The file system of this machine without waiting for the disk: what is synced plays no part between processes. */
export const unsynced: FileSystem = {
  ...machineFileSystem,
  open: async (path, how, mode) => ({
    ...(await machineFileSystem.open(path, how, mode)),
    sync: async () => {},
    datasync: async () => {},
  }),
  openFolder: async (path) => ({ ...(await machineFileSystem.openFolder(path)), sync: async () => {} }),
}
