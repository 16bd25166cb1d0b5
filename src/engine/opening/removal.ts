// Deleting a session. Others may stand on its entries: forks and branches read their beginning from it; and agents it
// started work for it. So it goes only when there are none, or together with them, the youngest first, and nothing goes
// while one of them is being written.
import { isKnown } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Result, Store } from '../../transcript/store.ts'

/** The sessions that are gone: others may keep things for them. */
export type Removed = Result<{ readonly sessions: readonly SessionId[] }>

export async function remove(store: Store, id: SessionId, withForks: boolean): Promise<Removed> {
  const found = await parents(store)
  if (!found.ok) return found
  const below = descendants(found.parents, id)
  if (below.length > 0 && !withForks) {
    const names = below.join(', ')
    const message = `session ${id} cannot be deleted: ${names} begin with its entries or work for it. Delete them first, or all together.`
    return { ok: false, failure: { code: 'has-forks', message } }
  }
  const all = [...below.reverse(), id]
  for (const session of all) {
    const free = await freeToGo(store, session)
    if (!free.ok) return free
  }
  for (const session of all) {
    const removed = await store.remove(session)
    if (!removed.ok) return removed
  }
  return { ok: true, sessions: all }
}

/** Asked of all before the first goes: half a family deleted helps nobody. */
async function freeToGo(store: Store, session: SessionId): Promise<Result<object>> {
  const leased = await store.lease(session)
  if (leased.ok) return store.release(leased.lease)
  // A full disk holds no lock, and this is how it gets room: the store looks who writes before each goes.
  if (leased.why === 'failed') return leased.failure.code === 'disk-full' ? { ok: true } : leased
  const message = `session ${session} is open in ${leased.owner.who}; nothing was deleted. Close it there first.`
  return { ok: false, failure: { code: 'session-open', message } }
}

type Parents = ReadonlyMap<SessionId, SessionId>

async function parents(store: Store): Promise<Result<{ readonly parents: Parents }>> {
  const found = new Map<SessionId, SessionId>()
  for await (const info of store.list()) {
    if (!info.ok) return info
    for await (const item of store.read(info.session)) {
      // What cannot be read may stand on it as well: then nothing is deleted.
      if (item.kind === 'failed') return { ok: false, failure: item.failure }
      if (item.kind === 'damage') continue
      const fact = isKnown(item.entry) ? item.entry.fact : null
      const above = fact?.type === 'session-start' ? (fact.parent?.session ?? fact.startedBy) : undefined
      if (above !== undefined) found.set(info.session, above)
      break
    }
  }
  return { ok: true, parents: found }
}

/** All that stand on a session, parents before their children. */
function descendants(parents: Parents, id: SessionId): SessionId[] {
  const below: SessionId[] = []
  for (let at = -1; at < below.length; at++) {
    const parent = at === -1 ? id : below[at]!
    for (const [child, own] of parents) if (own === parent && !below.includes(child)) below.push(child)
  }
  return below
}
