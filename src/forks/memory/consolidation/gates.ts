// Whether it is time to consolidate: asked after every turn, so the cheapest question comes first, and the
// sessions are looked through at most every few minutes. The lock is the last gate and is taken by who goes through.
import { attempt } from '../../../disk/fs.ts'
import { indexName } from '../../../memory/memory.ts'
import type { Keeper } from '../../../memory/keeping/keeper.ts'
import type { SetStore } from '../../../memory/memory-store.ts'
import { defaults } from '../../../settings/defaults.ts'
import { isKnown } from '../../../transcript/fact.ts'
import type { Clock, SessionId } from '../../../transcript/ids.ts'
import type { Failure, Store } from '../../../transcript/store.ts'

export interface GateClues {
  readonly isOn: boolean
  readonly memories: SetStore
  /** The same where it is a folder of files. */
  readonly folder: Keeper | null
  readonly clock: Clock
  /** The sessions. */
  readonly store: Store
  /** When the sessions were last looked through, by this process. */
  readonly scans: { last: number | null }
}

export type Gate = 'off' | 'too-soon' | 'empty' | 'scanned' | 'few-sessions' | 'open'

export async function gateOf({
  isOn,
  memories,
  folder,
  clock,
  store,
  scans,
}: GateClues): Promise<{ readonly gate: Gate; readonly failure: Failure | null }> {
  const closed = (gate: Gate, failure: Failure | null = null) => ({ gate, failure })
  if (!isOn) return closed('off')
  const now = clock.now()
  const last = await memories.sets.last()
  if (!last.ok) return closed('too-soon', last.failure)
  if (now - last.at < defaults.consolidation.everyMs) return closed('too-soon')
  if (await isEmpty(memories, folder)) return closed('empty')
  if (scans.last !== null && now - scans.last < defaults.consolidation.scanMs) return closed('scanned')
  scans.last = now
  const touched = await touchedSince(store, last.at, defaults.consolidation.sessions)
  if (!touched.ok) return closed('few-sessions', touched.failure)
  return touched.count < defaults.consolidation.sessions ? closed('few-sessions') : closed('open')
}

/** Whether there is neither a memory nor a folder in which some may lie. */
async function isEmpty(memories: SetStore, folder: Keeper | null): Promise<boolean> {
  if (folder === null) {
    const some = await memories.list(1)
    return !some.ok || some.total === 0
  }
  const { fs, place } = folder
  const listed = await attempt('looking', async () => ({ names: await fs.names(place.root) }))
  return !listed.ok || listed.names.every((name) => name === indexName || name.startsWith('.'))
}

/** Conversations that were worked in since, counted up to so many. Forks and agents lie in the same store and do not count. */
async function touchedSince(
  store: Store,
  since: number,
  enough: number,
): Promise<
  { readonly ok: true; readonly count: number } | { readonly ok: false; readonly failure: Failure }
> {
  let count = 0
  for await (const item of store.list()) {
    if (!item.ok) return item
    if (item.modifiedAt <= since) break
    if (await isConversation(store, item.session)) count++
    if (count >= enough) break
  }
  return { ok: true, count }
}

async function isConversation(store: Store, session: SessionId): Promise<boolean> {
  for await (const item of store.read(session)) {
    if (item.kind === 'failed') return false
    if (item.kind === 'damage' || !isKnown(item.entry)) continue
    return item.entry.fact.type === 'session-start' && item.entry.fact.purpose === 'main'
  }
  return false
}
