// Deleting a session. Others may stand on its entries: forks and branches read their beginning from it. So it goes only
// when nobody does, or together with them, the youngest first.
import { isKnown } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Result, Store } from '../../transcript/store.ts'

export async function remove(store: Store, id: SessionId, withForks: boolean): Promise<Result<object>> {
  const found = await parents(store)
  if (!found.ok) return found
  const below = descendants(found.parents, id)
  if (below.length > 0 && !withForks) {
    const names = below.join(', ')
    const message = `session ${id} cannot be deleted: ${names} begin with its entries. Delete them first, or all together.`
    return { ok: false, failure: { code: 'has-forks', message } }
  }
  for (const session of [...below.reverse(), id]) {
    const removed = await store.remove(session)
    if (!removed.ok) return removed
  }
  return { ok: true }
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
      if (fact?.type === 'session-start' && fact.parent !== undefined)
        found.set(info.session, fact.parent.session)
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
