// `pal companion doctor`: runs the agent that is installed here against our simulator, offline, and says which of the hooks
// work. A point that does not is switched off alone; one that works again is switched on.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { optionsFile, readOptions, withOff } from '../../../companion/hook/options.ts'
import type { HookClient } from '../../../companion/hook/options.ts'
import { complain, exits, fail, type Exit } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeJson, safeLine } from '../../terminal/safe-text.ts'
import { prose, table, wraps } from '../../terminal/tables.ts'
import { companionRoot, installable, recordPath, textAt, titleOf, writeText } from './place.ts'
import type { Point, Trial } from './trial.ts'

export interface DoctorFlags {
  readonly program?: string | undefined
  readonly json?: boolean | undefined
}

export async function companionDoctor(io: Io, name: string, flags: DoctorFlags): Promise<Exit> {
  const client = installable(name)
  if (typeof client !== 'string') return complain(io, client)
  const title = titleOf(client)
  const program = flags.program ?? programOnPath(io, client)
  if (program === null)
    return fail(
      io,
      exits.failed,
      `${client} is not on the PATH. Install ${title}, or name it with --program PATH`,
    )
  const version = versionOf(program)
  if (version === null) return fail(io, exits.failed, `${program} --version does not answer. Is it ${title}?`)
  if (flags.json !== true)
    io.err(`Trying ${safeLine(title)} ${safeLine(version)} offline; this takes up to a minute.\n`)
  const { tryClient } = await import('./trial.ts')
  const trial = await tryClient(client, program, io.environment['PATH'] ?? '', installThere(io))
  const off = await switchPoints(io, client, trial)
  if (flags.json === true) io.out(`${safeJson({ client, version, program, ...trial, off }, 2)}\n`)
  else io.out(reportText(title, version, trial, off, io))
  if (client === 'codex' && flags.json !== true)
    io.out(
      prose(
        'Whether your own Codex runs them depends on your approval: enter /hooks in codex.\n',
        io.columns,
      ),
    )
  return trial.why === undefined && trial.points.every(({ works }) => works) ? exits.done : exits.failed
}

/** The way a person would, in another home. */
const installThere =
  (io: Io) =>
  (home: string, client: HookClient): Promise<boolean> =>
    new Promise((resolve) => {
      const script = process.argv[1]
      if (script === undefined) return resolve(false)
      const env = { PATH: io.environment['PATH'], HOME: home }
      execFile(
        process.execPath,
        [script, 'companion', 'install', client, '--yes', '--json'],
        { env, cwd: home },
        (error) => resolve(error === null),
      )
    })

function programOnPath(io: Io, name: string): string | null {
  const folders = (io.environment['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'))
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}

function versionOf(program: string): string | null {
  try {
    const out = execFileSync(program, ['--version'], {
      encoding: 'utf8',
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return /\d+\.\d+[\w.-]*/.exec(out)?.[0] ?? null
  } catch {
    return null
  }
}

/** Only where the companion is installed, and only for points that were tried. */
async function switchPoints(io: Io, client: HookClient, { points }: Trial): Promise<readonly string[]> {
  const root = companionRoot(io)
  const options = readOptions(root)
  if (!existsSync(recordPath(root, client)) || options === null || points.length === 0) return []
  const named = ({ event }: Point): string => `${client}:${event}`
  const tried = new Set(points.map(named))
  const broken = points.filter(({ works }) => !works).map(named)
  const off = [...options.off.filter((one) => !tried.has(one)), ...broken]
  if (off.join() === options.off.join()) return off
  const path = join(root, optionsFile)
  await writeText(path, withOff(await textAt(path), off))
  return off
}

function reportText(title: string, version: string, trial: Trial, off: readonly string[], io: Io): string {
  if (trial.why !== undefined)
    return prose(`${title} ${version} could not be tried: ${safeLine(trial.why)}\n`, io.columns)
  const rows = trial.points.map(({ event, what, works, why }) => [
    works ? 'works' : 'fails',
    event,
    `${what}${why === undefined ? '' : ` (${safeLine(why)})`}`,
  ])
  const shown = table(['', 'hook', wraps('what')], rows, io.columns)
  const end = trial.points.every(({ works }) => works)
    ? `${title} ${version}: every hook that was tried works.\n`
    : off.length === 0
      ? `${title} ${version}: not every hook works; the companion says nothing at those.\n`
      : `${title} ${version}: switched off until they work again: ${off.join(', ')}.\n`
  return `${shown}${prose(end, io.columns)}`
}
