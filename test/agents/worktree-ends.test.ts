// How a worktree ends, wherever its agent left it: nothing it did is lost, and the user's own work is left alone.
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gitIn, mergeBranch } from '../../src/forks/agents/index.ts'
import { addWorktree, endWorktree, sweepWorktree, type Worktree } from '../../src/forks/agents/worktree.ts'
import { folder } from '../memory/folder.ts'
import { git, repository } from './simulated-agents.ts'

const own = gitIn({ PATH: process.env['PATH'] ?? '' }, [])

async function begun(trees = 'trees') {
  const base = await folder()
  const project = join(base, 'project')
  await mkdir(project)
  await repository(project, { 'a.txt': 'one\n', 'b.txt': 'two\n' })
  const made = await addWorktree(own, project, join(base, trees), 'one')
  if (!made.ok) throw new Error(made.why)
  const { worktree } = made
  const end = () => endWorktree(own, project, worktree, made.base, 'the task')
  return { base, project, worktree, end }
}

async function commit({ path }: Worktree, file: string, text: string): Promise<void> {
  await writeFile(join(path, file), text)
  await git(path, 'add', '--all')
  await git(path, 'commit', '--quiet', '-m', file)
}

const branches = async (project: string): Promise<readonly string[]> =>
  (await git(project, 'branch', '--list', '--format=%(refname:short)')).split('\n')

describe('worktrees that end', () => {
  it('[AG29] without a branch, on another one or back at their beginning: what was done is on their branch', async () => {
    const ways = {
      detached: async (worktree: Worktree) => {
        await git(worktree.path, 'checkout', '--quiet', '--detach')
        await commit(worktree, 'done.txt', 'done')
      },
      'on a branch of its own': async (worktree: Worktree) => {
        await git(worktree.path, 'checkout', '--quiet', '-b', 'feature')
        await commit(worktree, 'done.txt', 'done')
      },
      'back at the beginning': async (worktree: Worktree) => {
        await commit(worktree, 'done.txt', 'done')
        await git(worktree.path, 'checkout', '--quiet', '--detach', 'HEAD~1')
      },
      'its branch deleted': async (worktree: Worktree) => {
        await git(worktree.path, 'checkout', '--quiet', '--detach')
        await git(worktree.path, 'branch', '--delete', '--force', worktree.branch)
        await commit(worktree, 'done.txt', 'done')
      },
    }
    for (const [way, walk] of Object.entries(ways)) {
      const { project, worktree, end } = await begun()
      await walk(worktree)
      expect(await end(), way).toEqual({ files: ['done.txt'], why: null })
      expect(await mergeBranch(own, project, worktree.branch), way).toEqual({ ok: true, files: ['done.txt'] })
      expect(await readFile(join(project, 'done.txt'), 'utf8'), way).toBe('done')
    }
  })

  it('[AG29] on a branch of the user: what was not committed goes to their own branch alone', async () => {
    const { project, worktree, end } = await begun()
    await git(project, 'branch', 'theirs')
    await git(worktree.path, 'checkout', '--quiet', 'theirs')
    await writeFile(join(worktree.path, 'Größe.txt'), 'new')
    expect(await end()).toEqual({ files: ['Größe.txt'], why: null })
    expect(await git(project, 'rev-parse', 'theirs')).toBe(await git(project, 'rev-parse', 'main'))
    expect(await git(project, 'log', '-1', '--format=%s', worktree.branch)).toBe('the task')
  })

  it('[AG29] with what no commit of their branch holds: the folder stays, and that is said', async () => {
    const parted = await begun()
    await commit(parted.worktree, 'done.txt', 'done')
    await git(parted.worktree.path, 'checkout', '--quiet', '--detach', 'HEAD~1')
    await commit(parted.worktree, 'other.txt', 'other')
    const nested = await begun()
    const inner = join(nested.worktree.path, 'inner')
    await mkdir(inner)
    await repository(inner, { 'deep.txt': 'deep' })
    for (const { worktree, end } of [parted, nested]) {
      const { files, why } = await end()
      expect(files).toEqual([])
      expect(why).toContain(worktree.path)
    }
    expect(await readdir(parted.worktree.path)).toContain('other.txt')
    expect(await readFile(join(inner, 'deep.txt'), 'utf8')).toBe('deep')
  })

  it('[AG23] of a process that died are cleared away behind a link, and when somebody has removed the folder', async () => {
    const linked = await begun('real')
    await symlink(join(linked.base, 'real'), join(linked.base, 'link'))
    await writeFile(join(linked.worktree.path, 'done.txt'), 'done')
    const named = { ...linked.worktree, path: join(linked.base, 'link', 'one') }
    expect(await sweepWorktree(own, linked.project, named, 'task')).toEqual({
      files: ['done.txt'],
      why: null,
    })
    expect(await branches(linked.project)).toEqual(['main', 'pal/one'])
    const gone = await begun()
    await rm(gone.worktree.path, { recursive: true })
    expect(await sweepWorktree(own, gone.project, gone.worktree, 'task')).toEqual({ files: [], why: null })
    expect(await sweepWorktree(own, gone.project, gone.worktree, 'task')).toBeNull()
    expect(await branches(gone.project)).toEqual(['main'])
  })
})

describe('merging the work of an agent', () => {
  it('[AG36] leaves a merge of the user that is under way as it is', async () => {
    const { project, worktree, end } = await begun()
    await writeFile(join(worktree.path, 'done.txt'), 'done')
    await end()
    await git(project, 'checkout', '--quiet', '-b', 'side')
    await writeFile(join(project, 'a.txt'), 'side\n')
    await git(project, 'commit', '--quiet', '-am', 'side')
    await git(project, 'checkout', '--quiet', 'main')
    await writeFile(join(project, 'a.txt'), 'main\n')
    await git(project, 'commit', '--quiet', '-am', 'main')
    await expect(git(project, 'merge', 'side')).rejects.toThrow()
    await writeFile(join(project, 'a.txt'), 'decided by hand\n')
    await git(project, 'add', 'a.txt')
    const merged = await mergeBranch(own, project, worktree.branch)
    expect(merged).toMatchObject({ ok: false, conflicts: [] })
    expect(merged.ok || merged.why).toContain('merge of your own')
    expect(await readFile(join(project, 'a.txt'), 'utf8')).toBe('decided by hand\n')
    await git(project, 'commit', '--quiet', '-m', 'merged by hand')
    expect(await mergeBranch(own, project, worktree.branch)).toEqual({ ok: true, files: ['done.txt'] })
  })

  it('[AG36] that was made is said to be made, though the branch is in use and stays', async () => {
    const { project, worktree } = await begun()
    await commit(worktree, 'done.txt', 'done')
    const merged = await mergeBranch(own, project, worktree.branch)
    expect(merged).toMatchObject({ ok: true, files: ['done.txt'] })
    expect(merged.ok && merged.branchStays).toContain(worktree.path)
    expect(await readdir(project)).toContain('done.txt')
  })
})
