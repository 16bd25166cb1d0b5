// A file is replaced whole: readers see the old bytes or the new ones, never a part. The new bytes go to
// a temporary file in the same folder, under a name that begins with a dot so that scanners skip it, are synced,
// renamed over the old name, and the folder is synced. On any failure the old file is untouched.
import { basename, dirname } from 'node:path'
import {
  closing,
  attempt,
  systemCode,
  writeAll,
  type Result,
  type FileStat,
  type FileSystem,
  type OpenFile,
  type OpenFolder,
} from './fs.ts'

export interface ReplaceOptions {
  readonly mode: number
  /** Text that no other writer uses, for the temporary name. */
  readonly unique: () => string
  /** `refuse` makes a taken name an `exists` failure; the default is to take its place. */
  readonly existing?: 'replace' | 'refuse'
}

export const temporaryName = (unique: string): string => `.pal-${unique}.tmp`
export const isTemporaryName = (name: string): boolean => name.startsWith('.pal-') && name.endsWith('.tmp')

export async function replaceFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array | readonly Uint8Array[],
  options: ReplaceOptions,
): Promise<Result<{ stat: FileStat }>> {
  const parts = bytes instanceof Uint8Array ? [bytes] : bytes
  return await attempt(`replacing ${path}`, async () => {
    const folder = await fs.openFolder(await fs.realPath(dirname(path)))
    const stat = await closing(folder, () => replaceIn(fs, folder, basename(path), parts, options))
    return { stat }
  })
}

/** The same in an open folder; the bytes may come in parts. Rejects as the port does, with nothing left behind. */
export async function replaceIn(
  fs: FileSystem,
  folder: OpenFolder,
  name: string,
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options: ReplaceOptions,
): Promise<FileStat> {
  const temporary = folder.at(temporaryName(options.unique()))
  const file = await fs.open(temporary, 'create', options.mode)
  try {
    const stat = await closing(file, async () => {
      for await (const part of parts) await writeAll(file, part)
      // The mask of the process has shortened the mode given at creation.
      await file.chmod(options.mode)
      await file.sync()
      return await file.stat()
    })
    if (options.existing === 'refuse') {
      await fs.link(temporary, folder.at(name))
      await fs.unlink(temporary)
    } else {
      await fs.rename(temporary, folder.at(name))
    }
    await folder.sync()
    return stat
  } catch (error) {
    await removeIfThere(fs, temporary)
    throw error
  }
}

/** The bytes of a file from one place to another, block by block. Each block is the caller's to keep. */
export async function* blocksOf(
  file: OpenFile,
  blockBytes: number,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncIterable<Buffer> {
  for (let at = from; at < to;) {
    const block = Buffer.allocUnsafe(Math.min(blockBytes, to - at))
    const count = await file.read(block, at)
    if (count === 0) return
    yield block.subarray(0, count)
    at += count
  }
}

/** A leftover that cannot be removed must not hide the failure that left it. */
export async function removeIfThere(fs: FileSystem, path: string): Promise<boolean> {
  try {
    await fs.unlink(path)
    return true
  } catch (error) {
    if (systemCode(error) === null) throw error
    return false
  }
}
