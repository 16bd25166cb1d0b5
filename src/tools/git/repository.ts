// Which repository a folder belongs to, for commands that run unasked. Git is later told exactly this one (`shield`), so
// nothing depends on git finding the same: what is not plain here is asked about. A folder from an archive can hold any
// pointer and any link, so whatever leads out of the project counts only where the other side points back.
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { attempt, realOr, type FileSystem, type FolderEntry, type OrWhy } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import { readSmall } from '../../disk/small-file.ts'

export interface Repository {
  /** The folder that holds `.git`. */
  readonly worktree: string
  /** Head and index of this worktree. */
  readonly gitFolder: string
  /** Objects, references and the configuration; another one than `gitFolder` in a linked worktree. */
  readonly commonFolder: string
}

export type RepositoryFound =
  /** Null: there is none, and git must find none either. */
  OrWhy<{ readonly repository: Repository | null }>

/** `folder` and `root` by their real paths. */
export async function repositoryOf(fs: FileSystem, root: string, folder: string): Promise<RepositoryFound> {
  if (folder.split(sep).some((part) => part.toLowerCase() === '.git'))
    return doubt(`${folder} belongs to git itself`)
  for (let worktree = folder; ; worktree = dirname(worktree)) {
    const path = join(worktree, '.git')
    const stat = await attempt('looking', () => fs.stat(path))
    if (stat.ok && !isInside(root, worktree))
      return doubt(`the repository in ${worktree} reaches beyond the project`)
    if (stat.ok && stat.kind === 'file') return pointedTo(fs, root, worktree)
    if (stat.ok && stat.kind !== 'folder') return doubt(`${path} is a link`)
    const entries = stat.ok ? await entriesOf(fs, path) : []
    if (entries === null) return doubt(`${path} cannot be listed`)
    if (has(entries, 'HEAD')) {
      const why = linkDoubt(path, entries) ?? (await objectsDoubt(fs, root, path))
      if (why !== null) return doubt(why)
      const common = has(entries, 'commondir') ? await textOf(fs, join(path, 'commondir')) : null
      // The sandbox keeps that name with a file that says what is so without it.
      if (common !== null && common !== '.\n') return doubt(`${path} takes its settings from elsewhere`)
      return { ok: true, repository: { worktree, gitFolder: path, commonFolder: path } }
    }
    if (dirname(worktree) === worktree) return { ok: true, repository: null }
  }
}

const doubt = (why: string): RepositoryFound => ({ ok: false, why })

/** A `.git` that is a file: of a linked worktree, or of a submodule. */
async function pointedTo(fs: FileSystem, root: string, worktree: string): Promise<RepositoryFound> {
  const pointer = join(worktree, '.git')
  const to = /^gitdir: ([^\r\n\0]+)\r?\n?$/.exec((await textOf(fs, pointer)) ?? '')?.[1]
  if (to === undefined) return doubt(`${pointer} is not one plain line that names a repository`)
  const gitFolder = await realOr(fs, isAbsolute(to) ? to : resolve(worktree, to))
  const shared = await textOf(fs, join(gitFolder, 'commondir'))
  const name = shared === null ? '.' : /^([^\r\n\0]+)\n?$/.exec(shared)?.[1]
  if (name === undefined) return doubt(`${join(gitFolder, 'commondir')} is not one plain line`)
  const commonFolder = await realOr(fs, resolve(gitFolder, name))
  const repository = { worktree, gitFolder, commonFolder }
  const why =
    linkDoubt(gitFolder, await entriesOf(fs, gitFolder)) ??
    linkDoubt(commonFolder, await entriesOf(fs, commonFolder))
  if (why !== null) return doubt(why)
  if (isInside(root, gitFolder) && isInside(root, commonFolder)) {
    const objects = await objectsDoubt(fs, root, commonFolder)
    return objects === null ? { ok: true, repository } : doubt(objects)
  }
  // Outside of the project only what knows this worktree: nobody but the owner of a repository writes into it.
  const back = /^([^\r\n\0]+)\n?$/.exec((await textOf(fs, join(gitFolder, 'gitdir'))) ?? '')?.[1]
  const knows =
    back !== undefined &&
    dirname(gitFolder) === join(commonFolder, 'worktrees') &&
    (await realOr(fs, resolve(gitFolder, back))) === pointer
  return knows
    ? { ok: true, repository }
    : doubt(`${pointer} leads to ${gitFolder}, outside of the project, which does not know it as a worktree`)
}

/** What git reads there as its own; a link could lead to another repository. */
const ownNames = ['config', 'index', 'packed-refs', 'refs', 'logs', 'objects', 'worktrees', 'shallow']

function linkDoubt(git: string, entries: readonly FolderEntry[] | null): string | null {
  if (entries === null) return `${git} cannot be listed`
  const link = entries.find((entry) => isOdd(entry) && ownNames.some((name) => mayMean(entry.name, name)))
  return link === undefined ? null : `${join(git, link.name)} is a link`
}

const isOdd = ({ kind }: FolderEntry): boolean => kind !== 'file' && kind !== 'folder'

/** Some disks take a name written otherwise for the same: in other case, or with letters they pass over. */
const mayMean = (written: string, name: string): boolean =>
  written.toLowerCase() === name.toLowerCase() || /[^\x20-\x7e]/.test(written)

const has = (entries: readonly FolderEntry[], name: string): boolean =>
  entries.some((entry) => mayMean(entry.name, name))

/**
 * One listing instead of a question for each name. Null when it cannot be listed: what stands in such a folder may still
 * be opened by its name.
 */
async function entriesOf(fs: FileSystem, folder: string): Promise<readonly FolderEntry[] | null> {
  const listed = await attempt('looking', async () => ({ entries: await fs.entries(folder) }))
  if (listed.ok) return listed.entries
  return listed.failure.code === 'not-found' ? [] : null
}

/** The content of another repository must not be shown as that of this one. */
const objectsDoubt = (fs: FileSystem, root: string, git: string): Promise<string | null> =>
  storeDoubt(fs, root, join(git, 'objects'), new Set())

/** A store of objects, and those it borrows from, which borrow in their turn. */
async function storeDoubt(
  fs: FileSystem,
  root: string,
  objects: string,
  seen: Set<string>,
): Promise<string | null> {
  if (seen.has(objects)) return null
  seen.add(objects)
  const entries = await entriesOf(fs, objects)
  if (entries === null) return `${objects} cannot be listed`
  const link = entries.find(isOdd)
  if (link !== undefined) return `${join(objects, link.name)} is a link`
  const info = has(entries, 'info') ? await entriesOf(fs, join(objects, 'info')) : []
  if (info === null) return `${join(objects, 'info')} cannot be listed`
  const borrowed = info
    .filter(({ name }) => ['alternates', 'http-alternates'].some((known) => mayMean(name, known)))
    .map(({ name }) => join(objects, 'info', name))
  const texts = await Promise.all(borrowed.map((file) => textOf(fs, file)))
  for (const [index, file] of borrowed.entries()) {
    const lines = (texts[index] ?? '').split('\n').filter((line) => line !== '')
    if (lines.length + seen.size > mostStores) return `${file} brings in more repositories than are looked at`
    for (const line of lines) {
      const store = await realOr(fs, resolve(objects, line))
      // Git reads more than names there: a quoted one means another path than it says.
      if (/^["#]|[\r\0]/.test(line) || !isInside(root, store))
        return `${file} brings in another repository, ${line}`
      const why = await storeDoubt(fs, root, store, seen)
      if (why !== null) return why
    }
  }
  return null
}
const mostStores = 16

/** Null when there is none; one that cannot be read is a text that fits nothing. */
async function textOf(fs: FileSystem, path: string): Promise<string | null> {
  const most = defaults.permission.gitPointerBytes
  const read = await readSmall(fs, path, most + 1)
  if (read.ok) return read.bytes.length > most ? '\0' : new TextDecoder().decode(read.bytes)
  return read.failure.code === 'not-found' ? null : '\0'
}
