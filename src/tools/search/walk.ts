// Our own list of files, for machines without ripgrep: folder by folder in the order of names, without what ignore files
// leave out, without `.git`, and never through a link.
import { join } from 'node:path'
import { readAt, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { compilePath } from './glob-pattern.ts'

interface IgnoreRule {
  /** The folder whose ignore file says it, relative to the root, `''` or ending in a slash. */
  readonly base: string
  readonly matches: (path: string) => boolean
  readonly keep: boolean
  readonly foldersOnly: boolean
}

const ignoreNames = ['.gitignore', '.ignore', '.rgignore']
const ignoreFileBytes = 1024 * 1024

/** Paths relative to the root, with `/`. */
export async function* walkFiles(fs: FileSystem, root: string, signal: AbortSignal): AsyncGenerator<string> {
  let count = 0
  for await (const path of walkFolder(fs, root, '', [], signal)) {
    if (signal.aborted || ++count > defaults.tools.walkFiles) return
    yield path
  }
}

async function* walkFolder(
  fs: FileSystem,
  root: string,
  base: string,
  above: readonly IgnoreRule[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const names = [...(await fs.names(join(root, base)).catch(() => []))].sort()
  const rules = [...above]
  for (const name of ignoreNames)
    if (names.includes(name)) rules.push(...(await rulesOf(fs, root, base, name)))
  for (const name of names) {
    if (signal.aborted) return
    if (name === '.git') continue
    const path = base + name
    // What vanished meanwhile, or cannot be looked at, is not there for us.
    const kind = (await fs.stat(join(root, path)).catch(() => null))?.kind
    // A name that is not UTF-8 leads nowhere; whoever lists files says so.
    if (
      (kind === 'file' || (kind === undefined && name.includes('\uFFFD'))) &&
      !isIgnored(rules, path, false)
    )
      yield path
    if (kind === 'folder' && !isIgnored(rules, path, true))
      yield* walkFolder(fs, root, `${path}/`, rules, signal)
  }
}

/** The last rule that speaks of a path decides. */
function isIgnored(rules: readonly IgnoreRule[], path: string, folder: boolean): boolean {
  const rule = rules.findLast(
    ({ base, matches, foldersOnly }) => (folder || !foldersOnly) && matches(path.slice(base.length)),
  )
  return rule !== undefined && !rule.keep
}

async function rulesOf(fs: FileSystem, root: string, base: string, name: string): Promise<IgnoreRule[]> {
  const file = await fs.open(join(root, base, name), 'read').catch(() => null)
  if (file === null) return []
  try {
    const stat = await file.stat()
    if (stat.kind !== 'file' || stat.bytes > ignoreFileBytes) return []
    return rulesIn(Buffer.from(await readAt(file, 0, stat.bytes)).toString(), base)
  } finally {
    await file.close()
  }
}

/** The rules of an ignore file. Pure. */
function rulesIn(text: string, base: string): IgnoreRule[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const trimmed = line.replace(/(?<!\\)\s+$/, '')
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const keep = trimmed.startsWith('!')
    const pattern = keep ? trimmed.slice(1) : trimmed
    if (pattern.length > defaults.tools.patternChars) return []
    return [{ base, matches: compilePath(pattern), keep, foldersOnly: pattern.endsWith('/') }]
  })
}
