// What a command in the sandbox must not be able to plant, because something outside of it obeys it later: git, the next
// start of this program, an editor or a shell that enters the folder. Two kinds. What git runs by itself, and our own
// settings, cannot be written, replaced or made: each name is a mount of its own, also where it was missing. The other
// files cannot be changed where they are; one that a command makes is set aside when the command has ended.
//
// A mount follows links, on both of its sides: one laid over a link would open what the link leads to. So nothing is
// mounted, made or renamed through a link; what a link in the place of `.git` leads to is guarded where it really lies.
import { lstat, readdir, readFile, readlink, realpath, rename, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import type { Placeholder } from './placeholders.ts'

interface Guard {
  /** In order; for the placeholders too, once they are there. */
  readonly mounts: readonly Mount[]
  readonly placeholders: readonly Placeholder[]
  /** Names that are missing, and that nobody shall find made when the command has ended. */
  readonly absent: readonly string[]
  /** Links that no mount can hold in their place: they are laid again when the command has ended. */
  readonly links: readonly Link[]
}

interface Link {
  readonly path: string
  readonly to: string
}

export type GuardWords = Omit<Guard, 'mounts'> & {
  /** For bubblewrap. */
  readonly words: readonly string[]
}

interface Mount {
  readonly how: '--ro-bind-try' | '--bind-try'
  readonly path: string
}

const readOnly = (path: string): Mount => ({ how: '--ro-bind-try', path })
/** A mount cannot be renamed, so that what is guarded in it cannot be moved away with it. */
const fixed = (path: string): Mount => ({ how: '--bind-try', path })

/** `owns`: the folder is a project, where a repository must not appear either. */
export async function guardOf(folder: string, owns: boolean, hidden: readonly string[]): Promise<GuardWords> {
  const isRepository = basename(folder) === '.git'
  const git = isRepository ? folder : join(folder, '.git')
  const parts: Guard[] = [await gitGuard(folder, git, owns)]
  if (owns) parts.push(await settingsGuard(folder, hidden), ...(await moduleGuards(folder)))
  const guard = {
    mounts: parts.flatMap(({ mounts }) => mounts),
    placeholders: parts.flatMap(({ placeholders }) => placeholders),
    absent: parts.flatMap(({ absent }) => absent),
  }
  const real = await realpath(folder).catch(() => folder)
  const isPlain = (path: string): Promise<boolean> => liesAsNamed(folder, real, path)
  const mounts = await keep(guard.mounts, ({ path }) => isPlain(path))
  return {
    words: mounts.flatMap(({ how, path }) => [how, path, path]),
    placeholders: await keep(guard.placeholders, ({ path }) => isPlain(path)),
    absent: await keep(guard.absent, isPlain),
    links: parts.flatMap(({ links }) => links),
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

const nothing: Guard = { mounts: [], placeholders: [], absent: [], links: [] }

async function gitGuard(folder: string, git: string, owns: boolean): Promise<Guard> {
  const kind = await kindOf(git)
  if (kind === null)
    return owns ? { ...nothing, mounts: [readOnly(git)], placeholders: [{ path: git, text: null }] } : nothing
  if (kind !== 'folder') {
    const elsewhere = await ledTo(git, kind)
    const isNear =
      owns && elsewhere !== null && isInside(folder, elsewhere) && (await kindOf(elsewhere)) === 'folder'
    const there = isNear ? await gitGuard(folder, elsewhere, false) : nothing
    const to = owns && kind === 'other' ? await readlink(git).catch(() => null) : null
    return {
      ...there,
      mounts: [...(kind === 'file' ? [readOnly(git)] : []), ...there.mounts],
      links: to === null ? [] : [{ path: git, to }],
    }
  }
  // Empty, it is no repository, and it must not become one; it may be a placeholder of another process.
  if ((await readdir(git).catch(() => [])).length === 0)
    return { ...nothing, mounts: [readOnly(git)], placeholders: [{ path: git, text: null }] }
  const guarded: readonly Placeholder[] = [
    ...['hooks', 'info', 'modules'].map((name) => ({ path: join(git, name), text: null })),
    { path: join(git, 'config'), text: '' },
    { path: join(git, 'config.worktree'), text: '' },
    // Says what is so without it: what worktrees share lies here.
    { path: join(git, 'commondir'), text: '.\n' },
  ]
  const worktrees = await readdir(join(git, 'worktrees')).catch(() => [])
  const linked = await Promise.all(worktrees.map((name) => worktreeMounts(join(git, 'worktrees', name))))
  return {
    mounts: [fixed(git), ...guarded.map(({ path }) => readOnly(path)), ...linked.flat()],
    placeholders: guarded,
    absent: [],
    links: [],
  }
}

/** Where a link or a pointer in the place of a repository leads. */
async function ledTo(git: string, kind: 'file' | 'other'): Promise<string | null> {
  const pointer = kind === 'file' ? await readFile(git, 'utf8').catch(() => '') : ''
  const to = kind === 'file' ? /^gitdir: (.+?)\r?\n*$/s.exec(pointer)?.[1] : '.'
  return to === undefined
    ? null
    : realpath(kind === 'file' ? resolve(dirname(git), to) : git).catch(() => null)
}

/** What tells a linked worktree where its repository lies. */
async function worktreeMounts(folder: string): Promise<readonly Mount[]> {
  const names = ['commondir', 'gitdir', 'config.worktree'].map((name) => join(folder, name))
  const kinds = await Promise.all(names.map(kindOf))
  const there = names.filter((_, at) => kinds[at] === 'file')
  return there.length === 0 ? [] : [fixed(folder), ...there.map(readOnly)]
}

/** Git in the project looks into these by itself. */
async function moduleGuards(root: string): Promise<readonly Guard[]> {
  const text = await readFile(join(root, '.gitmodules'), 'utf8').catch(() => '')
  const paths = [...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path]) => join(root, path!))
  const guards = paths
    .filter((path) => isInside(root, path) && path !== root)
    .map(async (path): Promise<Guard> => {
      const guard = await gitGuard(root, join(path, '.git'), false)
      return guard.mounts.length === 0
        ? nothing
        : { ...guard, mounts: [...above(root, path).map(fixed), ...guard.mounts] }
    })
  return Promise.all(guards)
}

/** The folders from below the root down to this one. */
function above(root: string, path: string): readonly string[] {
  const parent = dirname(path)
  return parent === root || parent === path ? [path] : [...above(root, parent), path]
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
    mounts: [...settings.map(readOnly), ...[...folders].map(fixed), ...there.map(readOnly)],
    placeholders: settings.map((path) => ({ path, text: null })),
    absent: names.filter((_, at) => kinds[at] === null),
    links: [],
  }
}

/** Renames what has appeared under these names, so that nobody obeys it, and lays links again; says what became of it. */
export async function setAside({
  absent,
  links,
}: Pick<Guard, 'absent' | 'links'>): Promise<readonly string[]> {
  const moved: string[] = []
  for (const name of absent) {
    if ((await kindOf(name)) === null) continue
    // A link in place of its folder: what it leads to is not ours to rename.
    moved.push(await blocked((await kindOf(dirname(name))) === 'folder' ? name : dirname(name)))
  }
  for (const { path, to } of links) {
    if ((await readlink(path).catch(() => null)) === to) continue
    if ((await kindOf(path)) !== null) moved.push(await blocked(path))
    await symlink(to, path).catch(() => moved.push(`${path} was a link to ${to} and is none now`))
  }
  return moved
}

async function blocked(path: string): Promise<string> {
  let to = `${path}.blocked`
  for (let nr = 2; (await kindOf(to)) !== null; nr++) to = `${path}.blocked-${nr}`
  return rename(path, to).then(
    () => `${path} is now ${to}`,
    () => `${path} could not be renamed`,
  )
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | null> {
  try {
    const stat = await lstat(path)
    return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other'
  } catch {
    return null
  }
}
