// A small file of our own or of git's, read whole up to a bound, and the text of such bytes. What is not a regular file is refused.
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

/** Null where the bytes are not UTF-8. */
export function utf8In(bytes: Uint8Array): string | null {
  try {
    // Without `ignoreBOM` the decoder would drop the mark.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
