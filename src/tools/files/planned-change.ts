// What a call of Edit or Write would do to the file as it lies on the disk now: the person who is asked sees that, and not
// only the words of the call.
import { readAt, reading, systemCode, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { changed } from './edit.ts'
import { fileChange, type FileChange } from './file-change.ts'
import type { ShownFile } from '../tool.ts'
import { sha256Of } from './text-file.ts'
import { inStyleOf } from './write.ts'
import { utf8In } from '../../disk/small-file.ts'

export type PlannedChange =
  | { readonly ok: true; readonly change: FileChange; readonly shown: ShownFile }
  /** Why the call will fail, or why the change cannot be shown. */
  | { readonly ok: false; readonly why: string }

/** What a call of Edit or Write would change in the file as it is on the disk now; null for every other call. */
export async function plannedChange(
  fs: FileSystem,
  real: string,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Promise<PlannedChange | null> {
  const { file_path: file, content, old_string, new_string } = input
  if (typeof file !== 'string') return null
  const isWrite = tool === 'Write' && typeof content === 'string'
  const isEdit = tool === 'Edit' && typeof old_string === 'string' && typeof new_string === 'string'
  if (!isWrite && !isEdit) return null
  const read = await textAt(fs, real)
  if (!read.ok) return { ok: false, why: `what it changes in ${file} cannot be shown: ${read.why}` }
  const { text } = read
  if (isWrite)
    return {
      ok: true,
      change: fileChange(file, text === null ? 'new' : 'overwrite', text, inStyleOf(text, content)),
      shown: { path: real, sha256: read.sha256 },
    }
  if (!isEdit) return null
  if (text === null) return { ok: false, why: `there is no file ${file}: this call will fail` }
  const made = changed(text, {
    file_path: file,
    old_string,
    new_string,
    replace_all: input['replace_all'] === true,
  })
  return made.ok
    ? {
        ok: true,
        change: fileChange(file, 'edit', text, made.text),
        shown: { path: real, sha256: read.sha256 },
      }
    : { ok: false, why: `this call will fail: ${made.why}` }
}

/** Null where no file is. */
async function textAt(
  fs: FileSystem,
  real: string,
): Promise<
  | { readonly ok: true; readonly text: string | null; readonly sha256: string | null }
  | { readonly ok: false; readonly why: string }
> {
  try {
    const stat = await fs.stat(real)
    if (stat.kind !== 'file') return { ok: false, why: 'it is not a regular file' }
    if (stat.bytes > defaults.tools.editFileBytes) return { ok: false, why: `it has ${stat.bytes} bytes` }
    const bytes = await reading(fs, real, (file) => readAt(file, 0, stat.bytes))
    const text = utf8In(bytes)
    return text === null
      ? { ok: false, why: 'it is not UTF-8 text' }
      : { ok: true, text, sha256: sha256Of(bytes) }
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return { ok: true, text: null, sha256: null }
    if (code === null) throw error
    return { ok: false, why: code }
  }
}
