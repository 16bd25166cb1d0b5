// A session from one store into another: the same lines at the same places, the same blobs, byte for byte. What can be made again
// (checkpoints) is not copied. A session that is there already is not touched unless it is the beginning of the one that comes.
import { refused } from '../disk/failure.ts'
import { encode } from '../transcript/codec.ts'
import type { StoredEntry } from '../transcript/fact.ts'
import { seq, type Seq, type SessionId } from '../transcript/ids.ts'
import type { Lease, ReadItem, Result, Store } from '../transcript/store.ts'

export interface Copied {
  /** Entries and blobs that were written now; those that were there already are not counted. */
  readonly entries: number
  readonly blobs: number
}

/** So many lines are handed over at once. */
const batch = 200

/** Copies a session, or what has come to it since the last time. Both are left as they are where they say different things. */
export async function copySession(from: Store, to: Store, session: SessionId): Promise<Result<Copied>> {
  // Read through first: what cannot be taken whole leaves nothing behind, no part of it and no folder.
  const unfit = await unfitIn(from, session)
  if (unfit !== null) return unfit
  const leased = await to.lease(session)
  if (!leased.ok)
    return leased.why === 'failed'
      ? { ok: false, failure: leased.failure }
      : refused('session-open', `${leased.owner.who} is writing session ${session}; end it first`)
  const copied = await copyInto(from, to, leased.lease, leased.next)
  // A session that was not there before is taken away again: whoever finds a part of it takes it for the whole.
  if (!copied.ok && leased.next === null) {
    const removed = await to.remove(session)
    if (removed.ok) return copied
  }
  const released = await to.release(leased.lease)
  return copied.ok && !released.ok ? released : copied
}

async function copyInto(from: Store, to: Store, lease: Lease, next: Seq | null): Promise<Result<Copied>> {
  const { session } = lease
  if (next !== null) {
    const different = await differenceIn(from, to, session, next)
    if (different !== null) return different
  }
  const blobs = await copyBlobs(from, to, lease)
  if (!blobs.ok) return blobs
  let entries = 0
  let waiting: StoredEntry[] = []
  const write = async (): Promise<Result<object>> => {
    if (waiting.length === 0) return { ok: true }
    const done = await to.append(lease, waiting, waiting[0]!.seq, 'soon')
    entries += waiting.length
    waiting = []
    if (done.ok) return { ok: true }
    if (done.why === 'failed') return { ok: false, failure: done.failure }
    return refused(done.why, `session ${session} was written to by somebody else meanwhile; try again`)
  }
  for await (const item of from.read(session, next === null ? {} : { from: next })) {
    const unfit = refusalOf(session, item)
    if (unfit !== null) return unfit
    if (item.kind !== 'entry') continue
    waiting.push(item.entry)
    if (waiting.length >= batch) {
      const written = await write()
      if (!written.ok) return written
    }
  }
  const written = await write()
  if (!written.ok) return written
  const synced = await to.sync(lease)
  return synced.ok ? { ok: true, entries, blobs: blobs.count } : synced
}

async function unfitIn(from: Store, session: SessionId): Promise<ReturnType<typeof refusalOf>> {
  for await (const item of from.read(session)) {
    const unfit = refusalOf(session, item)
    if (unfit !== null) return unfit
  }
  return null
}

function refusalOf(session: SessionId, item: ReadItem) {
  if (item.kind === 'failed') return { ok: false as const, failure: item.failure }
  return item.kind === 'damage'
    ? refused('damaged', `session ${session} is damaged and cannot be copied whole: ${item.damage.what}`)
    : null
}

/** What is there must be the beginning of what comes. */
async function differenceIn(from: Store, to: Store, session: SessionId, next: Seq) {
  const other = refused('exists', `there is another session ${session}, which says something else`)
  const theirs = from.read(session, { to: seq(next - 1) })[Symbol.asyncIterator]()
  try {
    for await (const item of to.read(session)) {
      if (item.kind === 'failed') return { ok: false as const, failure: item.failure }
      const same = await theirs.next()
      if (item.kind !== 'entry' || same.done === true || same.value.kind !== 'entry') return other
      if (encode(item.entry) !== encode(same.value.entry)) return other
    }
    return (await theirs.next()).done === true ? null : other
  } finally {
    // Whoever stops reading in the middle closes what is read.
    await theirs.return?.()
  }
}

async function copyBlobs(from: Store, to: Store, lease: Lease): Promise<Result<{ readonly count: number }>> {
  const listed = await from.blobs(lease.session)
  if (!listed.ok) return listed
  const there = await to.blobs(lease.session)
  if (!there.ok) return there
  const known = new Set(there.names)
  let count = 0
  for (const name of listed.names) {
    if (known.has(name)) continue
    const read = await from.getBlob(lease.session, name)
    if (!read.ok) return read
    const put = await to.putBlob(lease, name, read.bytes)
    if (!put.ok) return put
    count++
  }
  return { ok: true, count }
}
