// A small file of our own or of git's, read whole up to a bound. What is not a regular file is refused.
import { attempt, readAt, reading, type FileSystem, type Result } from './fs.ts'

export const readSmall = (
  fs: FileSystem,
  path: string,
  maxBytes: number,
): Promise<Result<{ bytes: Buffer }>> =>
  attempt(`reading ${path}`, () =>
    reading(fs, path, async (file) => {
      const { bytes, kind } = await file.stat()
      if (kind !== 'file') throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EISDIR' })
      return { bytes: await readAt(file, 0, Math.min(bytes, maxBytes)) }
    }),
  )
