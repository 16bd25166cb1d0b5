// Making a change set that was judged (`apply`), finishing one that was broken off, and taking one back. What is new
// is written before anything is removed, so that even between the two nothing is missing. Only bytes that are still what the
// set was made from are changed: what somebody else wrote meanwhile stays.
import { refused } from '../../disk/failure.ts'
import { dirname, join } from 'node:path'
import { attempt, makeFolders, syncFolder, unlessMissing, type Result } from '../../disk/fs.ts'
import { keepIndex } from './index-keeping.ts'
import { alone } from './alone.ts'
import { clearLeftovers, fileNow, put, versionText, type Keeper } from './keeper.ts'
import { changeRecord, type Removed, type Written } from './records.ts'
import { objectIn } from '../../transcript/json.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import type { MemoryHead, Provenance } from '../memory.ts'
import type { Writer } from '../memory-store.ts'
import { readSmall } from '../../disk/small-file.ts'

type Made = Result<{ set: ChangeSet; dropped: readonly string[] }>

/** Finishes a set that a process left half made. Cheap where there is none. */
export async function finishSet(keeper: Keeper): Promise<Result<{ set: ChangeSet | null }>> {
  const waits = await pending(keeper)
  if (!waits.ok || waits.set === null) return waits
  return await alone(keeper, () => finishPending(keeper))
}

/** Takes back the newest consolidation that stands, if nobody has changed its files since. */
export async function undoSet(keeper: Keeper, id: string): Promise<Made> {
  return await alone(keeper, async () => {
    const before = await finishPending(keeper)
    if (!before.ok) return before
    const done = await doneSets(keeper)
    if (!done.ok) return done
    const undone = new Set(done.sets.flatMap(({ undoes }) => (undoes === null ? [] : [undoes])))
    const target = done.sets.findLast((set) => set.via === 'dream' && !undone.has(set.id))
    if (target === undefined) return refused('not-found', 'there is nothing left to revert')
    if (target.isForgotten === true)
      return refused(
        'not-found',
        'something that the last consolidation changed was forgotten since, so it cannot be reverted as a whole; pal memory revert restores single memories',
      )
    const changes: SetChange[] = []
    for (const { file, before: old, after, head, by } of target.changes) {
      const now = await fileNow(keeper, file)
      if (!now.ok) return now
      if (now.sha !== after)
        return refused(
          'changed',
          `${file} was changed since, so this cannot be reverted as a whole; pal memory revert restores single memories`,
        )
      const known = old === null ? null : keeper.ledger.known(file, old)
      if (old !== null && known === null) return refused('not-found', `the version of ${file} is gone`)
      changes.push({ file, before: after, after: old, head: known?.head ?? head, by: known?.by ?? by })
    }
    const report = [`reverted ${target.id}`]
    return await makeSet(keeper, {
      id,
      at: keeper.clock.now(),
      via: 'revert',
      undoes: target.id,
      report,
      changes,
    })
  })
}

/** Makes a set whose changes may all be made; the caller is alone and has finished what was pending. */
export async function makeSet(keeper: Keeper, set: ChangeSet): Promise<Made> {
  const committed = await commit(keeper, set)
  if (!committed.ok) return committed
  return await complete(keeper, set)
}

/** Finishes what is pending, for one who is alone already. */
export async function finishPending(keeper: Keeper): Promise<Result<{ set: ChangeSet | null }>> {
  const waits = await pending(keeper)
  if (!waits.ok || waits.set === null) return waits
  const folders = new Set(waits.set.changes.map(({ file }) => dirname(file)))
  const cleared = await clearLeftovers(keeper, folders)
  if (!cleared.ok) return cleared
  const done = await complete(keeper, waits.set)
  return done.ok ? { ok: true, set: waits.set } : done
}

/** Does what of a set is not done yet; doing it twice changes nothing. */
async function complete(keeper: Keeper, set: ChangeSet): Promise<Made> {
  const ordered = [
    ...set.changes.filter(({ after }) => after !== null),
    ...set.changes.filter(({ after }) => after === null),
  ]
  for (const change of ordered) {
    const done = await carryOut(keeper, set, change)
    if (!done.ok) return done
  }
  const index = await keepIndex(keeper)
  if (!index.ok) return index
  const closed = await finished(keeper, set)
  return closed.ok ? { ok: true, set, dropped: index.dropped } : closed
}

async function carryOut(keeper: Keeper, set: ChangeSet, change: SetChange): Promise<Result<object>> {
  const { file, before, after } = change
  const now = await fileNow(keeper, file)
  if (!now.ok) return now
  if (now.sha !== before && now.sha !== after) return { ok: true }
  const text = await versionText(keeper, after)
  // A version that is gone was forgotten, and nobody waits for it.
  if (!text.ok) return text.failure.code === 'not-found' ? { ok: true } : text
  if (!isNoted(keeper.ledger.versionsOf(file).at(-1), set, change)) {
    const record = changeRecord({ ...change, at: set.at, via: set.via }, after, change.head)
    const noted = await keeper.ledger.append(record, keeper.unique)
    if (!noted.ok) return noted
  }
  return now.sha === after ? { ok: true } : await put(keeper, file, text.text, now.mark)
}

const isNoted = (last: Written | Removed | undefined, set: ChangeSet, { after }: SetChange): boolean =>
  last !== undefined &&
  last.at === set.at &&
  last.via === set.via &&
  (last.do === 'write' ? last.sha === after : after === null)

// The journal of a change set. Law: a set is made whole or not at all, even if the process dies at any write.
//
// Format. `set-under-way.json` beside the ledger, one JSON object, put there by a rename: from that moment on the set
// counts, and whoever opens the memories next finishes it. Finished, it is renamed into `sets/<time>-<id>.json`, which is
// what an undo reads. Texts are not in it: they lie among the versions, written before.
//
//   {"v":1,"id":"…","at":…,"via":"dream","undoes":null,"told":["…"],
//    "changes":[{"file":"a.md","before":"<sha>"|null,"after":"<sha>"|null,"head":{…}|null,"by":{…}}]}
//
// One that changed what was forgotten since says "isForgotten":true, has no changes and cannot be taken back.

export interface SetChange {
  readonly file: string
  /** Hashes of what stood there and of what shall; null for no file. */
  readonly before: string | null
  readonly after: string | null
  readonly head: MemoryHead | null
  readonly by: Provenance
}

interface ChangeSet {
  readonly id: string
  readonly at: number
  readonly via: Writer
  /** The set that this one takes back. */
  readonly undoes: string | null
  /** What was done and why, a line each, for people. */
  readonly report: readonly string[]
  readonly changes: readonly SetChange[]
  /** Something it changed was forgotten: what it did is not said any more. */
  readonly isForgotten?: boolean | undefined
}

const underWay = ({ place }: Keeper): string => join(place.state, 'set-under-way.json')
const folderOf = ({ place }: Keeper): string => join(place.state, 'sets')

/** From here on the set counts. */
export async function commit(keeper: Keeper, set: ChangeSet): Promise<Result<object>> {
  return await writeSet(keeper, underWay(keeper), set)
}

async function writeSet(keeper: Keeper, path: string, set: ChangeSet): Promise<Result<object>> {
  const bytes = Buffer.from(`${JSON.stringify({ ...set, v: 1 })}\n`)
  return await replaceFile(keeper.fs, path, bytes, {
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
  const listed = await setNames(keeper)
  if (!listed.ok) return listed
  const sets: ChangeSet[] = []
  for (const name of listed.names.slice(-defaults.consolidation.setsRead)) {
    const read = await readSet(keeper, join(folderOf(keeper), name))
    if (!read.ok) return read
    if (read.set !== null) sets.push(read.set)
  }
  return { ok: true, sets }
}

async function setNames(keeper: Keeper): Promise<Result<{ names: readonly string[] }>> {
  return await attempt('listing the change sets', async () => {
    const names = (await unlessMissing(keeper.fs.names(folderOf(keeper)))) ?? []
    return {
      names: names
        .filter((name) => /^\d+-[\w-]+\.json$/.test(name))
        .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    }
  })
}

/** Sets that were made say nothing of these files any more, nor what they did: their reports quote memories. */
export async function withoutWords(keeper: Keeper, files: ReadonlySet<string>): Promise<Result<object>> {
  const listed = await setNames(keeper)
  if (!listed.ok) return listed
  for (const name of listed.names) {
    const path = join(folderOf(keeper), name)
    const read = await readSet(keeper, path)
    if (!read.ok && read.failure.code !== 'damaged') return read
    const set = read.ok ? read.set : null
    const isTouched = set?.changes.some(({ file }) => files.has(file)) === true
    if (set !== null && !isTouched && set.report.length === 0) continue
    const done =
      set === null
        ? await attempt('removing a damaged set', async () => void (await removeIfThere(keeper.fs, path)))
        : await writeSet(keeper, path, {
            ...set,
            report: [],
            ...(isTouched ? { changes: [], isForgotten: true } : {}),
          })
    if (!done.ok) return done
  }
  return { ok: true }
}

async function archive(keeper: Keeper, name: string): Promise<Result<object>> {
  const { fs, place } = keeper
  return await attempt('closing a change set', async () => {
    await makeFolders(fs, folderOf(keeper), defaults.memory.folderMode)
    await fs.rename(underWay(keeper), join(folderOf(keeper), name))
    await syncFolder(fs, folderOf(keeper))
    await syncFolder(fs, place.state)
  })
}

async function readSet(keeper: Keeper, path: string): Promise<Result<{ set: ChangeSet | null }>> {
  const read = await readSmall(keeper.fs, path, defaults.consolidation.setBytes)
  if (!read.ok) return read.failure.code === 'not-found' ? { ok: true, set: null } : read
  const set = setIn(read.bytes.toString('utf8'))
  return set === null
    ? refused('damaged', `${path} is not a change set; it was set aside`)
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
