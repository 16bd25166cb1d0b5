// The one gate for paths that the model names. A path is resolved against the working folder and must really lie under
// one of the roots (through every link, by `path.relative`, never by prefix). What is then opened or written is checked
// once more by what the system says was opened, so that swapping a folder between look and use gains nothing.
//
// Reads: under the roots; never devices or pipes; not the files that hold keys by custom (`protected-names.ts`). Writes:
// under the roots only, and never to a protected name, except inside `openFolders` (the memory folder of a fork that keeps
// memory). What a decision let through beyond that is in `grants`.
import { basename, dirname, join, parse, relative, resolve } from 'node:path'
import { refused } from '../../disk/failure.ts'
import {
  failureOf,
  systemCode,
  type Failure,
  type Result,
  type FileStat,
  type FileSystem,
  type OpenFile,
} from '../../disk/fs.ts'
import { replaceIn } from '../../disk/replace.ts'
import { folderUnder, isInside, locateUnder, openUnder } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import { isMachinePath, isSecretPath, unwritableName } from './protected-names.ts'

export interface PathGateOptions {
  readonly fs: FileSystem
  /** Text that no other writer uses, for temporary names. */
  readonly unique: () => string
  /** Folders besides the working folder. */
  readonly roots?: readonly string[] | undefined
  /** Folders that may be looked at, and are written by nobody but their guard. */
  readonly readRoots?: readonly string[] | undefined
  /** Files at or below a real path that wait for the user's word and are shown to nobody before it. */
  readonly withheld?: ((real: string) => Promise<ReadonlySet<string>>) | undefined
  /** Folders in which protected names may be written. */
  readonly openFolders?: readonly string[] | undefined
  /** What `~` stands for. */
  readonly home?: string | undefined
  /** Real paths that a decision let through although they lie outside, or hold keys by custom. */
  readonly grants?:
    | {
        readonly mayRead: (real: string) => boolean
        readonly mayWrite: (real: string) => boolean
        /** What a rule keeps back, for searches that begin above it. */
        readonly isForbidden?: (real: string) => boolean
      }
    | undefined
}

export interface PathGate {
  readonly fs: FileSystem
  /** Where a path really lies, if it may be looked at. The file need not exist. */
  locate(cwd: string, path: string): Promise<Result<{ path: string }>>
  openToRead(cwd: string, path: string): Promise<Result<{ file: OpenFile; path: string; stat: FileStat }>>
  /** Why a path may not be written, before anything is made ready; null when it may. */
  writeRefusal(cwd: string, path: string): Promise<Failure | null>
  /** Replaces a file whole if it still bears the mark that was seen (null: if there is none yet). */
  write(
    cwd: string,
    path: string,
    bytes: Uint8Array,
    seen: string | null,
  ): Promise<Result<{ path: string; stat: FileStat }>>
  /** Whether a search must pass a file over, for what it holds by custom or by a rule. */
  isHidden(path: string): boolean
  /** The files at or below a real path that wait for the user's word, which a search passes over too. */
  withheld(real: string): Promise<ReadonlySet<string>>
}

interface Place {
  readonly root: string
  readonly path: string
}

/** Decides which files tools may touch: inside the roots, no links out, no secrets. */
export function createPathGate(options: PathGateOptions): PathGate {
  const { fs } = options
  const isHidden = (path: string) => isMachinePath(path) || isSecretPath(path)
  const withheld = async (real: string) => (await options.withheld?.(real)) ?? new Set<string>()
  const isGranted = (path: string) => options.grants?.mayRead(path) === true
  const readRefusal = (path: string): Result<never> | null =>
    isMachinePath(path)
      ? refused('not-a-file', `${path} belongs to the machine and is not read as a file.`)
      : isHidden(path) && !isGranted(path)
        ? refused(
            'secret-file',
            `${path} is a file that usually holds keys. It is not shown unless the user allows it.`,
          )
        : null
  const rootsOf = (cwd: string) => [cwd, ...(options.roots ?? []), ...(options.openFolders ?? [])]
  const placeToRead = async (cwd: string, path: string): Promise<Result<Place>> => {
    const roots = [...rootsOf(cwd), ...(options.readRoots ?? [])]
    const found = await placeOf(options, cwd, path, roots, isGranted)
    return found.ok ? (readRefusal(found.path) ?? found) : found
  }
  const placeToWrite = async (cwd: string, path: string): Promise<Result<Place>> => {
    const found = await placeOf(
      options,
      cwd,
      path,
      rootsOf(cwd),
      (real) => options.grants?.mayWrite(real) === true,
    )
    const refused = found.ok ? protection(options, found) : null
    return refused === null ? found : { ok: false, failure: refused }
  }
  return {
    fs,
    isHidden: (path) => isHidden(path) || options.grants?.isForbidden?.(path) === true,
    locate: placeToRead,
    withheld,
    async openToRead(cwd, path) {
      const found = await placeToRead(cwd, path)
      if (!found.ok) return found
      const opened = await openUnder(fs, found.root, found.path, { hardLinks: 'allow' })
      if (!opened.ok) return opened
      const real = (await opened.file.realPath()) ?? opened.path
      const refused = readRefusal(real) ?? ((await withheld(real)).has(real) ? waits(real) : null)
      if (refused === null) return opened
      await opened.file.close()
      return refused
    },
    async writeRefusal(cwd, path) {
      const found = await placeToWrite(cwd, path)
      return found.ok ? null : found.failure
    },
    async write(cwd, path, bytes, seen) {
      const found = await placeToWrite(cwd, path)
      return found.ok ? await replaceVerified(options, found, bytes, seen) : found
    },
  }
}

const waits = (path: string): Result<never> =>
  refused(
    'needs-review',
    `${path} is held until the user has looked at it (pal memory review), and shown to nobody before.`,
  )

/** Where a path really lies, and under which of the roots. */
async function placeOf(
  options: PathGateOptions,
  cwd: string,
  path: string,
  roots: readonly string[],
  isGranted: (real: string) => boolean,
): Promise<Result<Place>> {
  if (path.trim() === '') return refused('bad-name', 'The path is empty.')
  if (path.includes('\0')) return refused('bad-name', 'The path contains a NUL character.')
  const atHome = options.home !== undefined && /^~(?=$|[/\\])/.test(path)
  const asked = resolve(cwd, atHome ? options.home + path.slice(1) : path)
  let first: Result<never> | undefined
  for (const root of roots) {
    const found = await locateUnder(options.fs, root, asked)
    if (found.ok) return { ok: true, root: await options.fs.realPath(root), path: found.path }
    // A root that is missing (or anything else that is wrong there) must not close the way to the others, nor be named for
    // a path that does not lie below it.
    if (found.failure.code === 'not-found') {
      if (isInside(root, asked)) first ??= refused('not-found', `${asked} does not exist.`)
    } else if (found.failure.code !== 'outside') first ??= found
  }
  const whole = parse(asked).root
  const granted = options.grants === undefined ? null : await locateUnder(options.fs, whole, asked)
  if (granted?.ok === true && isGranted(granted.path)) return { ok: true, root: whole, path: granted.path }
  return (
    first ?? refused('outside', `${asked} lies outside the folders that may be used: ${roots.join(', ')}`)
  )
}

/** Names are judged below the root only: the root itself may well lie in a folder of a protected name. */
function protection(options: PathGateOptions, { root, path }: Place): Failure | null {
  if (options.openFolders?.some((folder) => isInside(folder, path)) === true) return null
  const name = unwritableName(relative(root, path))
  return name === null
    ? null
    : { code: 'protected', message: `${path} is not written by tools: ${name} is protected.` }
}

/** Everything is decided on the open folder: where it really is, what stands there under the name, and the new file. */
async function replaceVerified(
  options: PathGateOptions,
  { root, path }: Place,
  bytes: Uint8Array,
  seen: string | null,
): Promise<Result<{ path: string; stat: FileStat }>> {
  const { fs, unique } = options
  const opened = await folderUnder(fs, root, dirname(path), defaults.tools.newFolderMode)
  if (!opened.ok) return opened
  const { folder } = opened
  try {
    const real = join((await folder.realPath()) ?? opened.path, basename(path))
    const moved = protection(options, { root, path: real })
    if (moved !== null) return { ok: false, failure: moved }
    const old = await statIfThere(fs, folder.at(basename(path)))
    if (old !== null && old.kind !== 'file') return refused('not-a-file', `${path} is not a regular file.`)
    if (old !== null && old.links > 1)
      return refused('hardlink', `${path} has ${old.links} names, and the others may lie anywhere.`)
    if ((old?.mark ?? null) !== seen) return refused('changed', `${path} changed meanwhile. Read it again.`)
    const mode = old?.mode ?? defaults.tools.newFileMode
    const stat = await replaceIn(fs, folder, basename(path), [bytes], {
      mode,
      unique,
      existing: old === null ? 'refuse' : 'replace',
    })
    return { ok: true, path: real, stat }
  } catch (error) {
    return { ok: false, failure: failureOf(error, `writing ${path}`) }
  } finally {
    await folder.close()
  }
}

/** What stands under a name, or null when there is nothing. */
export async function statIfThere(fs: FileSystem, path: string): Promise<FileStat | null> {
  try {
    return await fs.stat(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null
    throw error
  }
}
