// A whole file as text, for those who change it: the byte order mark stays the first character, line ends stay as they
// are, and what is not plain UTF-8 is refused, because writing it back would spoil it.
import { createHash } from 'node:crypto'
import { refused } from '../../disk/failure.ts'
import { readAt, type Result, type FileStat, failureOf } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import type { ToolEnv } from '../tool.ts'
import type { PathGate } from './path-gate.ts'
import { utf8In } from '../../disk/small-file.ts'

export interface TextFile {
  readonly path: string
  readonly text: string
  readonly sha256: string
  readonly stat: FileStat
}

export const byteOrderMark = '\uFEFF'
export const sha256Of = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

export async function loadText(gate: PathGate, cwd: string, path: string): Promise<Result<TextFile>> {
  const opened = await gate.openToRead(cwd, path)
  if (!opened.ok) return opened
  const { file, stat } = opened
  try {
    if (stat.bytes > defaults.tools.editFileBytes) {
      return refused(
        'too-large',
        `${path} has ${stat.bytes} bytes; files over ${defaults.tools.editFileBytes} are not changed by this tool.`,
      )
    }
    const bytes = await readAt(file, 0, stat.bytes)
    const text = utf8In(bytes)
    if (text === null)
      return refused('binary', `${path} is not UTF-8 text, so it is not changed by this tool.`)
    if (text.includes('\0')) return refused('binary', `${path} is not a text file.`)
    return { ok: true, path: opened.path, text, sha256: sha256Of(bytes), stat }
  } catch (error) {
    return { ok: false, failure: failureOf(error, `reading ${path}`) }
  } finally {
    await file.close()
  }
}

/** Why a file is not the one that a person agreed to change, or null. `sha256`: null where there is none. */
export function shownDoubt(
  { shown }: Pick<ToolEnv, 'shown'>,
  path: string,
  sha256: string | null,
): string | null {
  if (shown === undefined || (shown.path === path && shown.sha256 === sha256)) return null
  return shown.path === path
    ? `${path} changed after the user was shown what would be written. Nothing was written; read it again.`
    : `The user was shown a change of ${shown.path}, and the path now leads to ${path}. Nothing was written.`
}

/** Whether the lines of a text end with carriage return and newline, most of them. */
export function endsWithReturns(text: string): boolean {
  const both = text.match(/\r\n/g)?.length ?? 0
  return both > 0 && both * 2 >= (text.match(/\n/g)?.length ?? 0)
}
export const withReturns = (text: string): string => text.replace(/\r?\n/g, '\r\n')

/** Half of a surrogate pair: it cannot be written as UTF-8, and could match half of a character. */
export const holdsHalfCharacter = (text: string): boolean =>
  /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
