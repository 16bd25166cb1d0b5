// Files given back, finest first under one budget: the newest as they are now, the declarations of further
// ones, the names of still further ones, and how to look up the rest.
import { resolve } from 'node:path'
import { headWithin, sharesOf } from '../../compaction/restoring.ts'
import { outlineOf } from '../../compaction/restoring.ts'
import { excerptedFiles, fileKind, shownFiles } from '../../compaction/restoring.ts'
import type { Part } from '../../projection/view.ts'
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import { defused, defusedMark, fenced } from '../../transcript/fence.ts'
import type { ReadFile } from '../../tools/tool.ts'
import { attachmentOf, type Edit, type FactOf } from '../../transcript/fact.ts'
import type { FileSource, ReadNow, RestorationOptions, RestoreContext } from './restorer.ts'

export interface FilesAsk {
  readonly options: RestorationOptions
  readonly source: FileSource
  readonly context: RestoreContext
  readonly cwd: string
  /** What need not be given back: see `visibleFiles`. */
  readonly visible: ReadonlySet<string>
  /** What stands in the reminder anyway; null where nobody knows, and names decide. */
  readonly reminded: ReadonlySet<string> | null
  /** What they may take together. */
  readonly tokens: number
  /** What an estimate is multiplied by. */
  readonly factor: number
}

export interface RestoredFile {
  readonly path: string
  readonly file: ReadFile
  /** All of it is shown. */
  readonly isWhole: boolean
}

export interface RestoredFiles {
  readonly facts: readonly FactOf<'attachment'>[]
  /** In the order of the first facts, the newest last. */
  readonly files: readonly (RestoredFile | null)[]
}

const nothing: RestoredFiles = { facts: [], files: [] }

/** Paths of files that the messages that stay still show. */
export const visibleFiles = (
  kept: readonly Part[],
  edits: readonly Edit[],
  cwd: string,
): ReadonlySet<string> => new Set([...shownFiles(kept, edits)].map((path) => resolve(cwd, path)))

/** Paths of files of which the summary keeps lines: not all of them is in sight, but what is can be changed. */
export const partlyVisibleFiles = (
  gone: readonly Part[],
  edits: readonly Edit[],
  cwd: string,
): ReadonlySet<string> => new Set([...excerptedFiles(gone, edits)].map((path) => resolve(cwd, path)))

export async function restoreFiles(ask: FilesAsk): Promise<RestoredFiles> {
  const { options, source, context } = ask
  const { fileCount, fileTokens, filesTokens, outlineCount, leastFileTokens } = defaults.restoration
  if (!(options.files ?? defaults.restoration.files)) return nothing
  const room = Math.min(ask.tokens, options.filesTokens ?? filesTokens)
  if (room < leastFileTokens) return nothing
  const paths = wantedOf(ask)
  const most = options.fileCount ?? fileCount
  const tried = paths.slice(0, most + outlineCount)
  const read = await source.read(tried, context.signal)
  const first = paths.slice(0, most).filter((path) => read.has(path))
  const cost = (text: string): number => ask.factor * estimateText(text)
  const wanted = first.map((path) => Math.min(cost(read.get(path)!.text), options.fileTokens ?? fileTokens))
  const shares = sharesOf(wanted.map(Math.ceil), room)
  // The newest stands last, nearest to what is said next.
  const shown = first
    .map((path, index) => shownFile(path, read.get(path)!, shares[index]!, cost))
    .filter((one) => one !== null)
    .reverse()
  const spent = shown.reduce((sum, { text }) => sum + cost(text), 0)
  const shownPaths = new Set(shown.map(({ path }) => path))
  const lost = new Set(tried.filter((path) => !read.has(path)))
  const rest = restOf(
    paths.filter((path) => !shownPaths.has(path) && !lost.has(path)),
    read,
    ask,
    room - spent,
  )
  const facts = shown.map(({ path, text }) => attachmentOf(fileKind, text, { source: path, restored: true }))
  return {
    facts: rest === null ? facts : [...facts, attachmentOf('file-outlines', rest, { restored: true })],
    files: shown.map(({ path, file, isWhole }) => (file === null ? null : { path, file, isWhole })),
  }
}

/** Recent files that are neither in sight nor in the reminder anyway. */
function wantedOf({ source, visible, reminded, cwd }: FilesAsk): readonly string[] {
  const names = new Set(defaults.restoration.instructionFiles)
  const isReminded = (path: string): boolean =>
    reminded === null ? names.has(path.slice(path.lastIndexOf('/') + 1)) : reminded.has(resolve(cwd, path))
  return source.recent().filter((path) => !visible.has(resolve(cwd, path)) && !isReminded(path))
}

interface Shown {
  readonly path: string
  readonly text: string
  readonly file: ReadFile | null
  readonly isWhole: boolean
}

/** The file, or its head where the share is smaller; null where too little would be shown. */
function shownFile(
  path: string,
  { text, file }: ReadNow,
  share: number,
  cost: (text: string) => number,
): Shown | null {
  const head = headWithin(text, share, cost)
  if (head.linesLeft > 0 && share < defaults.restoration.leastFileTokens) return null
  const first = head.text === '' ? 0 : head.text.split('\n').length
  const more =
    head.linesLeft === 0 ? '' : `\n[${head.linesLeft} more lines; Read with offset ${first + 1} shows them]`
  return {
    path,
    file,
    isWhole: head.linesLeft === 0 && file?.part === null,
    text: fenced('restored-file', { path }, `${wordsFor(head.text)}\n${head.text}${more}`),
  }
}

const fileWords = 'The file as it is now; you can Edit it without another Read.'
/** Whoever writes such a file anew must know what stands there. */
const wordsFor = (text: string): string =>
  defused(text) === text ? fileWords : `${fileWords} Where ${defusedMark} begins a tag, the file has < there.`

/** Outlines, then names, then how to look up what is not shown. Null where there is nothing of either. */
function restOf(
  paths: readonly string[],
  read: ReadonlyMap<string, ReadNow>,
  { options, factor }: FilesAsk,
  room: number,
): string | null {
  const limits = defaults.restoration
  let left = Math.min(room, options.outlinesTokens ?? limits.outlinesTokens) / factor
  const outlines: string[] = []
  const bare: string[] = []
  for (const path of paths) {
    const text = read.get(path)?.text
    const outline =
      text === undefined ? null : outlineOf(text, Math.min(limits.outlineTokens, left - estimateText(path)))
    if (outline === null) {
      bare.push(path)
      continue
    }
    outlines.push(`${path}\n${outline}`)
    left -= estimateText(outlines.at(-1)!)
  }
  const names = namesOf(bare, Math.min(left, limits.pathsTokens))
  if (outlines.length === 0 && names.length === 0) return null
  const pieces = [
    ...(outlines.length === 0
      ? []
      : [`Declarations of further files, with line numbers:\n\n${outlines.join('\n\n')}`]),
    ...(names.length === 0 ? [] : [`Also read:\n${names.join('\n')}`]),
    'Read returns a file, Grep finds a name in all of them.',
  ]
  return fenced('restored-outlines', {}, pieces.join('\n\n'))
}

function namesOf(paths: readonly string[], tokens: number): readonly string[] {
  const names: string[] = []
  let left = tokens
  for (const path of paths.slice(0, defaults.restoration.pathCount)) {
    left -= estimateText(path) + 1
    if (left < 0) break
    names.push(path)
  }
  return names
}
