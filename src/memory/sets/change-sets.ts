// Making a change set that was judged (`keeping/apply`), finishing one that was broken off, and taking one back. What is new
// is written before anything is removed, so that even between the two nothing is missing. Only bytes that are still what the
// set was made from are changed: what somebody else wrote meanwhile stays.
import { refused } from '../../disk/failure.ts'
import { dirname } from 'node:path'
import type { Result } from '../../disk/fs.ts'
import { readBytes, shaOf } from '../files.ts'
import { keepIndex } from '../keeping/index-keeping.ts'
import { alone } from '../keeping/alone.ts'
import type { Keeper } from '../keeping/keeper.ts'
import { clearLeftovers } from '../keeping/leftovers.ts'
import type { Removed, Written } from '../keeping/records.ts'
import { readVersion } from '../keeping/versions.ts'
import { commit, doneSets, finished, pending, type ChangeSet, type SetChange } from './journal.ts'

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
    const changes: SetChange[] = []
    for (const { file, before: old, after, head, by } of target.changes) {
      const now = await shaNow(keeper, file)
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
  const read = await readBytes(keeper.fs, keeper.place.root, file)
  if (!read.ok && read.failure.code !== 'not-found') return read
  const now = read.ok ? shaOf(read.bytes) : null
  if (now !== before && now !== after) return { ok: true }
  if (!isNoted(keeper.ledger.versionsOf(file).at(-1), set, change)) {
    const noted = await keeper.ledger.append(recordOf(set, change), keeper.unique)
    if (!noted.ok) return noted
  }
  if (now === after) return { ok: true }
  const text = after === null ? { ok: true as const, text: null } : await readVersion(keeper, after)
  if (!text.ok) return text
  const { put } = await import('../keeping/put.ts')
  return await put(keeper, file, text.text, read.ok ? read.stat.mark : null)
}

const isNoted = (last: Written | Removed | undefined, set: ChangeSet, { after }: SetChange): boolean =>
  last !== undefined &&
  last.at === set.at &&
  last.via === set.via &&
  (last.do === 'write' ? last.sha === after : after === null)

function recordOf({ at, via }: ChangeSet, { file, before, after, head, by }: SetChange) {
  if (after === null) return { do: 'remove' as const, at, file, before: before ?? '', by, via }
  return { do: 'write' as const, at, file, sha: after, before, head: head ?? noHead, by, via }
}
const noHead = { name: '', description: '', type: null, triggers: [], supersedes: [], expires: null }

async function shaNow(keeper: Keeper, file: string): Promise<Result<{ sha: string | null }>> {
  const read = await readBytes(keeper.fs, keeper.place.root, file)
  if (read.ok) return { ok: true, sha: shaOf(read.bytes) }
  return read.failure.code === 'not-found' ? { ok: true, sha: null } : read
}
