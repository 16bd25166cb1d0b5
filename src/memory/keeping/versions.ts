// The texts of all versions, by their hash: `versions/<sha256>` beside the ledger. Written once, never changed; what is
// read back is compared with its name, so a version that was tampered with is no version.
import { join } from 'node:path'
import { attempt, makeFolders, type Result } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { shaOf } from '../files.ts'
import { readSmall } from '../../disk/small-file.ts'
import type { Keeper } from './keeper.ts'

const folderOf = ({ place }: Keeper): string => join(place.state, 'versions')
export const versionFile = (keeper: Keeper, sha: string): string => join(folderOf(keeper), sha)

export async function keepVersion(keeper: Keeper, text: string): Promise<Result<{ sha: string }>> {
  const sha = shaOf(text)
  const made = await attempt(`keeping a version in ${keeper.place.state}`, async () => {
    await makeFolders(keeper.fs, folderOf(keeper), defaults.memory.folderMode)
    return {}
  })
  if (!made.ok) return made
  const written = await replaceFile(keeper.fs, versionFile(keeper, sha), Buffer.from(text), {
    mode: defaults.memory.fileMode,
    unique: keeper.unique,
    existing: 'refuse',
  })
  return written.ok || written.failure.code === 'exists' ? { ok: true, sha } : written
}

export async function readVersion(keeper: Keeper, sha: string): Promise<Result<{ text: string }>> {
  const read = await readSmall(keeper.fs, versionFile(keeper, sha), defaults.memory.fileBytes + 1)
  if (!read.ok) return read
  return shaOf(read.bytes) === sha
    ? { ok: true, text: read.bytes.toString('utf8') }
    : { ok: false, failure: { code: 'damaged', message: `the kept version ${sha} is not what it was` } }
}
