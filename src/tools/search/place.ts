// Where a search takes place: a folder that the gate lets through, or one file in it.
import { basename, dirname } from 'node:path'
import type { PathGate } from '../files/path-gate.ts'
import { statIfThere } from '../files/path-gate.ts'
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
}

export async function searchPlace(
  options: SearchOptions,
  env: ToolEnv,
  path = '.',
): Promise<({ readonly ok: true } & SearchPlace) | { readonly ok: false; readonly why: string }> {
  const located = await options.gate.locate(env.cwd, path)
  if (!located.ok) return { ok: false, why: located.failure.message }
  const kind = (await statIfThere(options.gate.fs, located.path))?.kind
  if (kind === 'folder') return { ok: true, folder: located.path, file: null }
  if (kind === 'file') return { ok: true, folder: dirname(located.path), file: basename(located.path) }
  return {
    ok: false,
    why:
      kind === undefined
        ? `${path} was not found. Find it with Glob.`
        : `${path} is neither a file nor a folder.`,
  }
}
