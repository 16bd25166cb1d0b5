// A whole file as text, for those who change it, and what it was before, for a rewind. The byte order mark stays the first
// character, line ends stay as they are, and what is not plain UTF-8 is refused, because writing it back would spoil it.
import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import { refused } from '../../disk/failure.ts'
import { readAt, type Result, type FileStat, failureOf } from '../../disk/fs.ts'
import { redact } from '../../disk/redact.ts'
import { defaults } from '../../settings/defaults.ts'
import { jsonIn } from '../../transcript/json.ts'
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

// ---- what a file was before a call changed it, so that a rewind can give it back ----
// Kept beside the session as a blob named
// after the call: {"path", "before": text or null for a file that was not there, "after": sha256 of what was written}.
// A file that holds a secret is not copied: it would lie where it does not belong.

export interface BeforeImage {
  readonly path: string
  readonly before: string | null
  /** Of the bytes that took its place. A file that is no longer those was changed by somebody else since. */
  readonly after: string
}

const shape = z.object({ path: z.string(), before: z.nullable(z.string()), after: z.string() })

export const beforeImageName = (callId: string): string => `before-${callId}`

/**
 * Writes a file and notes what now stands in it. What stood there is kept first, so that a process that is killed in between
 * leaves no change that cannot be taken back. No result shows the new text, so no call is named.
 */
export async function writeNoted(
  gate: PathGate,
  env: ToolEnv,
  asked: string,
  bytes: Uint8Array,
  old: { readonly path: string; readonly text: string | null; readonly mark: string | null },
): Promise<Result<object>> {
  const sha256 = sha256Of(bytes)
  await keepBefore(env, { path: old.path, before: old.text, after: sha256 })
  const written = await gate.write(env.cwd, asked, bytes, old.mark)
  if (!written.ok) return written
  const { path, stat } = written
  env.readFiles.set(path, { sha256, mtimeMs: stat.modifiedMs, bytes: bytes.length, part: null, callId: '' })
  return written
}

/** A change is not held up by this: what cannot be kept cannot be given back, and is said then. */
async function keepBefore(env: ToolEnv, image: BeforeImage): Promise<void> {
  if (env.spill === null || (image.before !== null && redact(image.before).found.length > 0)) return
  await env.spill(beforeImageName(env.callId), Buffer.from(JSON.stringify(image)))
}

/** The image in a blob, or null when it is none. */
export function beforeImageIn(bytes: Uint8Array): BeforeImage | null {
  const read = z.safeParse(shape, jsonIn(Buffer.from(bytes).toString()))
  return read.success ? read.data : null
}
