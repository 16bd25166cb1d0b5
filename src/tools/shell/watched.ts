// What no wall can keep a command from making, and what is therefore looked at when the command has ended: files that are
// obeyed later, and repositories that git enters by itself. What was not there before is renamed, so that nobody obeys
// it until the user has looked at it. What was there before is written down while commands run, so that after a crash
// the next start can tell the two apart.
import { lstat, readlink, rename, symlink, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type ReadGitlinks, commonFolderOf } from '../git/gitlinks.ts'
import { isInside } from '../../disk/under-root.ts'

export interface Link {
  readonly path: string
  readonly to: string
}

export interface Watched {
  /** Names that were missing before, and links that were there. */
  readonly absent: readonly string[]
  readonly links: readonly Link[]
  /** Folders that could be written, and the marks of the repositories that were in them before. */
  readonly places: readonly string[]
  readonly known: readonly string[]
}

/** What is known of these folders before a command runs. */
export const watch = (
  places: readonly string[],
  { absent, links }: Pick<Watched, 'absent' | 'links'>,
  nested: readonly Nested[],
): Watched => ({ absent, links, places, known: nested.map(markOf) })

/** Blocks what has appeared since; one line each, for the model and the user. */
export async function block(
  { absent, links, places, known }: Watched,
  gitlinks: ReadGitlinks,
): Promise<readonly string[]> {
  const lines: string[] = []
  const made = 'a command made a file that others obey later'
  for (const name of absent) {
    if (!(await isThere(name))) continue
    // A link in place of its folder: what it leads to is not ours to rename.
    const path = (await isLink(dirname(name))) ? dirname(name) : name
    lines.push(`${made}; ${await renamed(path)}. The user can rename it`)
  }
  for (const { path, to } of links) {
    if ((await readlink(path).catch(() => null)) === to) continue
    if (await isThere(path)) lines.push(`${made}; ${await renamed(path)}. The user can rename it`)
    if (!(await symlink(to, path).then(done, failed)))
      lines.push(`${path} was a link to ${to} and is none now`)
  }
  const { nested, odd, problems } = await findNested(places, gitlinks)
  for (const one of nested) {
    if (one.isKept || known.includes(markOf(one))) continue
    const folder = dirname(one.entry)
    lines.push(
      `${folder} is a repository in the index of another one, which it was not before, and git would enter it and run what its configuration names; ${await renamed(one.entry)}. The user can look at its config and hooks and rename it back, or take it out of the index: git rm --cached ${basename(folder)}`,
    )
  }
  for (const path of odd) {
    const from = Buffer.concat([path, Buffer.from('/.git')])
    const to = Buffer.concat([from, Buffer.from('.blocked')])
    if (await rename(from, to).then(done, failed))
      lines.push(
        `${String(path)} is a repository in the index under a name that is no text; its .git is now .git.blocked`,
      )
  }
  for (const problem of problems)
    lines.push(
      `${problem}, so it is not known which repositories git would enter; look before you run git there`,
    )
  return lines
}

async function renamed(path: string): Promise<string> {
  let to = `${path}.blocked`
  for (let nr = 2; await isThere(to); nr++) to = `${path}.blocked-${nr}`
  return (await rename(path, to).then(done, failed))
    ? `${path} is now ${to}`
    : `${path} could not be renamed: remove it before you go on`
}

const done = (): boolean => true
const failed = (): boolean => false
export const isThere = (path: string): Promise<boolean> => lstat(path).then(done, failed)
const isLink = (path: string): Promise<boolean> => lstat(path).then((stat) => stat.isSymbolicLink(), failed)

// ---- repositories inside a project that git enters by itself ----
// The gitlinks of its index, of the indexes of its linked
// worktrees, and those that lie in such a repository in turn. Whoever can add one, or change the configuration of one,
// has his programs run by the next `git status` of the user.

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

interface NestedFound {
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
