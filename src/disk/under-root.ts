// The one gate through which paths that come from outside reach the disk (law M2). What it opens, makes or removes
// lies under the root at that moment, not merely when it was looked at:
//
// - the folder is opened first and the open folder is what is checked; names are then looked up in that open folder,
//   so swapping a parent for a link between check and use changes nothing (Linux; elsewhere the folder's identity is
//   compared again right before the last step, which leaves a short window);
// - a link at the last step is refused, or followed when asked and only to a place that is itself under the root;
// - a file with a second name is refused for writing, since that name may lie anywhere;
// - writing means a new file renamed into place, never bytes into the old one.
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import {
  closing,
  attempt,
  failureOf,
  readAt,
  systemCode,
  unlessMissing,
  type Failure,
  type Result,
  type FileStat,
  type FileSystem,
  type OpenFile,
  type OpenFolder,
  type FailureCode,
} from './fs.ts'
import { replaceIn, type ReplaceOptions } from './replace.ts'

export interface GateOptions {
  /** `inside` follows a link at the last step if its target is under the root too. */
  readonly links?: 'refuse' | 'inside'
  readonly hardLinks?: 'refuse' | 'allow'
}

export interface WriteOptions extends ReplaceOptions, GateOptions {
  /** Mode of folders that have to be made on the way; without it a missing folder is a failure. */
  readonly makeFolders?: number
  /** The `mark` that the caller last saw; another one now is a `changed` failure. Null: there must be no file yet. */
  readonly seen?: string | null
  /** Keep the mode of the file that is replaced. */
  readonly keepMode?: boolean
}

/** True for the root itself and whatever lies in it; `proj-evil` does not lie in `proj`. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Opens an existing regular file to read. `path` is its real place. */
export async function openUnder(
  fs: FileSystem,
  root: string,
  name: string,
  options: GateOptions = {},
): Promise<Result<{ file: OpenFile; path: string; stat: FileStat }>> {
  return await inFolder(fs, root, name, undefined, async (folder, base, path, realRoot) => {
    const target = await linkTarget(fs, folder.at(base), realRoot, options)
    if (target !== null) return await openUnder(fs, realRoot, target, { ...options, links: 'refuse' })
    const file = await fs.open(folder.at(base), 'read')
    return await closedUnless(file, async () => {
      const refused = await refusalOf(file, realRoot, options)
      return refused === null
        ? { ok: true, file, path, stat: await file.stat() }
        : { ok: false, failure: refused }
    })
  })
}

/** The first so many bytes of an existing regular file. `path` is its real place. */
export async function readUnder(
  fs: FileSystem,
  root: string,
  name: string,
  most: number,
  options: GateOptions = {},
): Promise<Result<{ bytes: Buffer; path: string; stat: FileStat }>> {
  const opened = await openUnder(fs, root, name, options)
  if (!opened.ok) return opened
  const { file, path, stat } = opened
  return await attempt(`reading ${name}`, async () => {
    const bytes = await closing(file, () => readAt(file, 0, Math.min(stat.bytes, most)))
    return { bytes, path, stat }
  })
}

/** Puts bytes under a name, whole or not at all. */
export async function writeUnder(
  fs: FileSystem,
  root: string,
  name: string,
  bytes: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options: WriteOptions,
): Promise<Result<{ path: string; stat: FileStat }>> {
  return await inFolder(fs, root, name, options.makeFolders, async (folder, base, path, realRoot) => {
    const target = await linkTarget(fs, folder.at(base), realRoot, options)
    if (target !== null) return await writeUnder(fs, realRoot, target, bytes, { ...options, links: 'refuse' })
    const old = await statIfThere(fs, folder.at(base))
    const refused = (old && kindRefusal(old, options)) ?? changedRefusal(old, options.seen)
    if (refused !== null) return { ok: false, failure: refused }
    const mode = old !== null && options.keepMode === true ? old.mode : options.mode
    const parts = bytes instanceof Uint8Array ? [bytes] : bytes
    const existing = options.seen === null ? 'refuse' : options.existing
    const stat = await replaceIn(fs, folder, base, parts, { ...options, mode, ...(existing && { existing }) })
    return { ok: true, path, stat }
  })
}

/** Removes a file. A link is removed as a link: its target stays. */
export async function removeUnder(fs: FileSystem, root: string, name: string): Promise<Result<object>> {
  return await inFolder(fs, root, name, undefined, async (folder, base) => {
    await fs.unlink(folder.at(base))
    await folder.sync()
    return { ok: true }
  })
}

/** Opens a folder under the root, made with this mode when it is missing. The caller closes it. */
export async function folderUnder(
  fs: FileSystem,
  root: string,
  name: string,
  makeMode?: number,
): Promise<Result<{ folder: OpenFolder; path: string }>> {
  try {
    const { folder, path } = await openFolderChain(
      fs,
      await fs.realPath(root),
      resolve(root, name),
      root,
      makeMode,
    )
    return { ok: true, folder, path }
  } catch (error) {
    return { ok: false, failure: gateFailure(error, name) }
  }
}

/** Where a name really lies, or would lie, and whether that is under the root. Looks only; use the others to act. */
export async function locateUnder(
  fs: FileSystem,
  root: string,
  name: string,
): Promise<Result<{ path: string }>> {
  try {
    if (name.includes('\0')) throw new GateError('bad-name', `${JSON.stringify(name)} contains a NUL`)
    const realRoot = await fs.realPath(root)
    const path = await nearestRealPath(fs, resolve(root, name))
    if (!isInside(realRoot, path)) throw outside(name, realRoot)
    return { ok: true, path }
  } catch (error) {
    return { ok: false, failure: gateFailure(error, name) }
  }
}

// ---- how ----

/** A refusal on the way through the gate; it never leaves this file. */
class GateError extends Error {
  readonly gate: Failure
  constructor(code: FailureCode, message: string) {
    super(message)
    this.gate = { code, message }
  }
}
const outside = (name: string, root: string): GateError =>
  new GateError('outside', `${JSON.stringify(name)} lies outside ${root}; only paths under it are allowed`)
const gateFailure = (error: unknown, name: string): Failure =>
  error instanceof GateError ? error.gate : failureOf(error, `opening ${JSON.stringify(name)}`)

type InFolder<T extends object> = (
  folder: OpenFolder,
  base: string,
  path: string,
  realRoot: string,
) => Promise<Result<T>>

async function inFolder<T extends object>(
  fs: FileSystem,
  root: string,
  name: string,
  makeMode: number | undefined,
  work: InFolder<T>,
): Promise<Result<T>> {
  try {
    if (name.includes('\0')) throw new GateError('bad-name', `${JSON.stringify(name)} contains a NUL`)
    const realRoot = await fs.realPath(root)
    const wanted = resolve(root, name)
    const base = basename(wanted)
    // The root itself is a folder, and its own parent is none of our business.
    if (wanted === resolve(root) || wanted === realRoot)
      throw new GateError('not-a-file', `${name} is the root itself`)
    const { folder, path } = await openFolderChain(fs, realRoot, dirname(wanted), root, makeMode)
    return await closing(folder, () => work(folder, base, join(path, base), realRoot))
  } catch (error) {
    return { ok: false, failure: gateFailure(error, name) }
  }
}

async function openFolderChain(
  fs: FileSystem,
  realRoot: string,
  wanted: string,
  root: string,
  makeMode: number | undefined,
): Promise<{ folder: OpenFolder; path: string }> {
  const missing: string[] = []
  let existing = wanted
  for (;;) {
    const real = await realPathIfThere(fs, existing)
    if (real !== null) {
      if (!isInside(realRoot, real)) throw outside(wanted, root)
      return await descend(fs, realRoot, real, missing, makeMode)
    }
    if (makeMode === undefined) throw new GateError('not-found', `there is no folder ${wanted}`)
    missing.unshift(basename(existing))
    if (dirname(existing) === existing) throw outside(wanted, root)
    existing = dirname(existing)
  }
}

async function descend(
  fs: FileSystem,
  realRoot: string,
  start: string,
  missing: readonly string[],
  makeMode = 0o700,
): Promise<{ folder: OpenFolder; path: string }> {
  let path = start
  let folder = await openVerified(fs, realRoot, path, path)
  for (const name of missing) {
    const inner = folder.at(name)
    try {
      await makeIfMissing(fs, inner, makeMode)
      await folder.sync()
      path = join(path, name)
      const next = await openVerified(fs, realRoot, inner, path)
      await folder.close()
      folder = next
    } catch (error) {
      await folder.close()
      throw error
    }
  }
  return { folder, path }
}

async function openVerified(fs: FileSystem, realRoot: string, at: string, path: string): Promise<OpenFolder> {
  const folder = await fs.openFolder(at)
  const verified = await closedUnless(folder, async () => {
    const real = await folder.realPath()
    const isSame = real !== null || (await fs.stat(path)).identity === (await folder.stat()).identity
    return { ok: isSame && isInside(realRoot, real ?? (await fs.realPath(path))) }
  })
  if (!verified.ok) throw outside(path, realRoot)
  return folder
}

/** What was opened stays open only if all went well. */
async function closedUnless<T extends { ok: boolean }>(
  opened: { close(): Promise<void> },
  work: () => Promise<T>,
): Promise<T> {
  let isGood = false
  try {
    const result = await work()
    isGood = result.ok
    return result
  } finally {
    if (!isGood) await opened.close()
  }
}

async function makeIfMissing(fs: FileSystem, path: string, mode: number): Promise<void> {
  try {
    await fs.makeFolder(path, mode)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
}

async function linkTarget(
  fs: FileSystem,
  path: string,
  realRoot: string,
  options: GateOptions,
): Promise<string | null> {
  const stat = await statIfThere(fs, path)
  if (stat?.kind !== 'link') return null
  const target = await realPathIfThere(fs, path)
  if (options.links !== 'inside') {
    throw new GateError(
      'symlink',
      `${basename(path)} is a link to ${target ?? 'nothing'}; links are not followed here`,
    )
  }
  if (target === null || !isInside(realRoot, target)) throw outside(target ?? basename(path), realRoot)
  return target
}

async function refusalOf(file: OpenFile, realRoot: string, options: GateOptions): Promise<Failure | null> {
  const refused = kindRefusal(await file.stat(), options)
  if (refused !== null) return refused
  const real = await file.realPath()
  return real === null || isInside(realRoot, real) ? null : outside(real, realRoot).gate
}

function kindRefusal(stat: FileStat, options: GateOptions): Failure | null {
  if (stat.kind !== 'file') return { code: 'not-a-file', message: 'it is not a regular file' }
  if (stat.links > 1 && options.hardLinks !== 'allow') {
    return { code: 'hardlink', message: `the file has ${stat.links} names, and the others may lie anywhere` }
  }
  return null
}

function changedRefusal(now: FileStat | null, seen: string | null | undefined): Failure | null {
  if (seen === undefined || seen === (now?.mark ?? null)) return null
  return {
    code: 'changed',
    message: now === null ? 'the file is gone' : 'the file changed since it was read; read it again',
  }
}

const statIfThere = (fs: FileSystem, path: string): Promise<FileStat | null> => unlessMissing(fs.stat(path))
const realPathIfThere = (fs: FileSystem, path: string): Promise<string | null> =>
  unlessMissing(fs.realPath(path))

async function nearestRealPath(fs: FileSystem, path: string): Promise<string> {
  const real = await realPathIfThere(fs, path)
  if (real !== null || dirname(path) === path) return real ?? path
  return join(await nearestRealPath(fs, dirname(path)), basename(path))
}
