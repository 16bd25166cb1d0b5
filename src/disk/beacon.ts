// A sign of life that every process of one machine can read, whatever name space it is in: a socket in the folder of a lock,
// which its owner listens on. Numbers of processes mean nothing across name spaces, but the system itself knows whether
// anybody still listens: it refuses as soon as the owner is dead, and never before, not even while the owner is stopped.
import { statfs } from 'node:fs/promises'
import { chmod } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { FileSystem } from './fs.ts'
import { removeIfThere } from './replace.ts'

export interface Beacon {
  close(): Promise<void>
}

export interface Beacons {
  /** Null where the file system holds no sockets. */
  light(fs: FileSystem, folder: string, name: string): Promise<Beacon | null>
  /** Whether somebody listens; null where nobody can say. */
  isLit(fs: FileSystem, folder: string, name: string): Promise<boolean | null>
  /** Whether the disk below a path can only be in use by one machine at a time. */
  isLocal(path: string): Promise<boolean>
}

export const machineBeacons: Beacons = {
  async light(fs, folder, name) {
    // Paths of sockets are short: below the open folder every path is.
    const opened = await openedOr(null, () => fs.openFolder(folder))
    if (opened === null) return null
    const server = createServer((socket) => socket.destroy())
    const isLit = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      // Its folder is the owner's alone; the socket is too.
      server.listen(opened.at(name), () => {
        chmod(opened.at(name), 0o600).then(
          () => resolve(true),
          () => resolve(true),
        )
      })
    })
    server.unref()
    if (!isLit) {
      await opened.close()
      return null
    }
    let isClosed = false
    return {
      async close() {
        if (isClosed) return
        isClosed = true
        await new Promise<void>((resolve) => server.close(() => resolve()))
        await openedOr(false, () => removeIfThere(fs, opened.at(name)))
        await opened.close()
      },
    }
  },

  async isLit(fs, folder, name) {
    const opened = await openedOr(null, () => fs.openFolder(folder))
    if (opened === null) return null
    try {
      return await new Promise<boolean | null>((resolve) => {
        const socket = connect(opened.at(name))
        socket.once('connect', () => (socket.destroy(), resolve(true)))
        socket.once('error', (error: NodeJS.ErrnoException) =>
          // A full queue is one that somebody has.
          resolve(error.code === 'ECONNREFUSED' ? false : error.code === 'EAGAIN' ? true : null),
        )
      })
    } finally {
      await opened.close()
    }
  },

  isLocal: (path) => openedOr(false, async () => localDisks.has((await statfs(path)).type)),
}

/** ext, xfs, btrfs, zfs, f2fs, bcachefs, tmpfs and overlay, by the numbers the system has for them. */
const localDisks: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e, 0x01021994, 0x794c7630,
])

/** A beacon is only ever a help: what the system refuses here leaves the question open. */
async function openedOr<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch {
    return otherwise
  }
}
