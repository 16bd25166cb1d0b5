// A file system that remembers what a loss of power would leave: of each file the bytes of its last sync, of each
// folder the names of its last sync. The strictest reading of the rules; real systems lose less.
import * as node from 'node:fs/promises'
import { join } from 'node:path'
import type { FileSystem, OpenFile } from '../../src/disk/fs.ts'

export interface Power {
  readonly fs: FileSystem
  /** What would be there after a cut now, laid out in another folder. */
  cut(base: string, into: string): Promise<void>
}

export function powerModel(inner: FileSystem): Power {
  const bytes = new Map<string, Buffer>()
  const names = new Map<string, ReadonlyMap<string, string>>()

  const synced = async (file: OpenFile): Promise<void> => {
    const { identity, bytes: length } = await file.stat()
    const content = Buffer.alloc(length)
    for (let done = 0; done < length;) done += await file.read(content.subarray(done), done)
    bytes.set(identity, content)
  }
  const fs: FileSystem = {
    ...inner,
    open: async (path, how, mode) => {
      const file = await inner.open(path, how, mode)
      // Numbers of removed files are used again.
      if (how === 'create') bytes.delete((await file.stat()).identity)
      const sync = (call: () => Promise<void>) => async () => (await call(), await synced(file))
      return { ...file, sync: sync(() => file.sync()), datasync: sync(() => file.datasync()) }
    },
    openFolder: async (path) => {
      const folder = await inner.openFolder(path)
      const sync = async (): Promise<void> => {
        await folder.sync()
        const found = new Map<string, string>()
        for (const name of await node.readdir(folder.at('.'))) {
          found.set(name, (await inner.stat(folder.at(name))).identity)
        }
        names.set((await folder.stat()).identity, found)
      }
      return { ...folder, sync }
    },
    makeFolder: async (path, mode) => {
      await inner.makeFolder(path, mode)
      names.delete((await inner.stat(path)).identity)
    },
  }
  const lay = async (folder: string, from: string, into: string): Promise<void> => {
    await node.mkdir(into, { recursive: true })
    for (const [name, identity] of names.get(folder) ?? []) {
      const now = await node.lstat(join(from, name)).catch(() => null)
      if (now?.isDirectory()) await lay(identity, join(from, name), join(into, name))
      else await node.writeFile(join(into, name), bytes.get(identity) ?? Buffer.alloc(0))
    }
  }
  return { fs, cut: async (base, into) => lay((await inner.stat(base)).identity, base, into) }
}
