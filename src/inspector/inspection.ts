// What is being looked at: a store with its indexes, a few of them in memory. Reads; what changes a session is handed in.
import { refused } from '../disk/failure.ts'
import { defaults } from '../settings/defaults.ts'
import { isKnown } from '../transcript/fact.ts'
import { sessionId, type SessionId } from '../transcript/ids.ts'
import type { Owner, Result, SessionInfo, Store } from '../transcript/store.ts'
import { headOf, rowOf } from './answers/sessions.ts'
import { extend, openIndex, type Grown, type IndexSource, type OpenedIndex } from './indexing/open-index.ts'
import type { IndexPlace } from './indexing/index-file.ts'
import { emptyLists, requestTable, type RecallFact } from './indexing/index-rows.ts'
import { noteFact } from './indexing/noted-facts.ts'
import type {
  BlockDetail,
  EffectWish,
  MemoryDetail,
  MemoryList,
  MemoryRow,
  SessionHead,
  SessionList,
  SessionRow,
} from './protocol.ts'
import { requestAt, type RebuiltRequest, type RequestSettings } from './requests/request-at.ts'

type Recalled = MemoryRow['recalledBy'][number]

/** How a wish ended that was carried out, or asked of whoever holds the session. */
export type Effect =
  | { readonly ok: true; readonly seq: number | null }
  | { readonly ok: false; readonly why: 'refused' | 'failed'; readonly message: string }

export type EffectKind = 'undo' | 'release' | 'pin'

/** Changes a session through the engine's own verbs. */
export interface Changes {
  change(session: string, kind: EffectKind, wish: EffectWish): Promise<Effect>
}

/** Memories with their versions; null where there is no such file. */
export interface Memories {
  list(): Promise<MemoryList>
  detail(store: string, file: string): Promise<MemoryDetail | null>
  /** Of these files the newest version that a session wrote. */
  madeIn(session: string, files: readonly string[]): Promise<BlockDetail['memories']>
}

export interface InspectionOptions {
  readonly store: Store
  /** Names the store among others whose indexes lie in one folder. */
  readonly scope: string
  /** Where indexes are kept; null keeps none. */
  readonly place: IndexPlace | null
  readonly settings: RequestSettings
  readonly changes?: Changes | null | undefined
  readonly memories?: Memories | undefined
}

export type GrowthListener = (session: string, grown: Grown | 'replaced') => void

export class Inspection {
  readonly options: InspectionOptions
  readonly #source: IndexSource
  /** Most recently used last. */
  readonly #open = new Map<string, Promise<Result<OpenedIndex>>>()
  readonly #queues = new Map<string, Promise<unknown>>()
  readonly #rows = new Map<string, { readonly key: string; readonly row: SessionRow }>()
  readonly #listeners = new Set<GrowthListener>()
  readonly #recalls = new Map<string, readonly RecallFact[]>()
  readonly #requests = new Map<string, RebuiltRequest>()

  constructor(options: InspectionOptions) {
    this.options = options
    const { store, scope, place, settings } = options
    this.#source = { store, scope, place, models: settings.models, window: settings.window }
  }

  /** The index of a session, as long as the session is now. */
  async opened(session: string): Promise<Result<OpenedIndex>> {
    const found = await this.#opened(session)
    if (!found.ok) return found
    const grown = await this.grow(session)
    return grown.ok ? this.#opened(session) : grown
  }

  /** Whoever finds that a session has grown, all who listen hear it, once. */
  onGrowth(listener: GrowthListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Reads what came since; null where nothing did. One reading of a session at a time. */
  async grow(session: string): Promise<Result<object>> {
    const before = this.#queues.get(session) ?? Promise.resolve()
    const next = before.then(async () => {
      const found = await this.#opened(session)
      if (!found.ok) return found
      const extended = await extend(this.#source, found)
      if (!extended.ok || extended.grown === null) return extended
      if (extended.grown === 'replaced') this.#forget(session)
      for (const listener of this.#listeners) listener(session, extended.grown)
      return extended.grown === 'replaced' ? this.#opened(session) : extended
    })
    this.#queues.set(session, next)
    try {
      return await next
    } finally {
      if (this.#queues.get(session) === next) this.#queues.delete(session)
    }
  }

  /** What was made of a session that is not there any more as it was. */
  #forget(session: string): void {
    this.#open.delete(session)
    this.#rows.delete(session)
    this.#recalls.delete(session)
    for (const key of this.#requests.keys()) if (key.startsWith(`${session} `)) this.#requests.delete(key)
  }

  async #opened(session: string): Promise<Result<OpenedIndex>> {
    const known = this.#open.get(session)
    this.#open.delete(session)
    const opening = known ?? openIndex(this.#source, session)
    this.#open.set(session, opening)
    for (const oldest of [...this.#open.keys()].slice(0, -defaults.inspector.openSessions))
      this.#open.delete(oldest)
    const result = await opening
    if (!result.ok && this.#open.get(session) === opening) this.#open.delete(session)
    return result
  }

  async head(session: string): Promise<Result<{ readonly head: SessionHead }>> {
    const info = await this.#infoOf(session)
    if (info === null) return refused('no-such-session', `there is no session ${session}`)
    const opened = await this.opened(session)
    if (!opened.ok) return opened
    const owners = await this.options.store.owners([info.session])
    return { ok: true, head: headOf(opened.index, { ...info, owner: whoIn(owners, info) }) }
  }

  /** One request, from the nearest fold that the index keeps. The last ones are kept: the next is held against one of them. */
  async request({ index, links }: OpenedIndex, place: number): Promise<Result<RebuiltRequest>> {
    const key = `${index.lists.session} ${place}`
    const known = this.#requests.get(key)
    if (known !== undefined) return known
    const { store, settings } = this.options
    const nearest = index.lists.snapshots.findLast(({ checkpoint: { upTo } }) => upTo < place)
    const request = await requestAt({ store, links, settings, checkpoint: nearest?.checkpoint }, place)
    // One without an answer may get it.
    if (!request.ok || request.answer === null) return request
    this.#requests.set(key, request)
    for (const oldest of [...this.#requests.keys()].slice(0, -keptRequests)) this.#requests.delete(oldest)
    return request
  }

  async sessions(): Promise<SessionList> {
    const { store } = this.options
    const found: SessionInfo[] = []
    const problems: string[] = []
    for await (const item of store.list()) {
      if (!item.ok) problems.push(item.failure.message)
      else found.push(item)
    }
    const owners = await store.owners(found.map(({ session }) => session))
    const sessions: SessionRow[] = []
    for (const info of found) sessions.push(await this.#row(info, whoIn(owners, info)))
    return { sessions, problems }
  }

  /** Memories that were saved from the stretch of entries that a place stands in. */
  async memoriesFrom({ index: { lists } }: OpenedIndex, place: number): Promise<BlockDetail['memories']> {
    const files = lists.extracted.flatMap((one) => (place >= one.from && place <= one.to ? one.files : []))
    return files.length === 0 ? [] : ((await this.options.memories?.madeIn(lists.session, files)) ?? [])
  }

  /** Where each memory was recalled, newest first, as far as sessions have been indexed. */
  async recalls(): Promise<ReadonlyMap<string, readonly Recalled[]>> {
    await this.sessions()
    const all = new Map<string, Recalled[]>()
    for (const [session, recalls] of this.#recalls)
      for (const { seq, at, files } of recalls)
        for (const file of files) all.set(file, [...(all.get(file) ?? []), { session, seq, at }])
    for (const list of all.values()) list.sort((a, b) => b.at - a.at)
    return all
  }

  /** Whether a session lies here: nothing else is opened, whatever its name. */
  async has(session: string): Promise<boolean> {
    return (await this.#infoOf(session)) !== null
  }

  async #infoOf(session: string): Promise<SessionInfo | null> {
    for await (const item of this.options.store.list(sessionId(session))) if (item.ok) return item
    return null
  }

  async #row(info: SessionInfo, owner: string | null): Promise<SessionRow> {
    const key = `${info.bytes} ${info.modifiedAt}`
    const known = this.#rows.get(info.session)
    if (known?.key === key) return { ...known.row, owner }
    const row = await this.#freshRow(info)
    this.#rows.set(info.session, { key, row })
    return { ...row, owner }
  }

  /** Small sessions are indexed for it; of a long one only the beginning is read until somebody opens it. */
  async #freshRow(info: SessionInfo): Promise<SessionRow> {
    if (this.#open.has(info.session) || info.bytes <= smallBytes) {
      const opened = await (this.#open.has(info.session)
        ? this.opened(info.session)
        : openIndex(this.#source, info.session))
      if (opened.ok) {
        this.#recalls.set(info.session, opened.index.lists.recalls)
        return rowOf(opened.index, { ...info, owner: null })
      }
    }
    return beginningOf(this.options.store, info)
  }
}

const whoIn = (owners: ReadonlyMap<SessionId, Owner>, { session }: SessionInfo): string | null =>
  owners.get(session)?.who ?? null

const keptRequests = 2

/** Read in a moment. */
const smallBytes = 1024 * 1024
const firstEntries = 20

async function beginningOf(store: Store, info: SessionInfo): Promise<SessionRow> {
  const lists = emptyLists(info.session)
  const requests = requestTable()
  let read = 0
  for await (const item of store.read(info.session)) {
    if (item.kind === 'failed') lists.damage.push(item.failure.message)
    else if (item.kind === 'damage') lists.damage.push(item.damage.what)
    else if (isKnown(item.entry)) noteFact({ lists, requests }, item.entry)
    if (lists.title !== '' || ++read >= firstEntries) break
  }
  return {
    ...rowOf({ lists, requests }, { ...info, owner: null }),
    figures: null,
    window: null,
    lastBreak: null,
  }
}
