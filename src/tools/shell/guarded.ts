// What a command in the sandbox must not be able to plant, because something outside of it obeys it later: git, the next
// start of this program, an editor or a shell that enters the folder. Two kinds. What git runs by itself, and our own
// settings, cannot be written, replaced or made: each name is a mount of its own, also where it was missing. The other
// files cannot be changed where they are; one that a command makes is blocked when the command has ended (`watched`).
//
// A mount follows links, on both of its sides: one laid over a link would open what the link leads to. So nothing is
// mounted, made or renamed through a link; what a link in the place of `.git` leads to is guarded where it really lies.
import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import { entryAt, type Nested, type Link } from './watched.ts'
import type { Placeholder } from './placeholders.ts'

export interface Guard {
  /** Mounts that can be written but not renamed, so that what is guarded in them cannot be moved away with them. */
  readonly fixed: readonly string[]
  readonly readOnly: readonly string[]
  /** What has to stand there before it can be mounted. */
  readonly placeholders: readonly Placeholder[]
  /** Names that are missing, and that nobody shall find made when the command has ended. */
  readonly absent: readonly string[]
  /** Links that no mount can hold in their place: they are laid again when the command has ended. */
  readonly links: readonly Link[]
}

const nothing: Guard = { fixed: [], readOnly: [], placeholders: [], absent: [], links: [] }

export const together = (guards: readonly Guard[]): Guard => ({
  fixed: guards.flatMap(({ fixed }) => fixed),
  readOnly: guards.flatMap(({ readOnly }) => readOnly),
  placeholders: guards.flatMap(({ placeholders }) => placeholders),
  absent: guards.flatMap(({ absent }) => absent),
  links: guards.flatMap(({ links }) => links),
})

/** Without what a link leads to from one of these folders. */
export async function withoutLinked(guard: Guard, folders: readonly string[]): Promise<Guard> {
  const reals = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)))
  const isPlain = async (path: string): Promise<boolean> => {
    for (const [at, folder] of folders.entries())
      if (isInside(folder, path) && (await liesAsNamed(folder, reals[at]!, path))) return true
    return false
  }
  return {
    fixed: await keep(guard.fixed, isPlain),
    readOnly: await keep(guard.readOnly, isPlain),
    placeholders: await keep(guard.placeholders, ({ path }) => isPlain(path)),
    absent: await keep(guard.absent, isPlain),
    links: guard.links,
  }
}

async function keep<T>(all: readonly T[], holds: (one: T) => Promise<boolean>): Promise<readonly T[]> {
  const kept = await Promise.all(all.map(holds))
  return all.filter((_, at) => kept[at] === true)
}

/** Whether no link leads from a folder to a path in it. What is missing lies where the folder above it lies. */
async function liesAsNamed(folder: string, real: string, path: string): Promise<boolean> {
  for (let at = path; isInside(folder, at); at = dirname(at)) {
    const found = await realpath(at).catch(() => null)
    if (found !== null) return found === join(real, relative(folder, at))
    // It is there, and leads nowhere.
    if ((await kindOf(at)) !== null) return false
  }
  return false
}

/** Words for bubblewrap. A mount covers those made before it and below it, so outer ones come first, read-only ones last. */
export function mountArguments({ fixed, readOnly }: Guard): readonly string[] {
  const outerFirst = [...new Set(fixed)].toSorted((a, b) => a.length - b.length)
  return [
    ...outerFirst.flatMap((path) => ['--bind-try', path, path]),
    ...[...new Set(readOnly)].flatMap((path) => ['--ro-bind-try', path, path]),
  ]
}

/** `owns`: the folder is a project, where a repository must not appear either. */
export async function guardOf(folder: string, owns: boolean, hidden: readonly string[]): Promise<Guard> {
  const isRepository = basename(folder) === '.git'
  const git = await gitGuard(isRepository ? folder : join(folder, '.git'), owns, [folder])
  return owns ? together([git, await settingsGuard(folder, hidden)]) : git
}

/** Of repositories that git enters by itself, as far as they lie in folders that can be written. */
export async function nestedGuard(nested: readonly Nested[], writable: readonly string[]): Promise<Guard> {
  const guards = nested.map(async ({ entry, isKept }): Promise<Guard> => {
    const within = writable.filter((folder) => isInside(folder, entry))
    if (within.length === 0) return nothing
    const guard = isKept ? { ...nothing, readOnly: [entry] } : await gitGuard(entry, false, writable)
    return { ...guard, fixed: [...within.flatMap((folder) => above(folder, dirname(entry))), ...guard.fixed] }
  })
  return together(await Promise.all(guards))
}

async function gitGuard(git: string, owns: boolean, writable: readonly string[]): Promise<Guard> {
  const found = await entryAt(git)
  if (found === null)
    return owns ? { ...nothing, readOnly: [git], placeholders: [{ path: git, text: null }] } : nothing
  if (found.kind === 'folder') return folderGuard(git)
  // A pointer to a repository elsewhere, or a link, which cannot be mounted.
  const links = owns && found.kind === 'link' ? [{ path: git, to: found.says }] : []
  const entry = { ...nothing, readOnly: found.kind === 'file' ? [git] : [], links }
  const within = writable.filter((folder) => isInside(folder, found.gitFolder))
  if (within.length === 0 || found.gitFolder === git || isPartOfGit(found.gitFolder)) return entry
  const target = await folderGuard(found.gitFolder)
  const aboveGit = { ...nothing, fixed: within.flatMap((folder) => above(folder, found.gitFolder)) }
  return together([entry, aboveGit, target])
}

/** Guarded with the repository whose worktree or submodule it is. */
const isPartOfGit = (path: string): boolean => /\/\.git\/(?:modules|worktrees)\//.test(path)

async function folderGuard(git: string): Promise<Guard> {
  // Empty, it is no repository, and it must not become one; it may be a placeholder of another process.
  if ((await readdir(git).catch(() => [])).length === 0)
    return { ...nothing, readOnly: [git], placeholders: [{ path: git, text: null }] }
  const guarded: readonly Placeholder[] = [
    ...['hooks', 'info', 'modules'].map((name) => ({ path: join(git, name), text: null })),
    { path: join(git, 'config'), text: '' },
    { path: join(git, 'config.worktree'), text: '' },
    // Says what is so without it: what worktrees share lies here.
    { path: join(git, 'commondir'), text: '.\n' },
  ]
  const worktrees = await readdir(join(git, 'worktrees')).catch(() => [])
  const configured = /worktreeconfig/i.test(await readFile(join(git, 'config'), 'utf8').catch(() => ''))
  const linked = worktrees.map((name) => worktreeGuard(join(git, 'worktrees', name), configured))
  const own = { ...nothing, fixed: [git], readOnly: guarded.map(({ path }) => path), placeholders: guarded }
  return together([own, ...(await Promise.all(linked))])
}

/** What tells a linked worktree where its repository lies, and where worktrees have settings of their own those too. */
async function worktreeGuard(folder: string, configured: boolean): Promise<Guard> {
  const names = ['commondir', 'gitdir', 'config.worktree'].map((name) => join(folder, name))
  const kinds = await Promise.all(names.map(kindOf))
  const there = names.filter((_, at) => kinds[at] === 'file')
  if (there.length === 0) return nothing
  const own = names.slice(2).filter((_, at) => configured && kinds[at + 2] === null)
  const modules = join(folder, 'modules')
  return {
    ...nothing,
    fixed: [folder],
    readOnly: [...there, ...own, modules],
    placeholders: own.map((path) => ({ path, text: '' })),
  }
}

/** The folders from below the root down to this one. */
function above(root: string, path: string): readonly string[] {
  if (path === root || dirname(path) === path) return []
  return [...above(root, dirname(path)), path]
}

/** Obeyed at the next start, or by others who open the folder. */
const obeyed = [
  '.mcp.json',
  'AGENTS.md',
  'AGENTS.local.md',
  'CLAUDE.md',
  'CLAUDE.local.md',
  '.claude',
  '.cursor',
  '.codex',
  '.gemini',
  '.envrc',
  '.gitmodules',
] as const
const editors = ['tasks.json', 'settings.json', 'launch.json'].map((name) => join('.vscode', name))

async function settingsGuard(root: string, hidden: readonly string[]): Promise<Guard> {
  // Where our own folder lies there it cannot be seen at all.
  const settings = [join(root, '.palimpsest')].filter((path) => !hidden.includes(path))
  const names = [...obeyed, ...editors].map((name) => join(root, name))
  const kinds = await Promise.all(names.map(kindOf))
  const there = names.filter((_, at) => kinds[at] === 'file' || kinds[at] === 'folder')
  const folders = new Set(there.map((path) => dirname(path)).filter((folder) => folder !== root))
  return {
    fixed: [...folders],
    readOnly: [...settings, ...there],
    placeholders: settings.map((path) => ({ path, text: null })),
    absent: names.filter((_, at) => kinds[at] === null),
    links: [],
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | null> {
  try {
    const stat = await lstat(path)
    return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other'
  } catch {
    return null
  }
}
