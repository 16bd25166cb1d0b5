// What an install wrote, kept beside the companion so that an uninstall can put everything back: the bytes before, and the
// hash of the bytes after. What somebody changed since is not overwritten: it is said.
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { isRecord, objectIn, listOf, textOf } from '../../transcript/json.ts'
import { withoutOurs } from './merge.ts'
import type { HookClient } from '../hook/options.ts'
import type { PlannedFile } from './plan.ts'

export interface RecordedFile {
  readonly path: string
  /** Null where there was none. */
  readonly before: string | null
  readonly sha256: string
  readonly isShared: boolean
}

export interface InstallRecord {
  readonly client: HookClient
  readonly version: string
  readonly files: readonly RecordedFile[]
  /** Made by the install, the deepest last. */
  readonly folders: readonly string[]
}

export const shaOfText = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Of one install, whose hooks name this path. A second one keeps what was there before the first. */
export function recordOf(
  { client, version, hookPath }: { client: HookClient; version: string; hookPath: string },
  files: readonly PlannedFile[],
  folders: readonly string[],
  earlier: InstallRecord | null,
): InstallRecord {
  const known = new Map((earlier?.files ?? []).map((file) => [file.path, file]))
  const recorded = files.map((file): RecordedFile => {
    const { path, after, isShared } = file
    const before = beforeUs(file, known.get(path), hookPath)
    known.delete(path)
    return { path, before, sha256: shaOfText(after), isShared }
  })
  return {
    client,
    version,
    files: [...recorded, ...known.values()],
    folders: [...new Set([...(earlier?.folders ?? []), ...folders])],
  }
}

/** The text without anything of ours, which an uninstall puts back: whatever was changed since, and where no record is left, too. */
function beforeUs(
  { before, after, isShared }: PlannedFile,
  old: RecordedFile | undefined,
  hookPath: string,
): string | null {
  if (before === null) return null
  if (old !== undefined && (!isShared || shaOfText(before) === old.sha256)) return old.before
  if (isShared) return withoutOurs(before, hookPath) ?? before
  return before === after ? null : before
}

export function parseInstallRecord(text: string | null, client: HookClient): InstallRecord | null {
  const fields = text === null ? null : objectIn(text)
  const version = textOf(fields?.['version'])
  if (fields === null || fields['client'] !== client || version === null) return null
  const files = listOf(fields['files']).flatMap((file) => {
    if (!isRecord(file)) return []
    const [path, sha256] = [textOf(file['path']), textOf(file['sha256'])]
    if (path === null || sha256 === null) return []
    return [{ path, sha256, before: textOf(file['before']), isShared: file['isShared'] === true }]
  })
  return { client, version, files, folders: listOf(fields['folders']).flatMap((one) => textOf(one) ?? []) }
}

/** What becomes of one file when the companion is taken out. */
export type Restoring =
  | { readonly path: string; readonly how: 'restore'; readonly text: string | null }
  | { readonly path: string; readonly how: 'remove-ours'; readonly text: string; readonly why: string }
  | { readonly path: string; readonly how: 'leave'; readonly why: string }
  /** Nobody knows what it says now: its record is kept for the next uninstall. */
  | { readonly path: string; readonly how: 'unread'; readonly why: string }

export function restoringOf(file: RecordedFile, now: string | null, hookPath: string): Restoring {
  const { path, before, sha256, isShared } = file
  if (now === null)
    return before === null
      ? { path, how: 'restore', text: null }
      : { path, how: 'leave', why: 'was deleted since; it stays deleted' }
  if (shaOfText(now) === sha256) return { path, how: 'restore', text: before }
  if (now === before) return { path, how: 'leave', why: 'is as it was before the install' }
  if (!isShared)
    return {
      path,
      how: 'leave',
      why: 'was changed since; it is left as it is. Delete it if you do not need it',
    }
  const text = withoutOurs(now, hookPath)
  return text === null
    ? {
        path,
        how: 'leave',
        why: `was changed since and is no JSON now. Remove the entries that name ${hookPath} by hand`,
      }
    : {
        path,
        how: 'remove-ours',
        text,
        why: 'was changed since: only the entries of the companion were removed',
      }
}

/** Folders above a file, the highest first. */
export function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === path || folder === '.' ? [] : [...foldersAbove(folder), folder]
}
