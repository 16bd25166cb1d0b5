// The file of a memory put in its place, or taken away.
import { dirname } from 'node:path'
import type { Result } from '../../disk/fs.ts'
import { removeUnder, writeUnder } from '../../disk/under-root.ts'
import { fileMode, folderMode, type Keeper } from './keeper.ts'

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
