// The gitlinks of an index: folders with a repository of their own that git enters by itself, for a status or a diff, and
// whose configuration it then obeys. Git reads the index for us, since it alone knows every form of one, in an
// environment where nothing of the repository counts. An index that has not changed is not read again.
import { isUtf8 } from 'node:buffer'
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { errorText, type OrWhy } from '../../disk/failure.ts'
import { makeOwnFolder } from '../../disk/own-folders.ts'
import { defaults } from '../../settings/defaults.ts'
import { listSettings, type GitProgram } from './settings.ts'
import { closed, shieldFolder } from './shield.ts'

export type Gitlinks = OrWhy<{
  readonly paths: readonly string[]
  /** Those whose names are no text. */
  readonly odd: readonly Buffer[]
}>

/** Those of the index in this folder of git's, by their paths in the worktree. */
export type ReadGitlinks = (gitFolder: string) => Promise<Gitlinks>

const none: Gitlinks = { ok: true, paths: [], odd: [] }

/** Null: there is no git, and so nobody who would enter. */
export function gitlinkReader(program: string | null): ReadGitlinks {
  const read = new Map<string, { readonly state: string; readonly found: Gitlinks }>()
  return async (gitFolder) => {
    if (program === null) return none
    const state = await stateOf(gitFolder)
    if (state === '') return none
    const known = read.get(gitFolder)
    if (known?.state === state) return known.found
    const found = await gitlinksIn(gitFolder, { program, environment: { PATH: '/usr/bin:/bin' } })
    read.set(gitFolder, { state, found })
    return found
  }
}

/** Changes with the index, also where it is split over two files; the time of a change cannot be set by hand. */
async function stateOf(gitFolder: string): Promise<string> {
  const names: readonly string[] = await readdir(gitFolder).catch(() => [])
  if (!names.includes('index')) return ''
  const parts = names
    .filter((name) => name === 'index' || name.startsWith('sharedindex.'))
    .toSorted()
    .map(async (name) => {
      const found = await stat(join(gitFolder, name), { bigint: true }).catch(() => null)
      return found === null ? name : [name, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ')
    })
  return (await Promise.all(parts)).join('\n')
}

async function gitlinksIn(gitFolder: string, git: GitProgram): Promise<Gitlinks> {
  const folder = await makeOwnFolder(shieldFolder)
  try {
    const common = await commonFolderOf(gitFolder)
    const settings = await listSettings(git, join(common, 'config'))
    const format = settings.findLast(({ key }) => key === 'extensions.objectformat')?.value
    await mkdir(join(folder, 'refs'))
    await symlink(join(common, 'objects'), join(folder, 'objects'))
    await writeFile(
      join(folder, 'config'),
      format === 'sha256'
        ? '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'
        : '[core]\n\trepositoryformatversion = 0\n',
    )
    const listed = await listing(git, gitFolder, folder)
    // One character a byte, so that nothing is lost of a name that is no text.
    const names = listed.split('\0').flatMap((line) => /^160000 [^\t]*\t(.+)$/s.exec(line)?.[1] ?? [])
    const paths = [...new Set(names)].map((name) => Buffer.from(name, 'latin1'))
    return { ok: true, paths: paths.filter(isUtf8).map(String), odd: paths.filter((path) => !isUtf8(path)) }
  } catch (error) {
    return { ok: false, why: errorText(error) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function listing(git: GitProgram, gitFolder: string, folder: string): Promise<string> {
  const env = {
    ...git.environment,
    ...closed(folder),
    GIT_DIR: gitFolder,
    GIT_COMMON_DIR: folder,
    GIT_WORK_TREE: folder,
    LC_ALL: 'C',
  }
  const how = {
    cwd: folder,
    env,
    timeout: defaults.permission.gitIndexMs,
    maxBuffer: defaults.permission.gitIndexBytes,
    encoding: 'latin1' as const,
  }
  return new Promise((done, failed) => {
    execFile(git.program, ['ls-files', '--stage', '-z'], how, (error, out, err) =>
      error === null ? done(out) : failed(new Error(err.trim() || error.message)),
    )
  })
}

/** Where a folder of git's keeps what its worktrees share. */
export async function commonFolderOf(gitFolder: string): Promise<string> {
  const text = await readFile(join(gitFolder, 'commondir'), 'utf8').catch(() => '.')
  return resolve(gitFolder, text.replace(/[\r\n]+$/, ''))
}
