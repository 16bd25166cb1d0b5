// Whether the folder that memories were moved to can hold them. The place itself is judged by its path as it is written,
// and here by where its parents really lead: a link must not bring memories to a root, a drive or the home folder itself.
// Where it cannot, memory is off for this run, and that is said.
import { dirname, join } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { memoryPlaces, rootRefusal } from '../../memory/place/place.ts'
import type { Settings } from '../../settings/schema.ts'

export interface MemoryFolderPlace {
  readonly fs: FileSystem
  readonly home: string
  readonly userHome: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

export async function judgedMemory(
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
