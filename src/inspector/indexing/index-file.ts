// An index on disk, in a folder for what may be thrown away, never in the session's own: reading a session writes nothing
// there. One file: a line that says what it is, the lists as JSON, then the columns. A file of another version, of another
// session, or with bytes that do not fit its checksum is passed over and made anew.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { SessionState } from '../../engine/state.ts'
import { attempt, makeFolders, type FileSystem } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import type { Checkpoint, Result } from '../../transcript/store.ts'
import { SessionIndex } from './index-builder.ts'
import type { IndexLists, IndexOptions } from './index-rows.ts'

/** Changes when rows or lists mean something else. */
const version = 4

export interface IndexPlace {
  readonly fs: FileSystem
  readonly folder: string
  readonly unique: () => string
}

interface Header {
  readonly version: number
  readonly session: string
  readonly listsBytes: number
  readonly entries: number
  readonly requests: number
  readonly sha256: string
}

export interface LoadedIndex {
  readonly lists: IndexLists
  readonly checkpoint: Checkpoint | null
  /** Makes the index once its fold has been restored. */
  readonly make: (options: IndexOptions, state: SessionState) => SessionIndex
}

/** `scope` tells sessions of different stores apart. */
const pathOf = (folder: string, scope: string, session: string): string =>
  join(folder, `${createHash('sha256').update(`${scope}\n${session}`).digest('hex').slice(0, 40)}.idx`)

export async function saveIndex(
  place: IndexPlace,
  scope: string,
  index: SessionIndex,
  checkpoint: Checkpoint | null,
): Promise<Result<object>> {
  const lists = deflateRawSync(JSON.stringify({ ...index.kept(), checkpoint }), { level: 1 })
  const body = Buffer.concat([lists, ...index.entries.bytes(), ...index.requests.bytes()])
  const header: Header = {
    version,
    session: index.lists.session,
    listsBytes: lists.length,
    entries: index.entries.length,
    requests: index.requests.length,
    sha256: createHash('sha256').update(body).digest('hex'),
  }
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body])
  const made = await attempt(`making ${place.folder}`, async () => {
    await makeFolders(place.fs, place.folder, 0o700)
    return {}
  })
  if (!made.ok) return made
  const path = pathOf(place.folder, scope, index.lists.session)
  return replaceFile(place.fs, path, bytes, { mode: 0o600, unique: place.unique })
}

/** Null where there is none that can be used, for whatever reason. */
export async function loadIndex(
  place: IndexPlace,
  scope: string,
  session: string,
): Promise<LoadedIndex | null> {
  const path = pathOf(place.folder, scope, session)
  const read = await attempt(`reading ${path}`, async () => ({ bytes: await readWhole(place.fs, path) }))
  return read.ok ? parsed(read.bytes, session) : null
}

async function readWhole(fs: FileSystem, path: string): Promise<Buffer> {
  const file = await fs.open(path, 'read')
  try {
    const { bytes: size } = await file.stat()
    const bytes = Buffer.alloc(size)
    let filled = 0
    while (filled < size) {
      const count = await file.read(bytes.subarray(filled), filled)
      if (count === 0) break
      filled += count
    }
    return bytes.subarray(0, filled)
  } finally {
    await file.close()
  }
}

function parsed(bytes: Buffer, session: string): LoadedIndex | null {
  const end = bytes.indexOf(0x0a)
  if (end < 0) return null
  try {
    const header = JSON.parse(bytes.toString('utf8', 0, end)) as Partial<Header>
    const body = bytes.subarray(end + 1)
    if (header.version !== version || header.session !== session) return null
    if (createHash('sha256').update(body).digest('hex') !== header.sha256) return null
    const { listsBytes = 0, entries = 0, requests = 0 } = header
    const kept = JSON.parse(inflateRawSync(body.subarray(0, listsBytes)).toString('utf8')) as IndexLists & {
      readonly checkpoint: Checkpoint | null
    }
    const { checkpoint, ...lists } = kept
    const columns = body.subarray(listsBytes)
    return {
      lists,
      checkpoint,
      make: (options, state) => {
        const index = new SessionIndex(session, options, lists, state)
        const used = index.entries.load(columns, entries) ?? 0
        index.requests.load(columns.subarray(used), requests)
        return index
      },
    }
  } catch {
    return null
  }
}
