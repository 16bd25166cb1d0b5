// Small text files of the user's folder, read whole and bounded; failures as values.
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import type { SettingsFiles } from '../../settings/load.ts'

export type TextRead =
  | { readonly ok: true; readonly text: string | null }
  | { readonly ok: false; readonly why: string }

/** The text of a file; null when there is none. */
export async function readText(
  fs: FileSystem,
  path: string,
  maxBytes: number = defaults.cli.settingsBytes,
): Promise<TextRead> {
  const read = await attempt('reading', async () => {
    const file = await fs.open(path, 'read')
    try {
      const { bytes, kind } = await file.stat()
      if (kind !== 'file') return { why: 'it is no plain file', text: null }
      if (bytes > maxBytes) return { why: `it is longer than ${maxBytes} bytes`, text: null }
      const into = new Uint8Array(bytes)
      let at = 0
      for (let count = -1; count !== 0 && at < bytes; at += count)
        count = await file.read(into.subarray(at), at)
      return { why: null, text: new TextDecoder().decode(into.subarray(0, at)) }
    } finally {
      await file.close()
    }
  })
  if (read.ok) return read.why === null ? { ok: true, text: read.text } : { ok: false, why: read.why }
  return read.failure.code === 'not-found'
    ? { ok: true, text: null }
    : { ok: false, why: read.failure.message }
}

export const settingsFiles = (fs: FileSystem): SettingsFiles => ({
  read: (path) => readText(fs, path),
  exists: async (path) => (await attempt('looking', () => fs.stat(path))).ok,
})
