// Where a command stands: the user's folder, the project, the settings in force and who answers. Every command that
// needs more than its words begins here.
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { machineFileSystem } from '../../disk/fs.ts'
import type { Access } from '../../preset.ts'
import { projectOf, type Project } from '../../preset/project.ts'
import { loadSettings, type LoadedSettings } from '../../settings/load.ts'
import type { Settings } from '../../settings/schema.ts'
import { findAccess } from './access.ts'
import { exits, refuse, type Refusal } from '../exit-codes.ts'
import { settingsFiles } from './files.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { trustedFolders } from './trust.ts'

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
  readonly loaded: LoadedSettings
  readonly settings: Settings
  readonly access: Access | null
  readonly accessFrom: string
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
  const folder = resolve(io.cwd, flags.cwd ?? '.')
  const found = await projectOf(fs, folder)
  if (!found.ok) return refuse(exits.usage, `there is no folder to work in: ${found.failure.message}`)
  const { project } = found
  const { folders, problem } = await trustedFolders(fs, home)
  const trusted = flags.trust === true || folders.includes(project.root)
  const loaded = await loadSettings({
    files: settingsFiles(fs),
    home,
    project: project.root,
    trusted,
    managed: managedFile,
    environment: io.environment,
    flags: flags.settings ?? {},
  })
  const { access, from, problems } = await findAccess(fs, home, io.environment, loaded.settings)
  const unread = loaded.unread.map(
    (file) =>
      `${file} was not read: this folder is not trusted. Look at it, then run pal trust (or --trust once)`,
  )
  return {
    ok: true,
    io,
    home,
    project,
    trusted,
    loaded,
    settings: loaded.settings,
    access,
    accessFrom: from,
    problems: [
      ...(problem === null ? [] : [problem]),
      ...loaded.problems.map(
        ({ file, key, message }) => `${file}: ${key === null ? '' : `${key} `}${message}`,
      ),
      ...problems,
      ...unread,
    ],
  }
}

export function showProblems(place: Workplace): void {
  for (const problem of place.problems) place.io.err(`pal: ${safeLine(problem)}\n`)
}

export const uniqueText = (): string => randomUUID()
