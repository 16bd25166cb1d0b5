// The journal of a change set. Law: a set is made whole or not at all, even if the process dies at any write.
//
// Format. `set-under-way.json` beside the ledger, one JSON object, put there by a rename: from that moment on the set
// counts, and whoever opens the memories next finishes it. Finished, it is renamed into `sets/<time>-<id>.json`, which is
// what an undo reads. Texts are not in it: they lie among the versions, written before.
//
//   {"v":1,"id":"…","at":…,"via":"dream","undoes":null,"told":["…"],
//    "changes":[{"file":"a.md","before":"<sha>"|null,"after":"<sha>"|null,"head":{…}|null,"by":{…}}]}
import { objectIn } from '../../transcript/json.ts'
import { join } from 'node:path'
import { attempt, makeFolders, syncFolder, type Result } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Keeper } from '../keeping/keeper.ts'
import type { MemoryHead, Provenance } from '../memory.ts'
import type { Writer } from '../memory-store.ts'
import { readSmall } from '../../disk/small-file.ts'

export interface SetChange {
  readonly file: string
  /** Hashes of what stood there and of what shall; null for no file. */
  readonly before: string | null
  readonly after: string | null
  readonly head: MemoryHead | null
  readonly by: Provenance
}

export interface ChangeSet {
  readonly id: string
  readonly at: number
  readonly via: Writer
  /** The set that this one takes back. */
  readonly undoes: string | null
  /** What was done and why, a line each, for people. */
  readonly report: readonly string[]
  readonly changes: readonly SetChange[]
}

const underWay = ({ place }: Keeper): string => join(place.state, 'set-under-way.json')
const folderOf = ({ place }: Keeper): string => join(place.state, 'sets')

/** From here on the set counts. */
export async function commit(keeper: Keeper, set: ChangeSet): Promise<Result<object>> {
  const bytes = Buffer.from(`${JSON.stringify({ v: 1, ...set })}\n`)
  return await replaceFile(keeper.fs, underWay(keeper), bytes, {
    mode: defaults.memory.fileMode,
    unique: keeper.unique,
  })
}

/** The set that waits to be finished, or null. A journal that cannot be read is put aside and said. */
export async function pending(keeper: Keeper): Promise<Result<{ set: ChangeSet | null }>> {
  const read = await readSet(keeper, underWay(keeper))
  if (read.ok || read.failure.code !== 'damaged') return read
  const moved = await archive(keeper, `damaged-${keeper.unique()}.json`)
  return moved.ok ? { ok: false, failure: read.failure } : moved
}

/** Everything of it has been done. */
export const finished = (keeper: Keeper, { at, id }: ChangeSet): Promise<Result<object>> =>
  archive(keeper, `${at}-${id}.json`)

/** The sets that were made, oldest first. */
export async function doneSets(keeper: Keeper): Promise<Result<{ sets: readonly ChangeSet[] }>> {
  const listed = await attempt('listing the change sets', async () => ({
    names: await keeper.fs.names(folderOf(keeper)),
  }))
  if (!listed.ok) return listed.failure.code === 'not-found' ? { ok: true, sets: [] } : listed
  const names = listed.names
    .filter((name) => /^\d+-[\w-]+\.json$/.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
  const sets: ChangeSet[] = []
  for (const name of names.slice(-defaults.consolidation.setsRead)) {
    const read = await readSet(keeper, join(folderOf(keeper), name))
    if (!read.ok) return read
    if (read.set !== null) sets.push(read.set)
  }
  return { ok: true, sets }
}

async function archive(keeper: Keeper, name: string): Promise<Result<object>> {
  const { fs, place } = keeper
  return await attempt('closing a change set', async () => {
    await makeFolders(fs, folderOf(keeper), defaults.memory.folderMode)
    await fs.rename(underWay(keeper), join(folderOf(keeper), name))
    await syncFolder(fs, folderOf(keeper))
    await syncFolder(fs, place.state)
    return {}
  })
}

async function readSet(keeper: Keeper, path: string): Promise<Result<{ set: ChangeSet | null }>> {
  const read = await readSmall(keeper.fs, path, defaults.consolidation.setBytes)
  if (!read.ok) return read.failure.code === 'not-found' ? { ok: true, set: null } : read
  const set = setIn(read.bytes.toString('utf8'))
  return set === null
    ? { ok: false, failure: { code: 'damaged', message: `${path} is not a change set; it was set aside` } }
    : { ok: true, set }
}

function setIn(text: string): ChangeSet | null {
  const value = objectIn(text)
  const set = value as Partial<ChangeSet & { v: number }> | null
  const isWhole =
    set?.v === 1 && typeof set.id === 'string' && Number.isFinite(set.at) && Array.isArray(set.changes)
  if (!isWhole) return null
  // Sets of earlier versions have these lines under another key.
  const lines = (value as Readonly<Record<string, readonly string[]>>)['told']
  return { ...(set as ChangeSet), report: set.report ?? lines ?? [] }
}
