// The notes of a session on the disk: `<session>/session-memory/summary.md`, and what the user put in the place of our
// template and prompt. Everything goes through the gate of `disk`; a file that is not there is null, the rest is a failure.
import { createHash } from 'node:crypto'
import { attempt, makeFolders, readAt, type Result, type FileSystem } from '../../disk/fs.ts'
import { openUnder, writeUnder } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import type { ReadFile } from '../../tools/tool.ts'

const notesName = 'session-memory/summary.md'
const modes = { file: 0o600, folder: 0o700 }

export interface NotesFile {
  readonly text: string
  /** Where it really lies. */
  readonly path: string
  /** How a tool must know it to edit it. */
  readonly read: ReadFile
}

export async function readNotes(
  fs: FileSystem,
  folder: string,
): Promise<Result<{ readonly file: NotesFile | null }>> {
  return readText(fs, folder, notesName, defaults.notes.maxFileBytes)
}

export async function writeNotes(
  fs: FileSystem,
  folder: string,
  text: string,
  unique: () => string,
): Promise<Result<object>> {
  // Not every store of sessions has a folder for each.
  const made = await attempt(`making ${folder}`, async () => {
    await makeFolders(fs, folder, modes.folder)
    return {}
  })
  if (!made.ok) return made
  return writeUnder(fs, folder, notesName, Buffer.from(text), {
    mode: modes.file,
    makeFolders: modes.folder,
    unique,
  })
}

/** A text of the user's own, or null where there is none. */
export async function readConfig(
  fs: FileSystem,
  folder: string,
  name: 'template.md' | 'prompt.md',
): Promise<Result<{ readonly text: string | null }>> {
  const found = await readText(fs, folder, name, defaults.notes.maxConfigBytes)
  return found.ok ? { ok: true, text: found.file?.text ?? null } : found
}

async function readText(
  fs: FileSystem,
  folder: string,
  name: string,
  mostBytes: number,
): Promise<Result<{ readonly file: NotesFile | null }>> {
  const opened = await openUnder(fs, folder, name)
  if (!opened.ok) return opened.failure.code === 'not-found' ? { ok: true, file: null } : opened
  const { file, path, stat } = opened
  try {
    if (stat.bytes > mostBytes)
      return {
        ok: false,
        failure: {
          code: 'too-large',
          message: `${path} has ${stat.bytes} bytes; at most ${mostBytes} are read`,
        },
      }
    const bytes = await readAt(file, 0, stat.bytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const read = { sha256, mtimeMs: stat.modifiedMs, bytes: stat.bytes, part: null, callId: '' }
    return { ok: true, file: { text: new TextDecoder().decode(bytes), path, read } }
  } finally {
    await file.close()
  }
}
