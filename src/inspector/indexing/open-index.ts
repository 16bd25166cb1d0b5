// Builds the index of a session, takes it from disk where one fits, and extends it when the session has grown. Nothing here
// takes a lock or writes beside the session.
import { checkpointFor, stateAt } from '../../engine/opening/resume.ts'
import { supplyMissing } from '../../engine/opening/supply.ts'
import { newState, type SessionState } from '../../engine/state.ts'
import { refused } from '../../disk/failure.ts'
import { isControl, rangeOf } from '../../projection/folding/live-edits.ts'
import { encode } from '../../transcript/codec.ts'
import { isEditing, isKnown, type StoredEntry } from '../../transcript/fact.ts'
import { seq, sessionId, type SessionId } from '../../transcript/ids.ts'
import { lineageOf, readLine, type Link } from '../../transcript/lineage.ts'
import type { ReadItem, Result, Store } from '../../transcript/store.ts'
import type { LiveEvent } from '../protocol.ts'
import { SessionIndex } from './index-builder.ts'
import type { IndexOptions } from './index-rows.ts'
import { loadIndex, saveIndex, type IndexPlace } from './index-file.ts'

export interface IndexSource extends IndexOptions {
  readonly store: Store
  /** Tells sessions of different stores apart in one folder of indexes. */
  readonly scope: string
  /** Null: nothing is kept. */
  readonly place: IndexPlace | null
}

export interface OpenedIndex {
  readonly index: SessionIndex
  readonly links: readonly Link[]
}

/** What has come since. */
export type Grown = Omit<Extract<LiveEvent, { readonly type: 'grew' }>, 'type' | 'session'>

/** Entries after which a longer index is worth writing again. */
const worthSaving = 2000

export async function openIndex(source: IndexSource, id: string): Promise<Result<OpenedIndex>> {
  const session = sessionId(id)
  const line = await lineageOf(source.store, session)
  if (!line.ok) return line
  const { links } = line
  const kept = await keptIndex(source, session, links)
  const index = kept ?? new SessionIndex(session, source)
  const known = index.lists.head
  if (known === null && links.length > 1) {
    const failure = await inherited(source, index, links)
    if (failure !== null) return failure
  }
  const grown = await extend(source, { index, links })
  if (!grown.ok) return grown
  if (index.lists.head === null) return refused('no-such-session', `session ${id} holds nothing`)
  if (known === null || index.lists.head - known >= worthSaving) await save(source, index)
  return { ok: true, index, links }
}

/** An index that cannot be kept is made again the next time. */
async function save(source: IndexSource, index: SessionIndex): Promise<void> {
  if (source.place === null) return
  const checkpoint = index.lists.unfoldedFrom === null ? checkpointFor(index.state) : null
  await saveIndex(source.place, source.scope, index, checkpoint)
}

async function keptIndex(
  source: IndexSource,
  session: SessionId,
  links: readonly Link[],
): Promise<SessionIndex | null> {
  if (source.place === null) return null
  const loaded = await loadIndex(source.place, source.scope, session)
  if (loaded === null) return null
  const { lists, checkpoint, tables } = loaded
  const made = (state: SessionState): SessionIndex => new SessionIndex(session, source, lists, state, tables)
  if (lists.head === null || lists.first === null) return null
  if ((await uuidAt(source.store, session, lists.head)) !== lists.headUuid) return null
  if ((await uuidAt(source.store, session, lists.first)) !== lists.firstUuid) return null
  if (lists.unfoldedFrom !== null) return made(newState())
  if (checkpoint === null || checkpoint.upTo !== lists.head) return null
  const resumed = await stateAt(source.store, links, source.models, seq(lists.head), checkpoint)
  return resumed.ok ? made(resumed) : null
}

async function uuidAt(store: Store, session: SessionId, place: number): Promise<string | null> {
  for await (const item of store.read(session, { from: seq(place), to: seq(place) }))
    if (item.kind === 'entry') return item.entry.uuid
  return null
}

/** What it continues. */
async function inherited(
  source: IndexSource,
  index: SessionIndex,
  links: readonly Link[],
): Promise<(Result<object> & { readonly ok: false }) | null> {
  const own = links.at(-1)!
  for await (const item of readLine(source.store, links, { to: seq(own.from - 1) })) {
    const failure = await taken(source, { index, links }, item, (entry, bytes) => index.inherit(entry, bytes))
    if (failure !== null) return failure
  }
  index.begin(own.from)
  return null
}

/** What reading on has found: nothing new, what came, or that another session stands in its place now. */
export type Extended = Grown | 'replaced' | null

/** Reads what came after the head of the index. A session that was cut or replaced no longer has that head: its index says nothing of it. */
export async function extend(
  source: IndexSource,
  opened: OpenedIndex,
): Promise<Result<{ readonly grown: Extended }>> {
  const { index } = opened
  const { lists, requests } = index
  const before = lists.head
  const counts = [requests.length, lists.breaks.length] as const
  let edits = 0
  let stale: Grown['stale'] = null
  const from = before === null ? {} : { from: seq(before) }
  let isSame = before === null
  for await (const item of source.store.read(sessionId(lists.session), from)) {
    if (!isSame && item.kind === 'entry') {
      if (item.entry.seq !== before || item.entry.uuid !== lists.headUuid) break
      isSame = true
      continue
    }
    const failure = await taken(source, opened, item, (entry, bytes) => {
      if (isKnown(entry) && isEditing(entry.fact)) edits++
      stale = widened(stale, index, entry)
      index.push(entry, bytes)
    })
    if (failure !== null) return failure
  }
  if (!isSame) return { ok: true, grown: 'replaced' }
  const head = lists.head
  if (head === null || head === before) return { ok: true, grown: null }
  return {
    ok: true,
    grown: {
      from: before === null ? lists.first! : before + 1,
      head,
      stale,
      requests: requests.length - counts[0],
      edits,
      breaks: lists.breaks.length - counts[1],
    },
  }
}

async function taken(
  { store }: IndexSource,
  { index, links }: OpenedIndex,
  item: ReadItem,
  push: (entry: StoredEntry, bytes: number) => void,
): Promise<(Result<object> & { readonly ok: false }) | null> {
  if (item.kind === 'failed') return { ok: false, failure: item.failure }
  if (item.kind === 'damage') {
    const { where, what, done } = item.damage
    index.lists.damage.push(`${where}: ${what}; ${done}`)
    return null
  }
  const { entry, bytes } = item
  if (isKnown(entry) && index.lists.unfoldedFrom === null) {
    const missing = await supplyMissing(store, links, index.state.fold, entry.fact, true)
    if (missing !== null) return { ok: false, failure: missing }
  }
  push(entry, bytes ?? encode(entry).length)
  return null
}

/** The entries whose place in the view an entry changes. */
function widened(stale: Grown['stale'], index: SessionIndex, entry: StoredEntry): Grown['stale'] {
  if (!isKnown(entry)) return stale
  const { fact } = entry
  const places: number[] = []
  if (isEditing(fact))
    for (const edit of fact.edits) {
      const range = rangeOf(edit)
      if (range !== null) places.push(range.from, range.to)
    }
  else if (fact.type === 'undo' || fact.type === 'release') {
    places.push(fact.target)
    const undone = index.lives.edits.find(({ seq: place }) => place === fact.target)
    for (const { from, to } of undone?.parts ?? []) places.push(from, to)
    const pinned = index.state.fold.edits.pins.find((pin) => pin.seq === fact.target)
    if (pinned !== undefined) places.push(pinned.at)
  } else if (fact.type === 'pin') places.push(fact.at.seq)
  else if (fact.type === 'rewind') places.push(fact.to + 1, entry.seq - 1)
  else if (isControl(fact)) return stale
  if (places.length === 0) return stale
  return {
    from: Math.min(stale?.from ?? Infinity, ...places),
    to: Math.max(stale?.to ?? -1, ...places),
  }
}
