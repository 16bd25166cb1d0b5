// The few file operations of a hook, synchronous since a hook does one thing and ends. Nothing here throws: what cannot be
// read is null, what cannot be written is false. No link is followed at the last step of a path, and what is written can be
// read by its owner alone.
import * as fs from 'node:fs'
import { join } from 'node:path'

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } =
  fs.constants
const ownerOnly = 0o600
const ownerFolder = 0o700

function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}

function withFile<T>(path: string, flags: number, work: (fd: number, stat: fs.Stats) => T): T | null {
  return attempt(() => {
    const fd = fs.openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, ownerOnly)
    try {
      const stat = fs.fstatSync(fd)
      return stat.isFile() ? work(fd, stat) : null
    } finally {
      fs.closeSync(fd)
    }
  })
}

/** A file of at most so many bytes. */
export const readSmall = (path: string, mostBytes: number): string | null =>
  withFile(path, O_RDONLY, (fd, { size }) =>
    size > mostBytes ? null : bytesAt(fd, 0, size).toString('utf8'),
  )

export interface OpenedFile {
  readonly bytes: number
  /** Which file it is, whatever its name. */
  readonly identity: string
  readonly read: (from: number, length: number) => Buffer
}

/** Opens a file of any size for reading in pieces. */
export const readFileWith = <T>(path: string, work: (file: OpenedFile) => T): T | null =>
  withFile(path, O_RDONLY, (fd, { size, dev, ino }) =>
    work({ bytes: size, identity: `${dev}:${ino}`, read: (from, length) => bytesAt(fd, from, length) }),
  )

function bytesAt(fd: number, from: number, length: number): Buffer {
  const into = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const count = fs.readSync(fd, into, done, length - done, from + done)
    if (count === 0) break
    done += count
  }
  return into.subarray(0, done)
}

/** The lines at the end of a file, the newest first; the first bytes may begin within one. */
export function lastLines(path: string, tailBytes: number): readonly string[] {
  const tail = readFileWith(path, ({ bytes, read }) => {
    const from = Math.max(0, bytes - tailBytes)
    return read(from, bytes - from).toString('utf8')
  })
  return (tail ?? '').split('\n').toReversed()
}

/** Both ends of a file that only grows; the whole where it is small. The cut line in the middle is left out. */
export function readEnds(path: string, headBytes: number, tailBytes: number): string | null {
  return readFileWith(path, ({ bytes, read }) => {
    if (bytes <= headBytes + tailBytes) return read(0, bytes).toString('utf8')
    const head = read(0, headBytes).toString('utf8')
    const tail = read(bytes - tailBytes, tailBytes).toString('utf8')
    return `${head.slice(0, head.lastIndexOf('\n') + 1)}${tail.slice(tail.indexOf('\n') + 1)}`
  })
}

/** Readers meet the old text or the new one, never a part; two writers at once leave one of their texts. */
export function writeWhole(folder: string, name: string, text: string, unique: string): boolean {
  const temporary = join(folder, `.pal-${unique}.tmp`)
  const isWritten = withFile(temporary, O_WRONLY | O_CREAT | O_EXCL, (fd) => {
    writeAll(fd, Buffer.from(text))
    return true
  })
  if (isWritten === true && attempt(() => fs.renameSync(temporary, join(folder, name))) !== null) return true
  attempt(() => fs.unlinkSync(temporary))
  return false
}

/** One line at the end, by one write; a line that somebody's crash or a full disk has cut is left as it is, on its own. */
export const appendLine = (path: string, line: string, mostBytes: number): boolean =>
  withFile(path, O_RDWR | O_CREAT | O_APPEND, (fd, { size }) => {
    if (size > mostBytes) return false
    const isCut = size > 0 && bytesAt(fd, size - 1, 1)[0] !== newline
    const bytes = Buffer.from(`${isCut ? '\n' : ''}${line}\n`)
    return fs.writeSync(fd, bytes) === bytes.length
  }) === true
const newline = 10

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += fs.writeSync(fd, bytes, done)
}

/** Whether the name was there: of several at once only one gets true. */
export const moveFile = (from: string, to: string): boolean =>
  attempt(() => (fs.renameSync(from, to), true)) === true

export const removeFile = (path: string): boolean => attempt(() => (fs.unlinkSync(path), true)) === true

/** Removes a folder only while nothing is in it. */
export const removeEmptyFolder = (path: string): boolean => attempt(() => (fs.rmdirSync(path), true)) === true

export const removeTree = (path: string): boolean =>
  attempt(() => (fs.rmSync(path, { recursive: true, force: true }), true)) === true

/** Makes the folder where it is missing; true only when it is ours, closed to others and no link. */
export function ownFolder(path: string): boolean {
  attempt(() => fs.mkdirSync(path, { mode: ownerFolder }))
  return (
    attempt(() => {
      const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      try {
        const { uid, mode } = fs.fstatSync(fd)
        return uid === process.getuid?.() && (mode & groupAndOthers) === 0
      } finally {
        fs.closeSync(fd)
      }
    }) === true
  )
}
const groupAndOthers = 0o077

export const namesIn = (folder: string): readonly string[] => attempt(() => fs.readdirSync(folder)) ?? []

/** When a file was last written to, or null where there is none. */
export const modifiedMs = (path: string): number | null =>
  attempt(() => fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null)

export const isFileOrFolder = (path: string): boolean =>
  attempt(() => {
    const stat = fs.lstatSync(path, { throwIfNoEntry: false })
    return stat !== undefined && (stat.isFile() || stat.isDirectory())
  }) === true

/** Missing for certain: an answer of the system, not a failure to look. */
export const isMissing = (path: string): boolean =>
  attempt(() => fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) === true

/** Creates a file that must not exist yet. */
export const createFile = (path: string, bytes: Buffer): boolean =>
  withFile(path, O_WRONLY | O_CREAT | O_EXCL, (fd) => {
    writeAll(fd, bytes)
    return true
  }) === true
