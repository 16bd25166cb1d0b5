// Runs the bundled command in a child process with a home, a project and an environment of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, mkdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { createSimulator, scripted, type Answerer, type SimulatorOptions } from '../../src/simulator/index.ts'
import { palFile } from '../one-bundle.ts'

export { until } from '../until.ts'

/** What a program that was just ended still writes comes between: it is tried again. */
const removed = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly input?: string
  /** Standard input stays open, for the test to write to. */
  readonly isOpen?: boolean
  /** Behind a terminal of its own: what is shown comes mixed, on standard output. */
  readonly inTerminal?: boolean
  readonly environment?: Readonly<Record<string, string>>
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

export interface Workspace {
  /** The user's home, the folder of the program in it, and the project. */
  readonly home: string
  readonly state: string
  readonly project: string
  readonly start: (words: readonly string[], options?: RunOptions) => Promise<Running>
  readonly pal: (words: readonly string[], options?: RunOptions) => Promise<Ended>
  /** The command itself and what it runs with, for those who start it in their own way. */
  readonly file: string
  readonly environment: Readonly<Record<string, string>>
}

/** `parent`: where a path of known length matters. */
export async function openWorkspace(
  environment: Readonly<Record<string, string>> = {},
  parent: string = tmpdir(),
): Promise<Workspace> {
  const folder = await realpath(await mkdtemp(join(parent, 'pal-cli-')))
  cleanups.push(() => removed(folder))
  const home = join(folder, 'home')
  const project = join(folder, 'project')
  await mkdir(home)
  await mkdir(project)
  const file = await palFile()
  const start = async (words: readonly string[], options: RunOptions = {}): Promise<Running> => {
    const [program, ...rest] =
      options.inTerminal === true
        ? ['script', '-qfec', [process.execPath, file, ...words].join(' '), '/dev/null']
        : [process.execPath, file, ...words]
    const isPiped = options.input !== undefined || options.isOpen === true
    const child = spawn(program!, rest, {
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: home, ...environment, ...options.environment },
      stdio: [isPiped ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    })
    if (options.isOpen !== true) child.stdin?.end(options.input)
    let [out, err] = ['', '']
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
    const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, out, err })))
    cleanups.push(async () => {
      child.kill('SIGKILL')
      await ended
    })
    return { child, ended }
  }
  return {
    home,
    state: join(home, '.palimpsest'),
    project,
    start,
    pal: async (words, options) => (await start(words, options)).ended,
    file,
    environment: { PATH: process.env['PATH'] ?? '', HOME: home, ...environment },
  }
}

/** A simulator that answers from a script, and how to reach it. */
export async function server(
  steps: Parameters<typeof scripted>[0],
  options: Partial<SimulatorOptions> = {},
): Promise<{
  readonly simulator: ReturnType<typeof createSimulator>
  readonly access: Record<string, string>
}> {
  const simulator = createSimulator({ answerer: scripted(steps), ...options })
  const { url } = await simulator.start()
  cleanups.push(() => simulator.stop())
  return { simulator, access: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'test-key' } }
}

/** An answerer whose nth answer comes when the test lets it go: what happens meanwhile is a matter of order, not of time. */
export function holding(
  steps: Parameters<typeof scripted>[0],
  nth: number,
): { readonly answerer: Answerer; readonly letGo: () => void } {
  const script = scripted(steps)
  let letGo = (): void => undefined
  const held = new Promise<void>((resolve) => (letGo = resolve))
  const answer: Answerer['answer'] = async (context) => {
    const given = script.answer(context)
    if (script.position === nth) await held
    return given
  }
  return { answerer: { answer }, letGo }
}

export const linesOf = (out: string): Record<string, unknown>[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
