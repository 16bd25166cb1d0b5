// The salt of this installation: with it a credential becomes the name of a tenant, and cannot be guessed back from that.
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { attempt, makeFolders, type FileSystem, type Result } from '../disk/fs.ts'
import { replaceFile } from '../disk/replace.ts'
import { fileMode, folderMode } from './line-file.ts'
import { readSmall } from '../disk/small-file.ts'

const saltBytes = 32

export async function readOrMakeSalt(fs: FileSystem, folder: string): Promise<Result<{ salt: string }>> {
  const made = await attempt(`making ${folder}`, async () => {
    await makeFolders(fs, folder, folderMode)
    return {}
  })
  if (!made.ok) return made
  const path = join(folder, 'salt')
  // Written once: of two gateways that start together the second reads what the first has made.
  const written = await replaceFile(fs, path, randomBytes(saltBytes), {
    mode: fileMode,
    unique: () => randomUUID(),
    existing: 'refuse',
  })
  if (!written.ok && written.failure.code !== 'exists') return written
  const read = await readSmall(fs, path, saltBytes)
  return read.ok ? { ok: true, salt: read.bytes.toString('base64url') } : read
}
