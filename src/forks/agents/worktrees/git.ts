// Git, asked as a program with plain arguments: no shell, no question, no pager. The repository may be anybody's, so what
// its folder holds is not run: no hooks and no program that watches files, and a folder that merely looks like
// a repository is none.
import { spawn } from 'node:child_process'
import { pathOutside } from '../../../disk/programs.ts'
import { defaults } from '../../../settings/defaults.ts'

export interface GitAnswer {
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
