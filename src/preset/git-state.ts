// What git says of the project when a session begins: the branch and what is changed. The repository may be anybody's, so
// git runs behind the shield. Where it cannot be asked, or takes too long, nothing is said.
import { execFile } from 'node:child_process'
import type { FileSystem } from '../disk/fs.ts'
import { findProgram } from '../disk/programs.ts'
import { defaults } from '../settings/defaults.ts'
import { readOnlyEnvironment } from '../tools/shell/environment.ts'
import type { Project } from './project.ts'

export async function gitState(
  fs: FileSystem,
  { root, cwd, isGit }: Project,
  environment: Readonly<Record<string, string | undefined>>,
  timeout: number,
): Promise<string | null> {
  const program = isGit ? findProgram('git', environment['PATH'], [root, cwd]) : null
  if (program === null) return null
  const { openShield } = await import('../tools/git/shield.ts')
  const { repositoryOf } = await import('../tools/git/repository.ts')
  const found = await repositoryOf(fs, root, cwd)
  if (!found.ok || found.repository === null) return null
  const git = { program, environment: readOnlyEnvironment(environment, [root, cwd]) }
  const shield = await openShield(found.repository, git)
  if (!shield.ok) return null
  try {
    const args = ['-C', cwd, 'status', '--porcelain', '--branch', '--ignore-submodules=all']
    return await new Promise((resolve) =>
      execFile(
        program,
        args,
        {
          env: shield.environment,
          timeout,
          maxBuffer: defaults.preset.gitStatusChars * 100,
        },
        (error, out) => resolve(error === null ? described(out) : null),
      ),
    )
  } finally {
    await shield.end()
  }
}

function described(status: string): string {
  const [head = '', ...changes] = status.trimEnd().split('\n')
  const branch = head.replace(/^## (?:No commits yet on )?/u, '').split('...')[0]!
  const shown: string[] = []
  let chars = 0
  for (const line of changes) {
    chars += line.length + 1
    if (chars > defaults.preset.gitStatusChars) break
    shown.push(line)
  }
  const more = changes.length - shown.length
  const list = changes.length === 0 ? 'clean' : `${shown.join('\n')}${more === 0 ? '' : `\n[${more} more]`}`
  return `Branch: ${branch}\nStatus when the session began: ${list}`
}
