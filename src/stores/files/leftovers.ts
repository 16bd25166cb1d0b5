// What a crash leaves in the folder of a project and nobody needs: temporary files that never became the file they were
// meant for, and folders of sessions that hold nothing but a lock. Young ones may be somebody's work of this moment.
import { join } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { isTemporaryName } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { sessionId, type SessionId } from '../../transcript/ids.ts'
import type { Result } from '../../transcript/store.ts'

export interface Leftover {
  readonly what: 'temporary file' | 'empty session' | 'cut fork'
  readonly path: string
  readonly bytes: number
  /** Of an empty session or a fork. */
  readonly session: SessionId | null
}

export interface LeftoverPlace {
  readonly fs: FileSystem
  /** The project's folder in the state folder, and its sessions. */
  readonly folder: string
  readonly sessions: string
  readonly now: number
}

const lockFolder = 'lock'
/** Temporary files lie beside what they become: nowhere deeper than a result of a tool or an epoch of a lock. */
const deepest = 4

export async function leftoversOf(place: LeftoverPlace): Promise<Result<{ readonly found: Leftover[] }>> {
  return attempt(`looking through ${place.folder}`, async () => {
    const found: Leftover[] = []
    await gather(place, place.folder, 0, found)
    return { found }
  })
}

async function gather(place: LeftoverPlace, folder: string, depth: number, found: Leftover[]): Promise<void> {
  const { fs, sessions } = place
  for (const { name, kind } of await entriesOf(fs, folder)) {
    const path = join(folder, name)
    if (kind !== 'folder') {
      const bytes = isTemporaryName(name) ? await oldBytes(place, path) : null
      if (bytes !== null) found.push({ what: 'temporary file', path, bytes, session: null })
      continue
    }
    if (folder === sessions && (await isEmptySession(place, path)))
      found.push({ what: 'empty session', path, bytes: 0, session: sessionId(name) })
    else if (depth < deepest) await gather(place, path, depth + 1, found)
  }
}

/** Its size, or null where it is young or gone. */
async function oldBytes({ fs, now }: LeftoverPlace, path: string): Promise<number | null> {
  const stat = await attempt('looking', () => fs.stat(path))
  return stat.ok && now - stat.modifiedMs > defaults.store.leftoverMs ? stat.bytes : null
}

async function isEmptySession(place: LeftoverPlace, path: string): Promise<boolean> {
  const entries = await entriesOf(place.fs, path)
  if (!entries.every(({ name }) => name === lockFolder || isTemporaryName(name))) return false
  return (await oldBytes(place, path)) !== null
}

/** A folder that went away meanwhile holds nothing. */
async function entriesOf(fs: FileSystem, folder: string): ReturnType<FileSystem['entries']> {
  const listed = await attempt('listing', async () => ({ entries: await fs.entries(folder) }))
  return listed.ok ? listed.entries : []
}

/** All bytes of a session: its transcript and what lies beside it. */
export async function bytesIn(fs: FileSystem, folder: string): Promise<number> {
  let bytes = 0
  for (const { name, kind } of await entriesOf(fs, folder)) {
    const path = join(folder, name)
    const stat = kind === 'folder' ? null : await attempt('looking', () => fs.stat(path))
    bytes += kind === 'folder' ? await bytesIn(fs, path) : stat?.ok === true ? stat.bytes : 0
  }
  return bytes
}
