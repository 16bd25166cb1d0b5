// One instruction file with what it includes, read as text for the model: a plain file of bounded size, UTF-8, without characters
// that nobody sees. Pipes, devices and folders are refused by what was opened, not by name.
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { refused } from '../../disk/failure.ts'
import { attempt, type Result, type FileSystem } from '../../disk/fs.ts'
import { isInside, readUnder } from '../../disk/under-root.ts'
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
  const most = defaults.memory.instructionBytes
  const read = await readUnder(fs, root, path, most, { links: 'inside', hardLinks: 'allow' })
  if (!read.ok) return read
  const { bytes, stat } = read
  if (stat.bytes > most)
    return refused('too-large', `${path} has ${stat.bytes} bytes; at most ${most} are read`)
  const text = bytes.includes(0) ? null : utf8In(bytes)
  if (text === null) return refused('binary', `${path} is not UTF-8 text`)
  return {
    ok: true,
    path: read.path,
    bytes,
    sha256: shaOf(bytes),
    modifiedMs: stat.modifiedMs,
    ...withoutHidden(text),
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

// `@path` in an instruction file brings another file along. The included text stands behind the file that
// names it, under its own path. Bounded in depth, number and bytes; a file comes once, so a ring of includes ends. What
// lies outside the folder that the including file may speak for needs the user's approval, and files that hold keys by
// custom are not included at all.

/** What the files of one layer may bring along. */
export interface IncludeScope {
  /** Everything below it may be included. */
  readonly root: string
  /** What `~` stands for. */
  readonly userHome: string
  /** Whether the user has allowed this file from outside. */
  readonly isApproved: (path: string) => boolean
  /** Whether a file holds keys by custom. */
  readonly isSecret: (path: string) => boolean
  readonly refusal?: ContentRefusal | undefined
}

/** Why the content of a file may not be followed, as the rest of a sentence that begins with its path; null: it may. */
export type ContentRefusal = (
  file: Pick<InstructionText, 'path' | 'bytes' | 'sha256'>,
  lies: 'inside' | 'outside',
) => string | null

interface Included extends InstructionText {
  readonly by: string
}
interface Inclusion {
  readonly files: readonly Included[]
  readonly problems: readonly string[]
}

/** What is left of the bounds while one reminder is made. */
export interface IncludeRoom {
  files: number
  bytes: number
  readonly seen: Set<string>
}
export const includeRoom = (): IncludeRoom => ({
  files: defaults.memory.includeFiles,
  bytes: defaults.memory.includeBytes,
  seen: new Set(),
})

export async function includesOf(
  fs: FileSystem,
  file: { readonly path: string; readonly text: string },
  scope: IncludeScope,
  room: IncludeRoom,
  depth = 0,
): Promise<Inclusion> {
  const files: Included[] = []
  const problems: string[] = []
  for (const named of namedIn(file.text)) {
    if (depth >= defaults.memory.includeDepth) {
      problems.push(`${file.path}: @${named} lies deeper than ${defaults.memory.includeDepth} includes`)
      continue
    }
    const found = await include(fs, file.path, named, scope, room)
    if (found === null) continue
    if (typeof found === 'string') {
      problems.push(`${file.path}: @${named} was not included: ${found}`)
      continue
    }
    files.push({ ...found, by: file.path })
    const inner = await includesOf(fs, found, scope, room, depth + 1)
    files.push(...inner.files)
    problems.push(...inner.problems)
  }
  return { files, problems }
}

/** The file, why not, or null where nothing of the kind was meant. */
async function include(
  fs: FileSystem,
  by: string,
  named: string,
  scope: IncludeScope,
  room: IncludeRoom,
): Promise<InstructionText | string | null> {
  const path = pathOf(by, named, scope)
  if (room.seen.has(path)) return null
  if (scope.isSecret(path)) return 'it is a file that usually holds keys'
  if (room.files === 0) return `at most ${defaults.memory.includeFiles} files are included`
  const isOwn = isInside(scope.root, path)
  if (!isOwn && scope.refusal === undefined && !scope.isApproved(path)) {
    // A name that means nothing is a word, not an attempt.
    return isAbsolute(named) || named.startsWith('~') || named.startsWith('.')
      ? `it lies outside ${scope.root}; the user can allow it with pal memory accept ${path}`
      : null
  }
  const read = isOwn ? await readBelow(fs, scope.root, path) : await readOwn(fs, path)
  if (!read.ok)
    return read.failure.code === 'not-found' && !looksLikePath(named) ? null : read.failure.message
  if (scope.isSecret(read.path)) return 'it leads to a file that usually holds keys'
  if (room.seen.has(read.path)) return null
  const refused = scope.refusal?.(read, isOwn ? 'inside' : 'outside') ?? null
  if (refused !== null) return `it ${refused}`
  const bytes = Buffer.byteLength(read.text)
  if (bytes > room.bytes) return `all includes together would pass ${defaults.memory.includeBytes} bytes`
  room.files--
  room.bytes -= bytes
  room.seen.add(path)
  room.seen.add(read.path)
  return read
}

const looksLikePath = (named: string): boolean => /[/\\]|\.[a-z]{1,5}$/i.test(named)

function pathOf(by: string, named: string, scope: IncludeScope): string {
  if (named === '~' || named.startsWith('~/')) return join(scope.userHome, named.slice(1))
  return resolve(dirname(by), named)
}

/** `@path` at the start of a word, not in code. Each once, in order. */
export function namedIn(text: string): readonly string[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?(?:^\1|$(?![\s\S]))/gm, '').replace(/`[^`\n]*`/g, '')
  const found = Array.from(
    prose.matchAll(/(?<![\w@/.])@((?:~|\.{0,2}|[\w-])[^\s@,;:'"()<>[\]]*)/gu),
    (match) => match[1]!.replace(/[.!?]+$/, ''),
  )
  return [...new Set(found)].filter((name) => name !== '' && !name.includes('\0'))
}
