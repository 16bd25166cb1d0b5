// Small text files of the user's folder, read whole and bounded; failures as values.
import { attempt, readAt, reading, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import type { SettingsFiles } from '../../settings/load.ts'
import type { Gate } from '../trust/gate.ts'

export type TextRead =
  | { readonly ok: true; readonly text: string | null }
  | { readonly ok: false; readonly why: string }

export type BytesRead =
  | { readonly ok: true; readonly bytes: Uint8Array | null }
  | { readonly ok: false; readonly why: string }

/** The bytes of a file; null when there is none. */
export async function readWhole(fs: FileSystem, path: string, maxBytes: number): Promise<BytesRead> {
  const read = await attempt('reading', () =>
    reading(fs, path, async (file) => {
      const { bytes, kind } = await file.stat()
      if (kind !== 'file') return { why: 'it is not a regular file', bytes: null }
      if (bytes > maxBytes) return { why: `it is longer than ${maxBytes} bytes`, bytes: null }
      return { why: null, bytes: await readAt(file, 0, bytes) }
    }),
  )
  if (read.ok) return read.why === null ? { ok: true, bytes: read.bytes } : { ok: false, why: read.why }
  return read.failure.code === 'not-found'
    ? { ok: true, bytes: null }
    : { ok: false, why: read.failure.message }
}

/** The text of a file; null when there is none. */
export async function readText(
  fs: FileSystem,
  path: string,
  maxBytes: number = defaults.cli.settingsBytes,
): Promise<TextRead> {
  const read = await readWhole(fs, path, maxBytes)
  if (!read.ok) return read
  return { ok: true, text: read.bytes === null ? null : new TextDecoder().decode(read.bytes) }
}

/** The names in a folder; none where it is not there. Why it cannot be looked at is told. */
export async function namesIn(
  fs: FileSystem,
  folder: string,
  problems: string[],
): Promise<readonly string[]> {
  const listed = await attempt(`listing ${folder}`, async () => ({ names: await fs.names(folder) }))
  if (listed.ok) return listed.names
  if (listed.failure.code !== 'not-found') problems.push(listed.failure.message)
  return []
}

/** Where a file of the user's own really lies: many keep their settings elsewhere and link to them. */
export const behindLink = (fs: FileSystem, path: string): Promise<string> =>
  fs.realPath(path).catch(() => path)

/** Files of settings; of a project only what the gate lets through. */
export const settingsFiles = (fs: FileSystem, gate: Gate): SettingsFiles => ({
  read: async (path) => readText(fs, await behindLink(fs, path)),
  readOfProject: async (path) => {
    const read = await readWhole(fs, path, defaults.cli.settingsBytes)
    if (!read.ok) return read
    if (read.bytes === null) return { ok: true, text: null }
    const waits = gate.refusal('settings', path, read.bytes) !== null
    return { ok: true, waits, text: waits && !gate.isTrusted ? null : new TextDecoder().decode(read.bytes) }
  },
})
