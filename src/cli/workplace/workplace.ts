// Where a command works: the user's folder, the project, the settings in force and the model. Every command that needs
// more than its arguments begins here.
import { randomUUID } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { attempt, machineFileSystem, type FileSystem } from '../../disk/fs.ts'
import { ownershipOf } from '../../disk/owner.ts'
import type { ContentRefusal } from '../../memory/instructions/read.ts'
import { memoryPlaces, rootRefusal } from '../../memory/place.ts'
import type { Access } from '../../preset.ts'
import { sweepSandboxOf } from '../../preset/permission.ts'
import { projectOf, type Project } from '../../preset/project.ts'
import { loadSettings, type LoadedSettings } from '../../settings/load.ts'
import type { Settings } from '../../settings/schema.ts'
import { exits, refuse, type Refusal } from '../exit-codes.ts'
import { isUnreadableName, unreadableName, type Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { gateOf, type FolderTrust, type Gate } from '../trust/gate.ts'
import { readTrust, type TrustPlace } from '../trust/pins.ts'
import { findAccess } from './access.ts'
import { settingsFiles } from './files.ts'
import { hookProblems, ruleProblems } from './rule-problems.ts'

/** What every command about a project takes. */
export interface ProjectFlags {
  readonly json?: boolean | undefined
  readonly cwd?: string | undefined
}

export interface WorkplaceFlags {
  readonly cwd?: string | undefined
  /** For this run only; `pal trust` keeps it. */
  readonly trust?: boolean | undefined
  readonly settings?: Settings | undefined
}

export interface Workplace {
  readonly ok: true
  readonly io: Io
  readonly home: string
  readonly project: Project
  readonly trusted: boolean
  /** What was decided about this folder, and where that is kept. */
  readonly trust: FolderTrust
  readonly trustPlace: TrustPlace
  /** Asked before anything of the project acts. */
  readonly gate: Gate
  readonly loaded: LoadedSettings
  readonly settings: Settings
  readonly access: Access | null
  readonly accessFrom: string
  /** Why the provider of the model cannot be reached, and what helps; null where it can. */
  readonly accessMissing: string | null
  /** Everything found wrong on the way, one line each. */
  readonly problems: readonly string[]
}

export const homeOf = (io: Io): string => {
  const moved = io.environment['PALIMPSEST_HOME']
  return moved === undefined || moved === '' ? join(io.userHome, '.palimpsest') : resolve(io.cwd, moved)
}

/** Of whoever looks after the machine; only they can write there. */
const managedFile = '/etc/palimpsest/settings.json'

export async function openWorkplace(io: Io, flags: WorkplaceFlags): Promise<Workplace | Refusal> {
  const fs = machineFileSystem
  const home = homeOf(io)
  const ownership = await ownershipOf(home)
  if (ownership?.isOurs === false)
    return refuse(
      exits.failed,
      `${home} belongs to another user (uid ${ownership.owner}), so it cannot be trusted. Run pal as that user, or set PALIMPSEST_HOME to a folder of your own`,
    )
  const folder = resolve(io.cwd, flags.cwd ?? '.')
  const found = await projectOf(fs, folder)
  if (!found.ok)
    return refuse(
      exits.usage,
      isUnreadableName(folder)
        ? `${unreadableName('the working folder', folder)}. Rename it, or start pal in another folder`
        : `there is no folder to work in: ${found.failure.message}`,
    )
  const { project } = found
  // Before anything of the project is read: what a killed run left there must not act.
  const left = await sweepSandboxOf({ home, project, environment: io.environment })
  const trustPlace = { fs, home, root: project.root, slug: project.slug, unique: uniqueText }
  const kept = await readTrust(trustPlace)
  const isForRun = flags.trust === true && kept.standing !== 'trusted'
  const trust: FolderTrust = isForRun ? { ...kept, standing: 'this run' } : kept
  const gate = gateOf(flags.trust === true ? { ...trust, standing: 'this run' } : trust)
  const loaded = await loadSettings({
    files: settingsFiles(fs, gate),
    home,
    project: project.root,
    managed: managedFile,
    environment: io.environment,
    flags: flags.settings ?? {},
  })
  const memory = await judgedMemory(
    { fs, home, userHome: io.userHome, environment: io.environment },
    loaded.settings,
  )
  const { access, from, problems, missing } = await findAccess(fs, home, io.environment, loaded.settings)
  return {
    ok: true,
    io,
    home,
    project,
    trusted: trust.standing === 'trusted' || trust.standing === 'this run',
    trust,
    trustPlace,
    gate,
    loaded,
    settings: memory.settings,
    access,
    accessFrom: from,
    accessMissing: missing,
    problems: [
      ...(ownership?.isOpen === true
        ? [
            `${home} can be written to by others, who could change settings, hooks and approvals; run chmod go-w ${home}`,
          ]
        : []),
      ...left.map((line) => `left over from a run that was killed: ${line}`),
      ...memory.problems,
      ...trust.problems,
      ...loaded.problems.map(
        ({ file, key, message }) => `${file}: ${key === null ? '' : `${key} `}${message}`,
      ),
      ...ruleProblems(loaded.rules, io.userHome),
      ...hookProblems(loaded.settings.hooks),
      ...problems,
    ],
  }
}

/** For whoever reads instruction files of the project. */
export const instructionRefusal =
  ({ gate }: Pick<Workplace, 'gate'>): ContentRefusal =>
  ({ path, bytes }, lies) =>
    gate.refusal(lies === 'inside' ? 'instructions' : 'include', path, bytes)

/** What of the project was left out so far, each once. */
export function sayLeftOut({ io, gate }: Pick<Workplace, 'io' | 'gate'>): void {
  const all = gate.leftOut()
  for (const { says } of all.slice(0, shownLeftOut)) io.err(`pal: ${safeLine(says)}\n`)
  if (all.length > shownLeftOut)
    io.err(`pal: and ${all.length - shownLeftOut} more; pal trust --list shows them\n`)
}
const shownLeftOut = 20

export function showProblems(place: Workplace): void {
  for (const problem of place.problems) place.io.err(`pal: ${safeLine(problem)}\n`)
}

export const uniqueText = (): string => randomUUID()

// ---- the folder of memories ----

interface MemoryFolderPlace {
  readonly fs: FileSystem
  readonly home: string
  readonly userHome: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * Whether the folder that memories were moved to can hold them. The place itself is judged by its path as it is written,
 * and here by where its parents really lead: a link must not bring memories to a root, a drive or the home folder itself.
 * Where it cannot, memory is off for this run, and that is said.
 */
async function judgedMemory(
  { fs, home, userHome, environment }: MemoryFolderPlace,
  settings: Settings,
): Promise<{ readonly settings: Settings; readonly problems: readonly string[] }> {
  if (settings.memory === false) return { settings, problems: [] }
  const off = (why: string) => ({
    settings: { ...settings, memory: false },
    problems: [`memory is off: ${why}`],
  })
  const placed = memoryPlaces({
    home,
    userHome,
    slug: 'any',
    projectRoot: home,
    environment,
    directory: settings.memoryDirectory,
  })
  if (!placed.ok) return off(placed.why)
  const { root } = placed.places.project
  const real = await realPlace(fs, root)
  const refused = real === root ? null : rootRefusal(real, await realPlace(fs, userHome))
  return refused === null
    ? { settings, problems: [] }
    : off(`${JSON.stringify(root)} leads to ${JSON.stringify(real)}, which cannot hold memories: ${refused}`)
}

/** Where a path leads, also where its last parts are not there yet. */
async function realPlace(fs: FileSystem, path: string): Promise<string> {
  const missing: string[] = []
  for (let at = path; ; at = dirname(at)) {
    const real = await attempt('looking', async () => ({ path: await fs.realPath(at) }))
    if (real.ok) return join(real.path, ...missing)
    if (dirname(at) === at) return path
    missing.unshift(at.slice(dirname(at).length).replace(/^[/\\]/, ''))
  }
}
