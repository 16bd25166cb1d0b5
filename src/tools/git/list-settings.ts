// The settings in a file of git's, read by git itself, which alone knows how they are written. Git is kept from any
// repository while it reads, and follows no include out of a file that may be anybody's.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../../disk/failure.ts'
import type { FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { isKnownSetting, settingsIn, type GitSetting } from './known-settings.ts'
import { repositoryOf } from './repository.ts'

export interface GitProgram {
  /** By its whole path. */
  readonly program: string
  /** Without any variable of git's. */
  readonly environment: Readonly<Record<string, string>>
}

/** Of one file (none where it is missing), or without one those of the user and the system. Rejects where git cannot. */
export function listSettings(git: GitProgram, file?: string): Promise<readonly GitSetting[]> {
  if (file !== undefined && !existsSync(file)) return Promise.resolve([])
  const from = file === undefined ? [] : ['--file', file, '--no-includes']
  return new Promise((done, failed) => {
    execFile(
      git.program,
      ['config', ...from, '--list', '--null'],
      {
        cwd: '/',
        env: { ...git.environment, GIT_DIR: noRepository, LC_ALL: 'C' },
        timeout: defaults.permission.gitConfigMs,
        maxBuffer: defaults.permission.gitConfigBytes,
      },
      (error, out, err) =>
        error === null
          ? done(settingsIn(out))
          : failed(
              new Error(`git cannot read ${file ?? 'its configuration'}: ${err.trim() || error.message}`),
            ),
    )
  })
}
const noRepository = '/dev/null'

/** Why git, at work in this folder with the repository's own configuration, may run a program of it; null: it does not. */
export async function actingDoubt(
  fs: FileSystem,
  root: string,
  folder: string,
  git: GitProgram,
): Promise<string | null> {
  const found = await repositoryOf(fs, root, folder)
  if (!found.ok) return found.why
  if (found.repository === null) return null
  const { gitFolder, commonFolder, worktree } = found.repository
  for (const file of [join(commonFolder, 'config'), join(gitFolder, 'config.worktree')]) {
    try {
      const acting = (await listSettings(git, file)).find(({ key }) => !isKnownSetting(key) && !isLayout(key))
      if (acting !== undefined) return `${file} sets ${acting.key}, which may make git run programs`
    } catch (error) {
      return errorText(error)
    }
  }
  const modules = join(worktree, '.gitmodules')
  return existsSync(modules) ? `${modules} names submodules, each with a configuration of its own` : null
}

/** Said by git itself of every new repository, and harmless where it is the one that was looked at. */
const isLayout = (key: string): boolean => key === 'core.bare' || key === 'extensions.worktreeconfig'
