// The machine's file system with a hook before every call, so that a test can fail, cut short or precede the Nth one.
import type { FileSystem, OpenFile, OpenFolder } from '../../src/disk/fs.ts'

export interface Call {
  readonly number: number
  readonly name: string
  readonly path: string
}
export interface Hooks {
  /** Runs before the call; what it throws is what the call answers. */
  before?(call: Call): void | Promise<void>
  /** Told of every file and folder that is opened (1) and closed (-1). */
  open?(change: 1 | -1): void
  /** How many of the bytes a write takes. */
  take?(call: Call, bytes: number): number
}

export const systemError = (code: string): Error => Object.assign(new Error(`${code}: injected`), { code })

export function hookedFileSystem(fs: FileSystem, hooks: Hooks): FileSystem {
  let calls = 0
  const call = async (name: string, path: string): Promise<Call> => {
    const made = { number: ++calls, name, path }
    await hooks.before?.(made)
    return made
  }
  const file = (inner: OpenFile, path: string): OpenFile => ({
    read: async (into, at) => (await call('read', path), await inner.read(into, at)),
    write: async (bytes) => {
      const made = await call('write', path)
      return await inner.write(bytes.subarray(0, hooks.take?.(made, bytes.byteLength) ?? bytes.byteLength))
    },
    truncate: async (bytes) => (await call('truncate', path), await inner.truncate(bytes)),
    datasync: async () => (await call('datasync', path), await inner.datasync()),
    sync: async () => (await call('sync', path), await inner.sync()),
    stat: async () => (await call('fstat', path), await inner.stat()),
    chmod: async (mode) => (await call('chmod', path), await inner.chmod(mode)),
    setModified: async (ms) => (await call('setModified', path), await inner.setModified(ms)),
    realPath: async () => (await call('realPath', path), await inner.realPath()),
    close: async () => (hooks.open?.(-1), await inner.close()),
  })
  const folder = (inner: OpenFolder, path: string): OpenFolder => ({
    at: (name) => inner.at(name),
    pinned: inner.pinned,
    stat: async () => (await call('fstat', path), await inner.stat()),
    realPath: async () => (await call('realPath', path), await inner.realPath()),
    sync: async () => (await call('syncFolder', path), await inner.sync()),
    close: async () => (hooks.open?.(-1), await inner.close()),
  })
  return {
    open: async (path, how, mode) => {
      await call(`open-${how}`, path)
      const opened = await fs.open(path, how, mode)
      hooks.open?.(1)
      return file(opened, path)
    },
    openFolder: async (path) => {
      await call('openFolder', path)
      const opened = await fs.openFolder(path)
      hooks.open?.(1)
      return folder(opened, path)
    },
    stat: async (path) => (await call('stat', path), await fs.stat(path)),
    realPath: async (path) => (await call('realPath', path), await fs.realPath(path)),
    names: async (path) => (await call('names', path), await fs.names(path)),
    entries: async (path) => (await call('names', path), await fs.entries(path)),
    makeFolder: async (path, mode) => (await call('makeFolder', path), await fs.makeFolder(path, mode)),
    rename: async (from, to) => (await call('rename', to), await fs.rename(from, to)),
    link: async (existing, name) => (await call('link', name), await fs.link(existing, name)),
    unlink: async (path) => (await call('unlink', path), await fs.unlink(path)),
    removeFolder: async (path) => (await call('removeFolder', path), await fs.removeFolder(path)),
  }
}

/**
 * A file system that remembers what is open: a process that dies closes nothing, and the test that plays it has to. What is
 * opened after that is closed at once.
 */
export function trackingFileSystem(fs: FileSystem): {
  readonly fs: FileSystem
  readonly closeAll: () => Promise<void>
} {
  const opened = new Set<{ close(): Promise<void> }>()
  let isOver = false
  const track = async <T extends { close(): Promise<void> }>(inner: T): Promise<T> => {
    if (isOver) await inner.close().catch(() => undefined)
    const outer = { ...inner, close: () => (opened.delete(outer), inner.close()) }
    if (!isOver) opened.add(outer)
    return outer
  }
  return {
    fs: {
      ...fs,
      open: async (...args) => track(await fs.open(...args)),
      openFolder: async (...args) => track(await fs.openFolder(...args)),
    },
    closeAll: async () => {
      isOver = true
      for (const each of opened) await each.close().catch(() => undefined)
    },
  }
}
