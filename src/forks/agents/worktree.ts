// A working tree of its own for an agent, so that two that change the same files do not meet. It begins at the commit
// the repository stands at, on a branch of its own; when the agent has ended its changes are committed there and the
// folder goes; a branch without changes goes with it. What no commit of the branch can hold leaves the folder where it is.
// Merging takes the branch into the working tree of the user and removes it; where the two do not fit, nothing is changed
// and the branch stays.
//
// Git reads half-written worktrees of others: one that is added or removed while another is can fail. So those of one
// repository take turns in a process, and a step that another process disturbed is tried again.
//
//   <root>/<name>      the folder        pal/<name>      the branch
import type { OrWhy } from '../../disk/failure.ts'
import { realpath, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawn } from 'node:child_process'
import { pathOutside } from '../../disk/programs.ts'
import { defaults } from '../../settings/defaults.ts'

export interface Worktree {
  readonly path: string
  readonly branch: string
}

export type Made = OrWhy<{ readonly worktree: Worktree; readonly base: string }>

export interface Ended {
  /** Files that differ from where it began; none: the branch is gone too. */
  readonly files: readonly string[]
  /** What went wrong; then the folder is left where it is. */
  readonly why: string | null
}

type Merged =
  | {
      readonly ok: true
      readonly files: readonly string[]
      /** Why the branch is still there. */
      readonly branchStays?: string
    }
  | { readonly ok: false; readonly why: string; readonly conflicts: readonly string[] }

const branchPrefix = 'pal/'

export function addWorktree(git: Git, repository: string, root: string, name: string): Promise<Made> {
  return inTurn(repository, async () => {
    const head = await git(repository, 'rev-parse', '--verify', 'HEAD')
    if (!head.ok) return { ok: false, why: `a worktree needs a git repository with a commit: ${head.why}` }
    const worktree = { path: join(root, name), branch: `${branchPrefix}${name}` }
    // -B: the name is this agent's alone, so a branch of it was left by the try before.
    const words = ['worktree', 'add', '-B', worktree.branch, worktree.path, head.out]
    const added = await insistently(() => git(repository, ...words))
    return added.ok ? { ok: true, worktree, base: head.out } : { ok: false, why: added.why }
  })
}

/** Keeps what was changed on the branch and removes the folder. */
export function endWorktree(
  git: Git,
  repository: string,
  worktree: Worktree,
  base: string,
  label: string,
): Promise<Ended> {
  return inTurn(repository, () => clearAway(git, repository, worktree, base, label))
}

async function clearAway(
  git: Git,
  repository: string,
  worktree: Worktree,
  base: string,
  label: string,
): Promise<Ended> {
  const { path, branch } = worktree
  const left = (why: string): Ended => ({ files: [], why })
  const why = (await folderAt(path)) === null ? null : await keepChanges(git, worktree, label)
  if (why !== null) return left(why)
  // Of the branch, not of what the folder stands at: whoever works in it may have gone elsewhere.
  const changed = await git(repository, 'diff', '--raw', '--no-renames', '-z', base, `refs/heads/${branch}`)
  if (!changed.ok) return left(changed.why)
  const { files, repositories } = changesIn(changed.out)
  if (repositories.length > 0)
    return left(
      `${repositories.join(', ')}: a repository of its own, whose files no commit here can hold. They lie in ${path}`,
    )
  const removed = await removeFolder(git, repository, path)
  if (!removed.ok) return left(removed.why)
  if (files.length > 0) return { files, why: null }
  const gone = await insistently(() => git(repository, 'branch', '-D', branch))
  return { files, why: gone.ok ? null : gone.why }
}

/** Commits what is not committed, and sees to it that the branch has every commit. Why that cannot be, or null. */
async function keepChanges(git: Git, { path, branch }: Worktree, label: string): Promise<string | null> {
  const status = await insistently(() => git(path, 'status', '--porcelain'))
  if (!status.ok) return status.why
  const at = await git(path, 'symbolic-ref', '--quiet', 'HEAD')
  const isOnBranch = at.ok && at.out === `refs/heads/${branch}`
  if (status.out !== '') {
    // On a branch that is somebody else's nothing is committed.
    const head = isOnBranch ? at : await git(path, 'update-ref', '--no-deref', 'HEAD', 'HEAD')
    const staged = head.ok ? await insistently(() => git(path, 'add', '--all')) : head
    const kept = staged.ok ? await insistently(() => commit(git, path, label)) : staged
    if (!kept.ok) return `its changes could not be kept: ${kept.why}. They lie in ${path}`
  }
  if (isOnBranch) return null
  const isOn = async (older: string, newer: string): Promise<boolean> =>
    (await git(path, 'merge-base', '--is-ancestor', older, newer)).ok
  const own = `refs/heads/${branch}`
  if (await isOn('HEAD', own)) return null
  const isThere = (await git(path, 'rev-parse', '--quiet', '--verify', own)).ok
  if (isThere && !(await isOn(own, 'HEAD')))
    return `it has commits that ${branch} does not have, and the other way round. They lie in ${path}`
  const moved = await git(path, 'branch', '--force', branch, 'HEAD')
  return moved.ok ? null : `${moved.why}. Its commits lie in ${path}`
}

/** `:<mode before> <mode after> <hashes> <letter>` and the file, in turn. */
function changesIn(raw: string): {
  readonly files: readonly string[]
  readonly repositories: readonly string[]
} {
  const parts = raw.split('\0').filter((part) => part !== '')
  const files = parts.filter((_, at) => at % 2 === 1)
  return { files, repositories: files.filter((_, at) => parts[2 * at]!.split(' ')[1] === repositoryMode) }
}
const repositoryMode = '160000'

const folderAt = (path: string): Promise<string | null> => realpath(path).catch(() => null)

/** What a process that died has left: its changes are kept on the branch, and the folder goes. Null: nothing was there. */
export async function sweepWorktree(
  git: Git,
  repository: string,
  worktree: Worktree,
  label: string,
): Promise<Ended | null> {
  const listed = await git(repository, 'worktree', 'list', '--porcelain')
  if (!listed.ok) return null
  // Git names the folder by where it really lies.
  const names = [worktree.path, (await folderAt(worktree.path)) ?? worktree.path]
  const lines = listed.out.split('\n')
  if (!names.some((name) => lines.includes(`worktree ${name}`))) return null
  const base = await git(repository, 'merge-base', 'HEAD', worktree.branch)
  return base.ok ? endWorktree(git, repository, worktree, base.out, label) : { files: [], why: base.why }
}

const turns = new Map<string, Promise<unknown>>()

function inTurn<T>(repository: string, work: () => Promise<T>): Promise<T> {
  const mine = (turns.get(repository) ?? Promise.resolve()).then(work, work)
  turns.set(repository, mine)
  return mine.finally(() => {
    if (turns.get(repository) === mine) turns.delete(repository)
  })
}

const tries = 3
const betweenTriesMs = 200

async function insistently(step: () => Promise<GitAnswer>): Promise<GitAnswer> {
  for (let left = tries - 1; ; left--) {
    const answer = await step()
    if (answer.ok || left === 0) return answer
    await sleep(betweenTriesMs)
  }
}

async function commit(git: Git, path: string, label: string): Promise<GitAnswer> {
  return git(path, ...(await author(git, path)), 'commit', '--no-verify', '--quiet', '-m', label)
}

/** Somebody must be the author where the user has not said who they are. */
async function author(git: Git, path: string): Promise<readonly string[]> {
  const known = await git(path, 'config', 'user.email')
  if (known.ok) return []
  return ['-c', 'user.name=Palimpsest agent', '-c', 'user.email=agent@palimpsest.invalid']
}

async function removeFolder(git: Git, repository: string, path: string): Promise<GitAnswer> {
  const removed = await git(repository, 'worktree', 'remove', '--force', path)
  // What git does not know as a worktree any more may still lie there.
  if (!removed.ok) await rm(path, { recursive: true, force: true })
  // The folders above go with the last one in them.
  for (const above of [dirname(path), dirname(dirname(path))]) await rmdir(above).catch(() => {})
  return removed.ok ? removed : git(repository, 'worktree', 'prune')
}

/** Takes a branch into the user's working tree. Refused, and undone, where the two do not fit. */
export async function mergeBranch(git: Git, repository: string, branch: string): Promise<Merged> {
  const no = (why: string, conflicts: readonly string[] = []): Merged => ({ ok: false, why, conflicts })
  if (!branch.startsWith(branchPrefix)) return no(`${branch} is not the branch of an agent`)
  // Giving ours up would give up the user's.
  const isMerging = await git(repository, 'rev-parse', '--quiet', '--verify', 'MERGE_HEAD')
  if (isMerging.ok)
    return no(
      'a merge of your own is under way; finish it (git commit) or give it up (git merge --abort) first',
    )
  const files = await git(repository, 'diff', '--name-only', `HEAD...${branch}`)
  if (!files.ok) return no(files.why)
  const who = await author(git, repository)
  const merged = await git(repository, ...who, 'merge', '--no-edit', '--no-verify', branch)
  if (!merged.ok) {
    const conflicts = await git(repository, 'diff', '--name-only', '--diff-filter=U')
    await git(repository, 'merge', '--abort')
    return no(merged.why, conflicts.out === '' ? [] : conflicts.out.split('\n'))
  }
  const gone = await git(repository, 'branch', '-d', branch)
  const taken = files.out === '' ? [] : files.out.split('\n')
  return gone.ok ? { ok: true, files: taken } : { ok: true, files: taken, branchStays: gone.why }
}

// Git, asked as a program with plain arguments: no shell, no question, no pager. The repository may be anybody's, so what
// its folder holds is not run: no hooks and no program that watches files, and a folder that merely looks like
// a repository is none.

interface GitAnswer {
  readonly ok: boolean
  readonly out: string
  /** What it said when it failed. */
  readonly why: string
}

export type Git = (folder: string, ...words: readonly string[]) => Promise<GitAnswer>

const calm = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  // Names as they are.
  '-c',
  'core.quotePath=false',
  '-c',
  'safe.bareRepository=explicit',
  '-c',
  'diff.ignoreSubmodules=dirty',
  '-c',
  'submodule.recurse=false',
] as const
const mostChars = 1_000_000

/** Variables that would point git at another repository are left out, and so is a git that lies in the project. */
export function gitIn(environment: Readonly<Record<string, string>>, project: readonly string[]): Git {
  const env = {
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('GIT_'))),
    PATH: pathOutside(environment['PATH'] ?? '', project),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    LC_ALL: 'C',
  }
  return (folder, ...words) =>
    new Promise((resolve) => {
      const child = spawn('git', [...calm, '-C', folder, ...words], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: defaults.agents.gitMs,
      })
      let out = ''
      let err = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (out.length < mostChars) out += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (err.length < mostChars) err += text
      })
      child.once('error', (error) => resolve({ ok: false, out, why: `git cannot be run: ${error.message}` }))
      child.once('close', (code) => {
        const why = code === 0 ? '' : err.trim() || out.trim() || `git ended with ${code}`
        resolve({ ok: code === 0, out: out.trimEnd(), why })
      })
    })
}
