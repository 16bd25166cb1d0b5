// Folders as an archive would bring them, each with one thing that makes git or a shell run a program of it. Every trap is
// real: the command beside it springs it when run outside of us.
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Trap {
  readonly name: string
  /** Sets the trap in a repository with two commits and a changed file; `evil` is a program that leaves a sign. */
  readonly set: (project: string, evil: string) => void
  /** What springs it. */
  readonly springs: string
}

const put = (path: string, content: string, mode = 0o644): void => {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, content)
  chmodSync(path, mode)
}
const git = (at: string, ...words: string[]): void => {
  execFileSync('git', ['-C', at, '-c', 'user.name=x', '-c', 'user.email=x@example.org', ...words], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], HOME: join(at, 'nobody') },
  })
}

/** The repository before a trap is set in it. */
export function plainRepository(project: string): void {
  git(project, 'init', '-q', '--template=', '-b', 'main')
  for (const name of ['a.txt', 'b.txt']) put(join(project, name), 'one\n')
  git(project, 'add', '-A')
  git(project, 'commit', '-qm', 'one')
  put(join(project, 'a.txt'), 'one\ntwo\n')
  git(project, 'commit', '-qam', 'two')
  put(join(project, 'a.txt'), 'one\ntwo\nthree\n')
  // Same content, other time: whoever refreshes the index writes it.
  put(join(project, 'b.txt'), 'one\n')
}
const configured =
  (text: (evil: string) => string, attributes?: string) =>
  (project: string, evil: string): void => {
    appendFileSync(join(project, '.git', 'config'), text(evil))
    if (attributes !== undefined) put(join(project, '.gitattributes'), attributes)
  }

/** A folder beside the real one, whose configuration is the evil one, and what leads to it. */
function otherFolder(project: string, evil: string, name: string): void {
  cpSync(join(project, '.git'), join(project, name), { recursive: true })
  appendFileSync(join(project, name, 'config'), `[diff]\n\texternal = ${evil}\n`)
}

export const traps: readonly Trap[] = [
  {
    name: 'a hook that runs when the index is written',
    set: (project, evil) =>
      put(join(project, '.git', 'hooks', 'post-index-change'), `#!/bin/sh\n${evil}\n`, 0o755),
    springs: 'git diff',
  },
  {
    name: 'an external diff',
    set: configured((evil) => `[diff]\n\texternal = ${evil}\n`),
    springs: 'git diff',
  },
  {
    name: 'an external diff behind a comment that ends with a backslash',
    set: configured((evil) => `[diff]\n# \\\n\texternal = ${evil}\n`),
    springs: 'git diff',
  },
  {
    name: 'an external diff behind a value with such a comment',
    set: configured((evil) => `[diff]\n\tcontext = 3 # \\\n\texternal = ${evil}\n`),
    springs: 'git diff',
  },
  {
    name: 'a text conversion',
    set: configured((evil) => `[diff "x"]\n\ttextconv = ${evil}\n`, '*.txt diff=x\n'),
    springs: 'git log -p',
  },
  {
    name: 'a filter',
    set: configured((evil) => `[filter "x"]\n\tclean = ${evil}\n`, '*.txt filter=x\n'),
    springs: 'git status',
  },
  {
    name: 'a program that watches files',
    set: configured((evil) => `[core]\n\tfsmonitor = ${evil}\n`),
    springs: 'git -c core.fsmonitor= status; git status',
  },
  {
    name: 'settings in another file',
    set: (project, evil) => {
      put(join(project, 'more'), `[diff]\n\texternal = ${evil}\n`)
      appendFileSync(join(project, '.git', 'config'), '[include]\n\tpath = ../more\n')
    },
    springs: 'git diff',
  },
  {
    name: 'a folder in the tree that is a repository of its own',
    set: (project, evil) => {
      const sub = join(project, 'sub')
      mkdirSync(sub)
      plainRepository(sub)
      git(project, 'add', 'sub')
      git(project, 'commit', '-qm', 'sub')
      put(join(sub, '.gitattributes'), '*.txt filter=x\n')
      appendFileSync(join(sub, '.git', 'config'), `[filter "x"]\n\tclean = ${evil}\n`)
    },
    springs: 'git status',
  },
  {
    name: 'a pointer to the repository of more than one line',
    set: (project, evil) => {
      renameSync(join(project, '.git'), join(project, '.gx'))
      mkdirSync(join(project, '.git'))
      cpSync(join(project, '.gx'), join(project, '.git'), { recursive: true })
      otherFolder(project, evil, '.gx\nE')
      rmSync(join(project, '.git'), { recursive: true })
      put(join(project, '.git'), 'gitdir: .gx\nE')
    },
    springs: 'git diff',
  },
  {
    name: 'a common folder named in more than one line',
    set: (project, evil) => {
      cpSync(join(project, '.git'), join(project, 'common'), { recursive: true })
      otherFolder(project, evil, 'common\nE')
      put(join(project, '.git', 'commondir'), '../common\nE')
    },
    springs: 'git diff',
  },
  {
    name: 'programs in a folder of the project that is on the path',
    set: (project, evil) => {
      for (const name of ['bwrap', 'git', 'rg', 'ls', 'bash', 'sh', 'cat', 'node', 'ps', 'which'])
        put(join(project, 'node_modules', '.bin', name), `#!/bin/sh\n${evil}\n`, 0o755)
    },
    springs: 'PATH="$PWD/node_modules/.bin:$PATH"; ls',
  },
]
