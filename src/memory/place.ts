// Where memories lie. Below the user's folder of this program (`home`):
//
//   memory/                             the user's, for every project           state in memory-state/
//   projects/<slug>/memory/             the project's, shared by its worktrees  state in projects/<slug>/memory-state/
//   agent-memory/<type>/                an agent's, for every project
// and in the project:
//   .palimpsest/memory/                 the team's, committed; state in projects/<slug>/team-memory-state/
//   .palimpsest/agent-memory/<type>/    an agent's, committed; …-local/<type>/ not committed
//
// The project's folder can be moved by the environment or the user's own settings, never by a project. What
// this program knows about memories always lies in `home`, whoever may write the memories themselves.
import { isAbsolute, join, normalize, parse, resolve, sep, basename, dirname } from 'node:path'
import { safeName } from '../disk/safe-name.ts'
import type { MemoryPlace } from './memory.ts'
import { attempt, type FileSystem, type OrWhy } from '../disk/fs.ts'
import { readSmall } from '../disk/small-file.ts'

export interface PlaceSources {
  readonly home: string
  readonly userHome: string
  /** Names the project; worktrees of one repository have the same. */
  readonly slug: string
  readonly projectRoot: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** From the user's own or managed settings. */
  readonly directory?: string | undefined
}

const directoryVariable = 'PALIMPSEST_MEMORY_DIRECTORY'
/** Set where the program runs on a machine that is not the user's, and where memories lie there. */
export const remoteVariable = 'PALIMPSEST_REMOTE'
const remoteDirectoryVariable = 'PALIMPSEST_REMOTE_MEMORY_DIRECTORY'

export type Placed = OrWhy<{ readonly places: MemoryPlaces }>

export interface MemoryPlaces {
  readonly user: MemoryPlace
  readonly project: MemoryPlace
  readonly team: MemoryPlace
}

export function memoryPlaces(sources: PlaceSources): Placed {
  const { environment, slug, projectRoot } = sources
  const given = filled(environment[directoryVariable]) ?? filled(sources.directory)
  const remote = filled(environment[remoteDirectoryVariable])
  if (filled(environment[remoteVariable]) !== undefined && remote === undefined && given === undefined)
    return {
      ok: false,
      why: `this machine is remote and ${remoteDirectoryVariable} is not set, so memory is off`,
    }
  const base = remote === undefined ? sources.home : expanded(remote, sources.userHome)
  const moved = given === undefined ? null : expanded(given, sources.userHome)
  for (const path of [base, ...(moved === null ? [] : [moved])]) {
    const refused = rootRefusal(path, sources.userHome)
    if (refused !== null)
      return { ok: false, why: `${JSON.stringify(path)} cannot hold memories: ${refused}` }
  }
  const own = join(base, 'projects', slug)
  const root = moved ?? join(own, 'memory')
  return {
    ok: true,
    places: {
      user: { scope: 'user', root: join(base, 'memory'), state: join(base, 'memory-state') },
      project: {
        scope: 'project',
        root,
        // A folder of the user's choice may serve several projects, so what is known of it goes by its path.
        state: moved === null ? join(own, 'memory-state') : join(base, 'memory-states', safeName(moved)),
      },
      team: {
        scope: 'team',
        root: join(projectRoot, '.palimpsest', 'memory'),
        state: join(own, 'team-memory-state'),
      },
    },
  }
}

/** The place of a folder that agents of one type keep; what is known of it goes by its path. */
export const agentPlaceAt = (home: string, root: string): MemoryPlace => ({
  scope: 'agent',
  root,
  state: join(home, 'agent-memory-state', safeName(root)),
})

/** Why a path can be no folder of memories; null when it can. Checked as text, before anything is looked up. */
export function rootRefusal(path: string, userHome: string): string | null {
  if (path.includes('\0')) return 'it contains a NUL'
  if (/^(?:\\\\|\/\/)/.test(path)) return 'it lies on another machine'
  if (/^[A-Za-z]:[\\/]*$/.test(path)) return 'it is a whole drive'
  if (!isAbsolute(path)) return 'it is not an absolute path'
  if (path !== normalize(path) && `${path}${sep}` !== normalize(`${path}${sep}`))
    return 'it is not written plainly'
  const parts = path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((part) => part !== '')
  if (parts.length < 2) return 'it is too near to the root'
  if (resolve(path) === resolve(userHome)) return 'it is the home folder itself'
  return null
}

const expanded = (path: string, userHome: string): string =>
  path.startsWith('~/') ? join(userHome, path.slice(2)) : path
const filled = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : text

/** Longest of the small files git keeps such paths in. */
const pathFileBytes = 4096

/**
 * The root of the main worktree for a folder that holds `.git`; the folder itself where there is no other. A worktree says in
 * its `.git` file where its repository is; that is believed only if the repository names this very worktree too, since
 * anybody can write a file that points at somebody else's repository, and would read its memories.
 */
export async function sharedRoot(fs: FileSystem, root: string): Promise<string> {
  const gitFile = join(root, '.git')
  const pointer = /^gitdir: (.+)$/m.exec((await smallText(fs, gitFile)) ?? '')?.[1]
  if (pointer === undefined) return root
  const own = await realOf(fs, resolve(root, pointer.trim()))
  if (own === null) return root
  const common = (await smallText(fs, join(own, 'commondir')))?.trim()
  const back = (await smallText(fs, join(own, 'gitdir')))?.trim()
  if (common === undefined || back === undefined) return root
  const shared = await realOf(fs, resolve(own, common))
  const named = await realOf(fs, resolve(own, back))
  const isOurs = named !== null && named === (await realOf(fs, gitFile))
  if (shared === null || !isOurs || dirname(own) !== join(shared, 'worktrees')) return root
  return basename(shared) === '.git' ? dirname(shared) : shared
}

async function realOf(fs: FileSystem, path: string): Promise<string | null> {
  const found = await attempt('looking', async () => ({ path: await fs.realPath(path) }))
  return found.ok ? found.path : null
}

async function smallText(fs: FileSystem, path: string): Promise<string | null> {
  const read = await readSmall(fs, path, pathFileBytes)
  return read.ok ? read.bytes.toString('utf8') : null
}
