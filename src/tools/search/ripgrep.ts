// Ripgrep, from its package or the PATH: found and tried once, run without any configuration of the user's, its output taken
// line by line until enough came, the time is over or nobody waits any more.
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findProgram } from '../../disk/programs.ts'
import { defaults } from '../../settings/defaults.ts'

/**
 * The path of a program that starts, or null: that of the package, else one on the PATH. The package may have been made for
 * another system (musl), and nothing of the project is taken.
 */
export async function findRipgrep(
  path: string | undefined,
  project: readonly string[],
): Promise<string | null> {
  for (const program of [await packaged(), findProgram('rg', path, project)])
    if (program !== null && (await starts(program))) return program
  return null
}

async function packaged(): Promise<string | null> {
  try {
    const { rgPath } = await import('@vscode/ripgrep')
    return existsSync(rgPath) ? rgPath : null
  } catch {
    // An optional dependency that is not there, or not there for this system.
    return null
  }
}

const starts = (program: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(program, ['--no-config', '--version'], { env: {}, timeout: defaults.tools.searchMs }, (error) =>
      resolve(error === null),
    )
  })

export interface RipgrepEnd {
  readonly why: 'done' | 'enough' | 'aborted' | 'timeout' | 'too-much' | 'failed'
  readonly message: string
}

/** Runs it in a folder. `take` gets each line and says whether it wants more. */
export async function runRipgrep(
  program: string,
  args: readonly string[],
  cwd: string,
  take: (line: string) => boolean,
  signal: AbortSignal,
): Promise<RipgrepEnd> {
  let why: RipgrepEnd['why'] = 'done'
  let [bytes, errors] = [0, '']
  const child = spawn(
    program,
    ['--no-config', '--hidden', '--glob=!.git', '--no-require-git', '--color=never', ...args],
    { cwd, env: {}, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const stop = (reason: RipgrepEnd['why']) => {
    if (why === 'done') why = reason
    child.kill('SIGKILL')
  }
  const onAbort = () => stop('aborted')
  const timer = setTimeout(() => stop('timeout'), defaults.tools.searchMs)
  signal.addEventListener('abort', onAbort, { once: true })
  const started = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      errors = error.message
      why = 'failed'
      resolve(null)
    })
    child.once('close', resolve)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    if (errors.length < 4000) errors += chunk.toString()
  })
  let rest = ''
  const decoder = new TextDecoder()
  child.stdout.on('data', (chunk: Buffer) => {
    if (why !== 'done') return
    bytes += chunk.length
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    if (!lines.every(take)) return stop('enough')
    if (bytes > defaults.tools.searchOutputBytes) stop('too-much')
  })
  try {
    const code = await started
    if (why === 'done' && rest !== '' && !take(rest)) why = 'enough'
    // Code 2 with lines: something could not be read, the rest could.
    if (why === 'done' && code === 2 && bytes === 0) why = 'failed'
    return { why, message: errors.trim() }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
