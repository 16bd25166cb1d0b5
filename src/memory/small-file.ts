// A small file of our own or of git's, read whole up to a bound. What is not a regular file is refused.
import { attempt, readAt, type Result, type FileSystem } from '../disk/fs.ts'

export async function readSmall(
  fs: FileSystem,
  path: string,
  maxBytes: number,
): Promise<Result<{ bytes: Buffer }>> {
  return await attempt(`reading ${path}`, async () => {
    const file = await fs.open(path, 'read')
    try {
      const { bytes, kind } = await file.stat()
      if (kind !== 'file') throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EISDIR' })
      return { bytes: await readAt(file, 0, Math.min(bytes, maxBytes)) }
    } finally {
      await file.close()
    }
  })
}
