// Where a search takes place: a folder that the gate lets through, or one file in it.
import type { OrWhy } from '../../disk/failure.ts'
import { basename, dirname, join, relative } from 'node:path'
import { statIfThere, type PathGate } from '../files/path-gate.ts'
import type { ToolEnv } from '../tool.ts'

export interface SearchOptions {
  readonly gate: PathGate
  /** The path of ripgrep, or null to search without it. */
  readonly ripgrep: () => Promise<string | null>
}

export interface SearchPlace {
  readonly folder: string
  /** Only this file of the folder. */
  readonly file: string | null
  /** Files there that wait for the user's word, by their real paths. */
  readonly withheld: ReadonlySet<string>
  /** Whether a path of the folder must not be read: what holds keys, or waits for the user. */
  readonly isKept: (path: string) => boolean
  /** A path of the folder as it is shown: from the working folder where it lies in there. */
  readonly shown: (path: string) => string
}

export async function searchPlace(
  options: SearchOptions,
  env: ToolEnv,
  path = '.',
): Promise<OrWhy<SearchPlace>> {
  const located = await options.gate.locate(env.cwd, path)
  if (!located.ok) return { ok: false, why: located.failure.message }
  const kind = (await statIfThere(options.gate.fs, located.path))?.kind
  if (kind === undefined) return { ok: false, why: `${path} was not found. Find it with Glob.` }
  if (kind !== 'folder' && kind !== 'file')
    return { ok: false, why: `${path} is neither a file nor a folder.` }
  const folder = kind === 'folder' ? located.path : dirname(located.path)
  const withheld = await options.gate.withheld(located.path)
  return {
    ok: true,
    folder,
    file: kind === 'folder' ? null : basename(located.path),
    withheld,
    isKept: (name) => options.gate.isHidden(join(folder, name)) || withheld.has(join(folder, name)),
    shown(name) {
      const way = relative(env.cwd, join(folder, name))
      return way.startsWith('..') ? join(folder, name) : way
    },
  }
}
