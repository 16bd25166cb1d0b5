// A store over another one that it only reads: what is written stays in memory and ends with the process. A session of
// the other goes on here from its last entry, so that a state folder that cannot be written to is no end of the work.
import { refused } from '../disk/failure.ts'
import { after, type Seq, type SessionId } from '../transcript/ids.ts'
import type { LeaseOutcome, ReadItem, Result, SessionInfo, Store } from '../transcript/store.ts'
import { inMemoryStore } from './in-memory.ts'

export function unsavedStore(base: Store): Store {
  const memory = inMemoryStore()
  /** The last entry of a session of the other store, as it was when it was opened here; null where it had none. */
  const ends = new Map<SessionId, Seq | null>()

  const endOf = async (session: SessionId): Promise<Seq | null> => {
    for await (const item of base.readBack(session)) if (item.kind === 'entry') return item.entry.seq
    return null
  }
  const isBelow = (session: SessionId, place: Seq): boolean => {
    const end = ends.get(session)
    return end === undefined || (end !== null && place <= end)
  }

  return {
    list: async function* (only?: SessionId): AsyncIterable<Result<SessionInfo>> {
      const own = new Set<SessionId>()
      for await (const info of memory.list(only)) {
        if (info.ok) own.add(info.session)
        yield info
      }
      for await (const info of base.list(only)) if (!info.ok || !own.has(info.session)) yield info
    },
    owners: (sessions) => memory.owners(sessions),
    lease: async (session): Promise<LeaseOutcome> => {
      const leased = await memory.lease(session)
      if (!leased.ok || leased.next !== null) return leased
      if (!ends.has(session)) ends.set(session, await endOf(session))
      const end = ends.get(session) ?? null
      return end === null ? leased : { ...leased, next: after(end) }
    },
    release: (lease) => memory.release(lease),
    append: async (lease, entries, expected, durability) => {
      const end = ends.get(lease.session) ?? null
      // An empty session takes any first place; this one is not empty.
      if (end !== null && expected <= end) return { ok: false, why: 'seq-taken', next: after(end) }
      return memory.append(lease, entries, expected, durability)
    },
    sync: (lease) => memory.sync(lease),
    read: (session, range) =>
      joined(bounded(base.read(session, range), session, isBelow), memory.read(session, range)),
    readBack: (session, before) =>
      joined(memory.readBack(session, before), bounded(base.readBack(session, before), session, isBelow)),
    putBlob: (lease, name, bytes) => memory.putBlob(lease, name, bytes),
    getBlob: async (session, blob, part) => {
      const own = await memory.getBlob(session, blob, part)
      return own.ok ? own : base.getBlob(session, blob, part)
    },
    blobs: async (session) => {
      const [own, kept] = [await memory.blobs(session), await base.blobs(session)]
      if (!own.ok || !kept.ok) return own.ok ? kept : own
      return { ok: true, names: [...new Set([...own.names, ...kept.names])].sort() }
    },
    putCheckpoint: async (lease, checkpoint) => {
      const end = ends.get(lease.session) ?? null
      // Of what the other store holds alone: it is a short cut, and nothing is kept.
      return end !== null && checkpoint.upTo <= end ? { ok: true } : memory.putCheckpoint(lease, checkpoint)
    },
    getCheckpoint: async (session) => {
      const own = await memory.getCheckpoint(session)
      if (own !== null) return own
      const kept = await base.getCheckpoint(session)
      return kept !== null && isBelow(session, kept.upTo) ? kept : null
    },
    remove: async (session) => {
      if ((ends.get(session) ?? null) !== null || (await endOf(session)) !== null)
        return refused(
          'read-only',
          `session ${session} is kept on disk and only read here; it was not deleted`,
        )
      return memory.remove(session)
    },
  }
}

/** What another process has written since is not part of it. */
async function* bounded(
  items: AsyncIterable<ReadItem>,
  session: SessionId,
  isBelow: (session: SessionId, place: Seq) => boolean,
): AsyncIterable<ReadItem> {
  for await (const item of items) if (item.kind !== 'entry' || isBelow(session, item.entry.seq)) yield item
}

/** One after the other; a session that only one of them knows is whole all the same. */
async function* joined(
  first: AsyncIterable<ReadItem>,
  second: AsyncIterable<ReadItem>,
): AsyncIterable<ReadItem> {
  let missing: ReadItem | null = null
  for await (const item of first) {
    if (isMissing(item)) missing = item
    else yield item
  }
  for await (const item of second) {
    if (!isMissing(item)) yield item
    else if (missing !== null) yield item
  }
}

const isMissing = (item: ReadItem): boolean =>
  item.kind === 'failed' && item.failure.code === 'no-such-session'
