// Bash: runs a command in a fresh shell, so that nothing a command exports, aliases or changes folder to reaches the next.
// It ends within its timeout; a command that says too much is stopped; what it left running is stopped, unless it was
// started in the background, where Jobs looks after it. Which commands may run is decided before (`mayRun`), not here.
import type { OrWhy } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import { flag, optional, text, whole, toolWith, type InputOf } from '../input.ts'
import { failed, interrupted, succeeded } from '../outcome.ts'
import type { ReadOnlyRun, Tool, ToolEnv, ToolOutcome } from '../tool.ts'
import { findProgram } from '../../disk/programs.ts'
import { openShield } from '../git/shield.ts'
import { commandEnvironment, mixedEnvironment, readOnlyEnvironment, type Environment } from './environment.ts'
import { startGroup, type Group, type GroupEnd, type GroupOptions } from './group.ts'
import type { JobAbout, Jobs } from './jobs.ts'
import type { Sandbox } from './sandbox.ts'
import { createOutput, type Output } from './output.ts'

const limits = defaults.tools
/** Room for the lines that say how it ended. */
const statusChars = 1000

export interface BashOptions {
  readonly environment: Environment
  readonly jobs: Jobs
  /** The project: no shell is taken from there. */
  readonly roots?: readonly string[] | undefined
  /** The second wall; see `sandbox`. */
  readonly sandbox?: Sandbox | undefined
}

const fields = {
  command: text(''),
  timeout: optional(whole(`Milliseconds, default ${limits.bashTimeoutMs}`, 1, limits.bashMaxTimeoutMs)),
  background: optional(flag('Return at once with a job id')),
}
type BashInput = InputOf<typeof fields>

/** Runs shell commands. */
export function bashTool(options: BashOptions): Tool<BashInput> {
  return toolWith(fields, {
    name: 'Bash',
    description: `Run a shell command in the working directory: builds, tests, git, package scripts. Each call is a fresh shell: cd and exports do not persist; no input, so use non-interactive flags. Quote paths with spaces. Output over ${limits.maxResultChars.toLocaleString('en-US')} characters is saved, with a ref. For servers and watchers set background, then use Jobs. Prefer Read, Grep, Glob, Edit and Write to cat, grep, find, sed and echo.`,
    policy: { readOnly: false, results: 'clear', maxResultChars: limits.maxResultChars },
    async run(input, env, signal) {
      if (signal.aborted) return interrupted()
      const ground = await groundFor(options, env)
      if (!ground.ok) return failed(`The command was not run: ${ground.why}.`)
      const { group, ended } = ground
      if (input.background === true) {
        const about = { session: env.session, since: env.now(), ended }
        return await startJob(options.jobs, input.command, group, about)
      }
      const started = await startGroup(input.command, group)
      if (!started.ok) await ended()
      if (!started.ok) return failed(`The shell could not be started: ${started.why}`)
      const outcome = await follow(started.group, input.timeout ?? limits.bashTimeoutMs, env, signal)
      await ended()
      return noticed(
        explained(outcome, [
          group.before.length === 0 ? null : (options.sandbox?.explains(textOf(outcome)) ?? null),
          ground.leftOut.length === 0 ? null : leftOutNote(ground.leftOut),
        ]),
        options.sandbox?.notices() ?? [],
      )
    },
  })
}

type Ground = OrWhy<{
  readonly group: GroupOptions & { readonly before: readonly string[] }
  /** Settings of the repository that git was not told. */
  readonly leftOut: readonly string[]
  readonly ended: () => Promise<void>
}>

/** Another shell would read a command differently from how it was judged. */
export const noBash =
  'bash is not on the PATH of this machine, and commands are judged and run as bash. It has to be installed (apk add bash, apt install bash)'

/** What a command stands on: its environment, git's where it runs unasked, and the wall around it. */
async function groundFor(options: BashOptions, env: ToolEnv): Promise<Ground> {
  const { readOnly } = env
  const project = readOnly?.project ?? [env.cwd, ...(options.roots ?? [])]
  const environment = environmentFor(options, readOnly, project)
  const shell = findProgram('bash', environment['PATH'], project)
  if (shell === null) return { ok: false, why: noBash }
  const git = readOnly?.git === undefined ? null : findProgram('git', environment['PATH'], project)
  const shield =
    git === null
      ? noShield(environment)
      : await openShield(readOnly!.git!.repository, { program: git, environment })
  if (!shield.ok) return shield
  const wall =
    (await options.sandbox?.around(env.cwd, shield.folder === null ? [] : [shield.folder])) ?? noWall
  if (!wall.ok) await shield.end()
  if (!wall.ok) return wall
  return {
    ok: true,
    group: { shell, cwd: env.cwd, environment: shield.environment, before: wall.before },
    leftOut: shield.leftOut,
    ended: async () => {
      await wall.end()
      await shield.end()
    },
  }
}

function environmentFor(
  options: BashOptions,
  readOnly: ReadOnlyRun | undefined,
  project: readonly string[],
): Record<string, string> {
  if (readOnly !== undefined && readOnly.parts === undefined)
    return readOnlyEnvironment(options.environment, project)
  const whole = commandEnvironment(options.environment)
  return readOnly?.parts === undefined ? whole : mixedEnvironment(whole, project, readOnly.parts)
}

const noWall = { ok: true as const, before: [], end: () => Promise.resolve() }
const noShield = (environment: Readonly<Record<string, string>>) => ({
  ok: true as const,
  environment,
  folder: null,
  leftOut: [],
  end: () => Promise.resolve(),
})

const textOf = (outcome: ToolOutcome): string =>
  outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')

const leftOutNote = (names: readonly string[]): string =>
  `[git ran unasked, so without these settings of the repository: ${names.slice(0, notedSettings).join(', ')}${names.length > notedSettings ? ' …' : ''}]`
const notedSettings = 8

const noticed = (outcome: ToolOutcome, notices: readonly string[]): ToolOutcome => ({
  ...outcome,
  content: [...outcome.content, ...notices.map((text) => ({ type: 'text' as const, text }))],
})

/** A failure that its surroundings explain says so: nobody looks for a broken network that is only closed. */
function explained(outcome: ToolOutcome, notes: readonly (string | null)[]): ToolOutcome {
  if (!outcome.isError) return outcome
  const said = notes.filter((note) => note !== null).map((text) => ({ type: 'text' as const, text }))
  return said.length === 0 ? outcome : { ...outcome, content: [...outcome.content, ...said] }
}

async function startJob(
  jobs: Jobs,
  command: string,
  options: GroupOptions,
  about: JobAbout,
): Promise<ToolOutcome> {
  const started = await jobs.start(command, options, about)
  return started.ok
    ? succeeded(`Started as ${started.id}. Use Jobs to see its output or stop it.`)
    : failed(`Not started: ${started.why}.`)
}

type Cut = 'aborted' | 'timeout' | 'too-much'

async function follow(
  group: Group,
  timeoutMs: number,
  env: ToolEnv,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  let cut: Cut | null = null
  const stop = (why: Cut) => {
    cut ??= why
    group.stop()
  }
  const onAbort = () => stop('aborted')
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const timer = setTimeout(() => stop('timeout'), timeoutMs)
  const sink = createOutput({
    name: env.callId,
    maxChars: limits.maxResultChars - statusChars,
    spill: env.spill,
    report: env.report,
  })
  let bytes = 0
  try {
    for await (const chunk of group.output) {
      // What comes after the cap is read, so that the command can end, and dropped.
      if (bytes > limits.bashOutputBytes) continue
      bytes += chunk.byteLength
      await sink.push(chunk)
      if (bytes > limits.bashOutputBytes) stop('too-much')
    }
    return outcomeOf(await sink.end(), await group.ended, cut, timeoutMs)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    group.stop()
  }
}

function outcomeOf(output: Output, end: GroupEnd, cut: Cut | null, timeoutMs: number): ToolOutcome {
  const notes = [
    cut === 'timeout'
      ? `[stopped: it took longer than ${timeoutMs / 1000} s; set timeout, or background for what goes on]`
      : '',
    cut === 'too-much' ? `[stopped: it wrote more than ${limits.bashOutputBytes} bytes]` : '',
    cut === null && end.signal !== null ? `[ended by ${end.signal}]` : '',
    end.code !== null && end.code !== 0 ? `[exit code ${end.code}]` : '',
    cut === null && end.leftover
      ? '[what the command left running was stopped; use background for what must go on]'
      : '',
  ].filter((note) => note !== '')
  const body = [output.text.replace(/\n+$/, ''), ...notes].filter((part) => part !== '').join('\n')
  if (cut === 'aborted')
    return {
      ...interrupted(`The command was stopped.${body === '' ? '' : `\n${body}`}`),
      spill: output.spill,
    }
  return {
    content: [{ type: 'text', text: body }],
    isError: cut !== null || end.code !== 0,
    spill: output.spill,
  }
}
