// Which project a folder belongs to: the folder that holds `.git` at or above it, else the folder itself, always by its
// real path. Its slug names the folder of its sessions: a readable part for people, a hash so that two projects never
// share one.
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { refused } from '../disk/failure.ts'
import { failureOf, isThere, type Result, type FileSystem } from '../disk/fs.ts'
import { sharedRoot } from '../memory/place.ts'

export interface Project {
  /** Where the tools work: the real path of the folder that was asked for. */
  readonly cwd: string
  readonly root: string
  readonly isGit: boolean
  readonly slug: string
  /** What all worktrees of the repository share; the root and slug of the main one. Left out, the project's own. */
  readonly shared?: { readonly root: string; readonly slug: string } | undefined
}

const readableChars = 40
const hashChars = 16

/** The project a folder belongs to: its root, its name and where its sessions lie. */
export async function projectOf(fs: FileSystem, folder: string): Promise<Result<{ project: Project }>> {
  try {
    const cwd = await fs.realPath(folder)
    if ((await fs.stat(cwd)).kind !== 'folder') return refused('not-found', `${folder} is no folder`)
    const git = await gitRoot(fs, cwd)
    const root = git ?? cwd
    const main = git === null ? root : await sharedRoot(fs, root)
    const shared = main === root ? {} : { shared: { root: main, slug: slugOf(main) } }
    return { ok: true, project: { cwd, root, isGit: git !== null, slug: slugOf(root), ...shared } }
  } catch (error) {
    return { ok: false, failure: failureOf(error, `looking at ${folder}`) }
  }
}

export function slugOf(root: string): string {
  const readable = basename(root)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, readableChars)
  const hash = createHash('sha256').update(root).digest('hex').slice(0, hashChars)
  return readable === '' ? hash : `${readable}-${hash}`
}

async function gitRoot(fs: FileSystem, from: string): Promise<string | null> {
  for (let folder = from; ; folder = dirname(folder)) {
    if (await isThere(fs, join(folder, '.git'))) return folder
    if (dirname(folder) === folder) return null
  }
}
