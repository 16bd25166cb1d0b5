// The root that all worktrees of one repository share. A worktree says in its `.git` file where its
// repository is; that is believed only if the repository names this very worktree too, since anybody can write a file
// that points at somebody else's repository, and would read its memories.
import { basename, dirname, join, resolve } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { readSmall } from '../../disk/small-file.ts'

/** Longest of the small files git keeps such paths in. */
const pathFileBytes = 4096

/** The root of the main worktree for a folder that holds `.git`; the folder itself where there is no other. */
export async function sharedRoot(fs: FileSystem, root: string): Promise<string> {
  const gitFile = join(root, '.git')
  const pointer = /^gitdir: (.+)$/m.exec((await smallText(fs, gitFile)) ?? '')?.[1]
  if (pointer === undefined) return root
  const own = await realOf(fs, resolve(root, pointer.trim()))
  if (own === null) return root
  const common = (await smallText(fs, join(own, 'commondir')))?.trim()
  const back = (await smallText(fs, join(own, 'gitdir')))?.trim()
  if (common === undefined || back === undefined) return root
  const shared = await realOf(fs, resolve(own, common))
  const named = await realOf(fs, resolve(own, back))
  const isOurs = named !== null && named === (await realOf(fs, gitFile))
  if (shared === null || !isOurs || dirname(own) !== join(shared, 'worktrees')) return root
  return basename(shared) === '.git' ? dirname(shared) : shared
}

async function realOf(fs: FileSystem, path: string): Promise<string | null> {
  const found = await attempt('looking', async () => ({ path: await fs.realPath(path) }))
  return found.ok ? found.path : null
}

async function smallText(fs: FileSystem, path: string): Promise<string | null> {
  const read = await readSmall(fs, path, pathFileBytes)
  return read.ok ? read.bytes.toString('utf8') : null
}
