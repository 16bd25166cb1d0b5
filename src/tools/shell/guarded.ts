// What a command in the sandbox must not be able to plant, because something outside of it obeys it later: git, the next
// start of this program, an editor or a shell that enters the folder. Two kinds. What git runs by itself, and our own
// settings, cannot be written, replaced or made: each name is a mount of its own, also where it was missing. The other
// files cannot be changed where they are; one that a command makes is set aside when the command has ended.
import { lstat, readdir, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import type { Placeholder } from './placeholders.ts'

export interface Guard {
  /** Words for bubblewrap, in order; for the placeholders too, once they are there. */
  readonly words: readonly string[]
  readonly placeholders: readonly Placeholder[]
  /** Names that are missing, and that nobody shall find made when the command has ended. */
  readonly absent: readonly string[]
}

const readOnly = (path: string): readonly string[] => ['--ro-bind-try', path, path]
/** A mount cannot be renamed, so that what is guarded in it cannot be moved away with it. */
const fixed = (path: string): readonly string[] => ['--bind-try', path, path]

/** `owns`: the folder is a project, where a repository must not appear either. */
export async function guardOf(folder: string, owns: boolean, hidden: readonly string[]): Promise<Guard> {
  const isRepository = basename(folder) === '.git'
  const git = isRepository ? folder : join(folder, '.git')
  const parts: Guard[] = [await gitGuard(git, owns)]
  if (owns) parts.push(await settingsGuard(folder, hidden), ...(await moduleGuards(folder)))
  return {
    words: parts.flatMap(({ words }) => words),
    placeholders: parts.flatMap(({ placeholders }) => placeholders),
    absent: parts.flatMap(({ absent }) => absent),
  }
}

const nothing: Guard = { words: [], placeholders: [], absent: [] }

async function gitGuard(git: string, owns: boolean): Promise<Guard> {
  const kind = await kindOf(git)
  if (kind === null)
    return owns ? { ...nothing, words: readOnly(git), placeholders: [{ path: git, text: null }] } : nothing
  // A pointer to a repository elsewhere, or a link.
  if (kind !== 'folder') return { ...nothing, words: kind === 'file' ? readOnly(git) : [] }
  // Empty, it is no repository, and it must not become one; it may be a placeholder of another process.
  if ((await readdir(git).catch(() => [])).length === 0)
    return { ...nothing, words: readOnly(git), placeholders: [{ path: git, text: null }] }
  const guarded: readonly Placeholder[] = [
    ...['hooks', 'info', 'modules'].map((name) => ({ path: join(git, name), text: null })),
    { path: join(git, 'config'), text: '' },
    { path: join(git, 'config.worktree'), text: '' },
    // Says what is so without it: what worktrees share lies here.
    { path: join(git, 'commondir'), text: '.\n' },
  ]
  const worktrees = await readdir(join(git, 'worktrees')).catch(() => [])
  const linked = await Promise.all(worktrees.map((name) => worktreeWords(join(git, 'worktrees', name))))
  return {
    words: [...fixed(git), ...guarded.flatMap(({ path }) => readOnly(path)), ...linked.flat()],
    placeholders: guarded,
    absent: [],
  }
}

/** What tells a linked worktree where its repository lies. */
async function worktreeWords(folder: string): Promise<readonly string[]> {
  const names = ['commondir', 'gitdir', 'config.worktree'].map((name) => join(folder, name))
  const kinds = await Promise.all(names.map(kindOf))
  const there = names.filter((_, at) => kinds[at] === 'file')
  return there.length === 0 ? [] : [...fixed(folder), ...there.flatMap(readOnly)]
}

/** Git in the project looks into these by itself. */
async function moduleGuards(root: string): Promise<readonly Guard[]> {
  const text = await readFile(join(root, '.gitmodules'), 'utf8').catch(() => '')
  const paths = [...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path]) => join(root, path!))
  const guards = paths
    .filter((path) => isInside(root, path) && path !== root)
    .map(async (path): Promise<Guard> => {
      const guard = await gitGuard(join(path, '.git'), false)
      return guard.words.length === 0
        ? nothing
        : { ...guard, words: [...above(root, path).flatMap(fixed), ...guard.words] }
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
    words: [...settings.flatMap(readOnly), ...[...folders].flatMap(fixed), ...there.flatMap(readOnly)],
    placeholders: settings.map((path) => ({ path, text: null })),
    absent: names.filter((_, at) => kinds[at] === null),
  }
}

/** Renames what has appeared under these names, so that nobody obeys it; says what became of it. */
export async function setAside(absent: readonly string[]): Promise<readonly string[]> {
  const moved: string[] = []
  for (const path of absent) {
    if ((await kindOf(path)) === null) continue
    let to = `${path}.blocked`
    for (let nr = 2; (await kindOf(to)) !== null; nr++) to = `${path}.blocked-${nr}`
    const done = await rename(path, to).then(
      () => true,
      () => false,
    )
    moved.push(done ? `${path} is now ${to}` : `${path} could not be renamed`)
  }
  return moved
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | null> {
  try {
    const stat = await lstat(path)
    return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other'
  } catch {
    return null
  }
}
