// Repositories inside a project that git enters by itself: the gitlinks of its index, of the indexes of its linked
// worktrees, and those that lie in such a repository in turn. Whoever can add one, or change the configuration of one,
// has his programs run by the next `git status` of the user.
import { lstat, readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import { commonFolderOf, type ReadGitlinks } from '../git/gitlinks.ts'

export interface Nested {
  /** Its `.git`. */
  readonly entry: string
  readonly kind: 'file' | 'folder' | 'link'
  /** Where a file or a link says that the repository lies; else nothing. */
  readonly says: string
  /** The folder of git's that it leads to. */
  readonly gitFolder: string
  /** It leads to where git keeps what it fetched for submodules, which no command in the sandbox can write. */
  readonly isKept: boolean
}

export interface NestedFound {
  readonly nested: readonly Nested[]
  /** The `.git` of those whose names are no text, which no wall can be put around. */
  readonly odd: readonly Buffer[]
  /** What could not be read, one line each. */
  readonly problems: readonly string[]
}

/** `places`: folders with a repository, or folders of git's themselves. */
export async function findNested(places: readonly string[], gitlinks: ReadGitlinks): Promise<NestedFound> {
  const [nested, odd, problems]: [Nested[], Buffer[], string[]] = [[], [], []]
  const seen = new Set<string>()
  const visit = async ({ gitFolder, worktree }: Checkout): Promise<void> => {
    if (seen.has(`${gitFolder}\0${worktree}`)) return
    seen.add(`${gitFolder}\0${worktree}`)
    const found = await gitlinks(gitFolder)
    if (!found.ok) problems.push(`the index of ${worktree} cannot be read (${found.why})`)
    const kept = join(await commonFolderOf(gitFolder), 'modules')
    for (const path of found.ok ? found.paths : []) {
      const one = await nestedAt(worktree, join(worktree, path), kept)
      if (one === null) continue
      nested.push(one)
      await visit({ gitFolder: one.gitFolder, worktree: dirname(one.entry) })
    }
    if (found.ok) odd.push(...found.odd.map((path) => Buffer.concat([Buffer.from(`${worktree}/`), path])))
  }
  for (const place of places) for (const checkout of await checkoutsOf(place)) await visit(checkout)
  return { nested, odd, problems }
}

/** A folder of files with the folder of git's that holds its index. */
interface Checkout {
  readonly gitFolder: string
  readonly worktree: string
}

async function checkoutsOf(place: string): Promise<readonly Checkout[]> {
  const worktree = await realpath(basename(place) === '.git' ? dirname(place) : place).catch(() => null)
  if (worktree === null) return []
  const entry = await entryAt(join(worktree, '.git'))
  if (entry === null) return []
  const { gitFolder } = entry
  const linked = await readdir(join(gitFolder, 'worktrees')).catch(() => [])
  const others = linked.map(async (name): Promise<readonly Checkout[]> => {
    const folder = join(gitFolder, 'worktrees', name)
    const pointer = (await readFile(join(folder, 'gitdir'), 'utf8').catch(() => '')).trimEnd()
    // Anybody can name a folder here; it is one of this repository only where it says so itself.
    const back = pointer === '' ? null : await entryAt(resolve(folder, pointer))
    return back?.gitFolder === folder ? [{ gitFolder: folder, worktree: dirname(back.entry) }] : []
  })
  return [{ gitFolder, worktree }, ...(await Promise.all(others)).flat()]
}

/** Git does not enter through a link, and neither do we: it may lead out of the project. */
async function nestedAt(worktree: string, at: string, kept: string): Promise<Nested | null> {
  if (at === worktree || !isInside(worktree, at)) return null
  if ((await realpath(at).catch(() => null)) !== at) return null
  const entry = await entryAt(join(at, '.git'))
  return entry === null
    ? null
    : { ...entry, isKept: entry.kind === 'file' && isInside(await realOf(kept), entry.gitFolder) }
}

/** What stands under the name `.git`; null where nothing does. */
export async function entryAt(entry: string): Promise<Omit<Nested, 'isKept'> | null> {
  const stat = await lstat(entry).catch(() => null)
  if (stat === null) return null
  if (stat.isDirectory()) return { entry, kind: 'folder', says: '', gitFolder: entry }
  if (stat.isSymbolicLink()) {
    const gitFolder = await realpath(entry).catch(() => entry)
    return { entry, kind: 'link', says: await readlink(entry).catch(() => ''), gitFolder }
  }
  const says = stat.isFile() && stat.size < pointerBytes ? await readFile(entry, 'utf8').catch(() => '') : ''
  const to = /^gitdir: ([^]*?)[\r\n]*$/.exec(says)?.[1]
  const gitFolder = to === undefined ? entry : await realOf(resolve(dirname(entry), to))
  return { entry, kind: 'file', says, gitFolder }
}
const pointerBytes = 64 * 1024

const realOf = (path: string): Promise<string> => realpath(path).catch(() => path)

/** The same text as long as the same stands there. */
export const markOf = ({ entry, kind, says }: Pick<Nested, 'entry' | 'kind' | 'says'>): string =>
  JSON.stringify([entry, kind, says])
