// One folder of memories, opened to be changed: what stands there now, a file put in its place or taken away, and the texts
// of all versions by their hash, `versions/<sha256>` beside the ledger. Those are written once and never changed; what is
// read back is compared with its name, so a version that was tampered with is no version.
import { attempt, makeFolders, unlessMissing, type FileSystem, type Result } from '../../disk/fs.ts'
import type { Processes } from '../../disk/processes.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Clock } from '../../transcript/ids.ts'
import type { MemoryPlace } from '../memory.ts'
import { Ledger } from './ledger.ts'
import { dirname, join } from 'node:path'
import { removeUnder, writeUnder } from '../../disk/under-root.ts'
import { replaceFile, isTemporaryName, removeIfThere } from '../../disk/replace.ts'
import { refused } from '../../disk/failure.ts'
import { readBytes, shaOf } from '../files.ts'
import { readSmall } from '../../disk/small-file.ts'

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

/** What stands there: its bytes, text, hash and mark, each null where there is no file. */
export async function fileNow({ fs, place }: Keeper, file: string): Promise<Result<FileNow>> {
  const read = await readBytes(fs, place.root, file)
  if (!read.ok)
    return read.failure.code === 'not-found'
      ? { ok: true, bytes: null, text: null, sha: null, mark: null }
      : read
  const { bytes, stat } = read
  return { ok: true, bytes, text: bytes.toString('utf8'), sha: shaOf(bytes), mark: stat.mark }
}
interface FileNow {
  readonly bytes: Buffer | null
  readonly text: string | null
  readonly sha: string | null
  readonly mark: string | null
}

/** Puts a text in place of what bore this mark, or removes it. */
export async function put(
  keeper: Keeper,
  file: string,
  text: string | null,
  seen: string | null,
): Promise<Result<object>> {
  const { fs, place, unique } = keeper
  if (text === null) {
    const removed = await removeUnder(fs, place.root, file)
    return removed.ok || removed.failure.code !== 'not-found' ? removed : { ok: true }
  }
  return await writeUnder(fs, place.root, file, Buffer.from(text), {
    mode: fileMode(place),
    unique,
    seen,
    ...(dirname(file) === '.' ? {} : { makeFolders: folderMode(place) }),
  })
}

/** When what memories say of the project last held, as consolidation notes it. */
export const claimsFile = ({ place }: Keeper): string => join(place.state, 'claims.json')

const folderOf = ({ place }: Keeper): string => join(place.state, 'versions')
export const versionFile = (keeper: Keeper, sha: string): string => join(folderOf(keeper), sha)

/** Keeps a text, or what stood there byte for byte; null is none, and its hash is null. */
export async function keepVersion(
  keeper: Keeper,
  content: string | Buffer | null,
): Promise<Result<{ sha: string | null }>> {
  if (content === null) return { ok: true, sha: null }
  const sha = shaOf(content)
  const made = await attempt(`keeping a version in ${keeper.place.state}`, () =>
    makeFolders(keeper.fs, folderOf(keeper), defaults.memory.folderMode),
  )
  if (!made.ok) return made
  const written = await replaceFile(keeper.fs, versionFile(keeper, sha), Buffer.from(content), {
    mode: defaults.memory.fileMode,
    unique: keeper.unique,
    existing: 'refuse',
  })
  return written.ok || written.failure.code === 'exists' ? { ok: true, sha } : written
}

/** The text of a hash; null for none. */
export const versionText = async (
  keeper: Keeper,
  sha: string | null,
): Promise<Result<{ text: string | null }>> =>
  sha === null ? { ok: true, text: null } : await readVersion(keeper, sha)

export async function readVersion(keeper: Keeper, sha: string): Promise<Result<{ text: string }>> {
  const read = await readSmall(keeper.fs, versionFile(keeper, sha), defaults.memory.fileBytes + 1)
  if (!read.ok) return read
  return shaOf(read.bytes) === sha
    ? { ok: true, text: read.bytes.toString('utf8') }
    : refused('damaged', `the kept version ${sha} is not what it was`)
}

/**
 * Removes temporary names: who dies between giving a new file its name and taking its first one away leaves a file with two
 * names, which is then refused as somebody else's. The caller is alone, so nobody is using one. Folders are below the root,
 * '.' for itself.
 */
export async function clearLeftovers(
  { fs, place }: Keeper,
  folders: ReadonlySet<string>,
): Promise<Result<object>> {
  return await attempt('clearing up what a dead process left', async () => {
    for (const folder of folders) {
      const path = join(place.root, folder)
      for (const name of (await unlessMissing(fs.names(path))) ?? [])
        if (isTemporaryName(name)) await removeIfThere(fs, join(path, name))
    }
  })
}
