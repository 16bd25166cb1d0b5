// One instruction file, read as text for the model: a plain file of bounded size, UTF-8, without characters
// that nobody sees. Pipes, devices and folders are refused by what was opened, not by name.
import { dirname } from 'node:path'
import { refused } from '../../disk/failure.ts'
import { attempt, readAt, type Result, type FileSystem } from '../../disk/fs.ts'
import { isInside, openUnder } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import { shaOf } from '../files.ts'
import { withoutHidden } from '../format/hidden.ts'
import { utf8In } from '../../disk/small-file.ts'

export interface InstructionText {
  /** Where it really lies. */
  readonly path: string
  readonly text: string
  /** As they were read. */
  readonly bytes: Uint8Array
  readonly sha256: string
  readonly modifiedMs: number
  /** Characters that were taken out. */
  readonly hidden: number
}

/** A file below a root, through links that stay below it. */
export async function readBelow(
  fs: FileSystem,
  root: string,
  path: string,
): Promise<Result<InstructionText>> {
  const opened = await openUnder(fs, root, path, { links: 'inside', hardLinks: 'allow' })
  if (!opened.ok) return opened
  const { file, stat } = opened
  try {
    if (stat.bytes > defaults.memory.instructionBytes)
      return refused(
        'too-large',
        `${path} has ${stat.bytes} bytes; at most ${defaults.memory.instructionBytes} are read`,
      )
    const read = await attempt(`reading ${path}`, async () => ({ bytes: await readAt(file, 0, stat.bytes) }))
    if (!read.ok) return read
    const text = read.bytes.includes(0) ? null : utf8In(read.bytes)
    if (text === null) return refused('binary', `${path} is not UTF-8 text`)
    const seen = withoutHidden(text)
    return {
      ok: true,
      path: opened.path,
      text: seen.text,
      bytes: read.bytes,
      sha256: shaOf(read.bytes),
      modifiedMs: stat.modifiedMs,
      hidden: seen.hidden,
    }
  } finally {
    await file.close()
  }
}

/** A file of the user's own or of the machine, wherever its links lead. */
export async function readOwn(fs: FileSystem, path: string): Promise<Result<InstructionText>> {
  const real = await attempt(`looking for ${path}`, async () => ({ path: await fs.realPath(path) }))
  return real.ok ? await readBelow(fs, dirname(real.path), real.path) : real
}

/** The folders from one down to another that lies in it; only the first where it does not. */
export function foldersDown(from: string, to: string): readonly string[] {
  if (!isInside(from, to)) return [from]
  const folders: string[] = []
  for (let folder = to; ; folder = dirname(folder)) {
    folders.unshift(folder)
    if (folder === from || dirname(folder) === folder) return folders
  }
}
