// The file-system port: the few calls that everything on disk is built from, so that a test can fail the Nth one.
// It is the edge to the machine and the only port that rejects: with the system's own error, `code` included.
// Whatever is built on it in this room catches at its door with `attempt` and hands on a value.
//
// Every open refuses a link at the last step of the path and never waits on a pipe.
import { constants, existsSync, type Dirent } from 'node:fs'
import * as node from 'node:fs/promises'
import { join } from 'node:path'
import type { Failure, FailureCode, OrWhy, Result } from './failure.ts'

export type { Failure, FailureCode, OrWhy, Result }

export type FileKind = 'file' | 'folder' | 'link' | 'other'

export interface FileStat {
  readonly kind: FileKind
  readonly bytes: number
  /** Permission bits only. */
  readonly mode: number
  /** How many names it has; 0 when it was removed while open. */
  readonly links: number
  readonly modifiedMs: number
  /** Which file this is, whatever its name. */
  readonly identity: string
  /** Changes whenever the file is another one or was written to. */
  readonly mark: string
}

export type OpenFor =
  /** An existing file. */
  | 'read'
  /** An existing file, to read and to write at its end only. */
  | 'append'
  /** A file that must not exist yet, to read and to write at its end only. */
  | 'create'

export interface OpenFile {
  /** How many bytes were read; 0 at the end. */
  read(into: Uint8Array, at: number): Promise<number>
  /** One write call at the end of the file. Says how many bytes were taken, which may be fewer. */
  write(bytes: Uint8Array): Promise<number>
  truncate(bytes: number): Promise<void>
  /** Contents are on the disk; `sync` also brings times and mode. */
  datasync(): Promise<void>
  sync(): Promise<void>
  stat(): Promise<FileStat>
  chmod(mode: number): Promise<void>
  /** Sets when it was last changed. */
  setModified(ms: number): Promise<void>
  /** Where the system says this file is now, or null when it cannot say. */
  realPath(): Promise<string | null>
  close(): Promise<void>
}

/** An open folder. Names given to `at` are looked up in this very folder, even when it is moved or swapped meanwhile. */
export interface OpenFolder {
  at(name: string): string
  /** False where the system offers no such lookup, so that `at` is only a path. */
  readonly pinned: boolean
  stat(): Promise<FileStat>
  realPath(): Promise<string | null>
  sync(): Promise<void>
  close(): Promise<void>
}

export interface FolderEntry {
  readonly name: string
  readonly kind: FileKind
}

export interface FileSystem {
  open(path: string, how: OpenFor, mode?: number): Promise<OpenFile>
  openFolder(path: string): Promise<OpenFolder>
  /** Of the name itself: a link is a link. */
  stat(path: string): Promise<FileStat>
  realPath(path: string): Promise<string>
  /** The names in a folder, in no order. */
  names(path: string): Promise<readonly string[]>
  /** The same, each with what it is itself: a link is a link. */
  entries(path: string): Promise<readonly FolderEntry[]>
  makeFolder(path: string, mode: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** A second name for a file; refused when the name is taken. */
  link(existing: string, name: string): Promise<void>
  unlink(path: string): Promise<void>
  removeFolder(path: string): Promise<void>
}

/** Whether the system shows the open files of a process as names. Some containers mount no /proc. */
const hasOpenFiles = process.platform === 'linux' && existsSync('/proc/self/fd')
const noFollow = constants.O_NOFOLLOW ?? 0
const noWait = constants.O_NONBLOCK ?? 0
const flagsOf: Readonly<Record<OpenFor, number>> = {
  read: constants.O_RDONLY | noFollow | noWait,
  append: constants.O_RDWR | constants.O_APPEND | noFollow | noWait,
  create: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | noFollow,
}

/** The file system of this machine. */
export const machineFileSystem: FileSystem = {
  open: async (path, how, mode) => openFile(await node.open(path, flagsOf[how], mode)),
  openFolder: async (path) =>
    openFolder(await node.open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | noFollow), path),
  stat: async (path) => statOf(await node.lstat(path, { bigint: true })),
  realPath: (path) => node.realpath(path),
  names: (path) => node.readdir(path),
  entries: async (path) =>
    (await node.readdir(path, { withFileTypes: true })).map((entry) => ({
      name: entry.name,
      kind: kindOf(entry),
    })),
  makeFolder: async (path, mode) => {
    await node.mkdir(path, { mode })
  },
  rename: (from, to) => node.rename(from, to),
  link: (existing, name) => node.link(existing, name),
  unlink: (path) => node.unlink(path),
  removeFolder: (path) => node.rmdir(path),
}

function openFile(handle: node.FileHandle): OpenFile {
  return {
    read: async (into, at) => (await handle.read(into, 0, into.byteLength, at)).bytesRead,
    write: async (bytes) => (await handle.write(bytes, 0, bytes.byteLength, null)).bytesWritten,
    truncate: (bytes) => handle.truncate(bytes),
    datasync: () => handle.datasync(),
    sync: () => handle.sync(),
    stat: async () => statOf(await handle.stat({ bigint: true })),
    chmod: (mode) => handle.chmod(mode),
    setModified: (ms) => handle.utimes(new Date(ms), new Date(ms)),
    realPath: () => pathOfHandle(handle.fd),
    close: () => handle.close(),
  }
}

function openFolder(handle: node.FileHandle, path: string): OpenFolder {
  const pinned = hasOpenFiles
  const base = pinned ? `/proc/self/fd/${handle.fd}` : path
  return {
    at: (name) => join(base, name),
    pinned,
    stat: async () => statOf(await handle.stat({ bigint: true })),
    realPath: () => pathOfHandle(handle.fd),
    sync: () => handle.sync(),
    close: () => handle.close(),
  }
}

async function pathOfHandle(fd: number): Promise<string | null> {
  return hasOpenFiles ? await node.readlink(`/proc/self/fd/${fd}`) : null
}

function statOf(stat: Awaited<ReturnType<typeof bigStat>>): FileStat {
  const identity = `${stat.dev}:${stat.ino}`
  return {
    kind: kindOf(stat),
    bytes: Number(stat.size),
    mode: Number(stat.mode & 0o777n),
    links: Number(stat.nlink),
    modifiedMs: Number(stat.mtimeMs),
    identity,
    mark: `${identity}:${stat.mtimeNs}:${stat.size}`,
  }
}
const bigStat = (path: string) => node.lstat(path, { bigint: true })

const kindOf = (it: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): FileKind =>
  it.isFile() ? 'file' : it.isDirectory() ? 'folder' : it.isSymbolicLink() ? 'link' : 'other'

const codes: Readonly<Record<string, FailureCode>> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EFBIG: 'disk-full',
  EROFS: 'read-only',
  EACCES: 'no-access',
  EPERM: 'no-access',
  ENOENT: 'not-found',
  ENOTDIR: 'not-found',
  EEXIST: 'exists',
  ENOTEMPTY: 'not-empty',
  ELOOP: 'symlink',
  EMLINK: 'symlink',
  EXDEV: 'other-device',
  EISDIR: 'not-a-file',
  ENXIO: 'not-a-file',
  ENAMETOOLONG: 'name-too-long',
  EMFILE: 'too-many-open-files',
  ENFILE: 'too-many-open-files',
}

/** The system's own word for what went wrong, or null when the error is not the system's. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

/** Where the system's own text adds nothing but the name of a temporary file. */
const reasons: Readonly<Record<string, string>> = {
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
}

/** A system error as a value. An error that is not the system's is a bug, and goes on. */
export function failureOf(error: unknown, doing: string): Failure {
  const code = systemCode(error)
  if (code === null) throw error
  return {
    code: codes[code] ?? 'io-error',
    message: `${doing} failed: ${reasons[code] ?? (error as Error).message}`,
  }
}

/** Runs file-system work and gives its failure as a value; work without a result gives none. */
export async function attempt<T extends object = object>(
  doing: string,
  work: () => Promise<T | void>,
): Promise<Result<T>> {
  try {
    return { ok: true, ...((await work()) as T) }
  } catch (error) {
    return { ok: false, failure: failureOf(error, doing) }
  }
}

/** Null where what it asks for is not there. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
}

export const isThere = async (fs: FileSystem, path: string): Promise<boolean> =>
  (await attempt('looking', () => fs.stat(path))).ok

/** Where a path really leads. What is not there lies where its name says. */
export async function realOr(fs: FileSystem, path: string): Promise<string> {
  const real = await attempt('looking', async () => ({ path: await fs.realPath(path) }))
  return real.ok ? real.path : path
}

/** Opens a file to read in it, and closes it whatever happens. */
export async function reading<T>(
  fs: FileSystem,
  path: string,
  work: (file: OpenFile) => Promise<T>,
): Promise<T> {
  return await closing(await fs.open(path, 'read'), work)
}

/** Works with what is open, and closes it whatever happens. */
export async function closing<Opened extends { close(): Promise<void> }, T>(
  opened: Opened,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

/** Writes all of the bytes, in as many calls as the system needs. */
export async function writeAll(file: OpenFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    const taken = await file.write(bytes.subarray(done))
    if (taken === 0) throw Object.assign(new Error('the system took no more bytes'), { code: 'EIO' })
    done += taken
  }
}

/** Reads `length` bytes at a place; fewer only when the file ends before. */
export async function readAt(file: OpenFile, at: number, length: number): Promise<Buffer> {
  const into = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const count = await file.read(into.subarray(done), at + done)
    if (count === 0) break
    done += count
  }
  return into.subarray(0, done)
}

/** Makes a folder and those above it, each of them synced into its parent. Existing ones are left as they are. */
export const makeFolders = (fs: FileSystem, path: string, mode: number): Promise<void> =>
  makeFolder(fs, path, mode, true)

/** Those above it are made once: below a link that leads nowhere a folder is missing however often they are. */
async function makeFolder(fs: FileSystem, path: string, mode: number, andAbove: boolean): Promise<void> {
  try {
    await fs.makeFolder(path, mode)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST') return
    const parent = join(path, '..')
    if (code !== 'ENOENT' || parent === path || !andAbove) throw error
    await makeFolders(fs, parent, mode)
    return await makeFolder(fs, path, mode, false)
  }
  await syncFolder(fs, join(path, '..'))
}

export async function syncFolder(fs: FileSystem, path: string): Promise<void> {
  await closing(await fs.openFolder(await fs.realPath(path)), (folder) => folder.sync())
}
