// An index on disk, in a folder for what may be thrown away, never in the session's own: reading a session writes nothing
// there. One file: a line that says what it is, the lists as JSON, then the columns. A file of another version, of another
// session, or with bytes that do not fit its checksum is passed over and made anew.
import { objectIn } from '../../transcript/json.ts'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { attempt, makeFolders, readAt, reading, type FileSystem, type OpenFile } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import type { Checkpoint, Result } from '../../transcript/store.ts'
import type { SessionIndex } from './index-builder.ts'
import { entryTable, requestTable, type IndexLists, type IndexTables } from './index-rows.ts'

/** Changes when rows or lists mean something else. */
const version = 6

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
  readonly tables: IndexTables
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
  // The columns go to the disk from where they are: a second copy of them would be most of the memory there is.
  const body = (): Iterable<Uint8Array> => [lists, ...index.entries.bytes(), ...index.requests.bytes()]
  const sha256 = createHash('sha256')
  for (const part of body()) sha256.update(part)
  const header: Header = {
    version,
    session: index.lists.session,
    listsBytes: lists.length,
    entries: index.entries.length,
    requests: index.requests.length,
    sha256: sha256.digest('hex'),
  }
  const made = await attempt(`making ${place.folder}`, async () => ({
    done: await makeFolders(place.fs, place.folder, 0o700),
  }))
  if (!made.ok) return made
  const path = pathOf(place.folder, scope, index.lists.session)
  const parts = [Buffer.from(`${JSON.stringify(header)}\n`), ...body()]
  return replaceFile(place.fs, path, parts, { mode: 0o600, unique: place.unique })
}

/** Null where there is none that can be used, for whatever reason. */
export async function loadIndex(
  place: IndexPlace,
  scope: string,
  session: string,
): Promise<LoadedIndex | null> {
  const path = pathOf(place.folder, scope, session)
  const read = await attempt(`reading ${path}`, async () => ({
    loaded: await reading(place.fs, path, (file) => loadedFrom(file, session)),
  }))
  return read.ok ? read.loaded : null
}

async function loadedFrom(file: OpenFile, session: string): Promise<LoadedIndex | null> {
  const start = await readAt(file, 0, headerBytes)
  const end = start.indexOf(0x0a)
  if (end < 0) return null
  const header: Partial<Header> | null = objectIn(start.toString('utf8', 0, end))
  if (header?.version !== version || header.session !== session) return null
  const { listsBytes = 0, entries = 0, requests = 0 } = header
  const tables = { entries: entryTable(), requests: requestTable() }
  const { bytes: size } = await file.stat()
  const columns = tables.entries.bytesOf(entries) + tables.requests.bytesOf(requests)
  if (end + 1 + listsBytes + columns !== size) return null
  const sha256 = createHash('sha256')
  let at = end + 1
  const read = async (into: Uint8Array): Promise<void> => {
    for (let done = 0; done < into.length;) {
      const count = await file.read(into.subarray(done), at)
      if (count === 0) break
      done += count
      at += count
    }
    sha256.update(into)
  }
  const packed = Buffer.alloc(listsBytes)
  await read(packed)
  await tables.entries.load(entries, read)
  await tables.requests.load(requests, read)
  if (sha256.digest('hex') !== header.sha256) return null
  const kept = JSON.parse(inflateRawSync(packed).toString('utf8')) as IndexLists & {
    readonly checkpoint: Checkpoint | null
  }
  const { checkpoint, ...lists } = kept
  return { lists, checkpoint, tables }
}

/** Longer than any first line. */
const headerBytes = 4096
