// Sessions held in memory to be looked at again and again, as they were read; where it is asked for without what looks like a
// secret. Redacted before anything is made of them: what is cut short later (a label, an excerpt) cannot show half of one.
import { refused } from '../../disk/failure.ts'
import { redact } from '../../disk/redact.ts'
import { decode, encode } from '../../transcript/codec.ts'
import { isKnown, type StoredEntry } from '../../transcript/fact.ts'
import { unbounded, type SessionId } from '../../transcript/ids.ts'
import type { ReadItem, Result, SessionInfo, Store } from '../../transcript/store.ts'

export interface SessionCopy {
  readonly store: Store
  /** Pieces of text that were taken out. */
  readonly secrets: number
}

interface CopiedSession {
  readonly info: SessionInfo
  readonly items: readonly ReadItem[]
}

/** A session with those it continues and those that were started in it. Refused where they are more bytes than may be held. */
export async function copyOf(
  store: Store,
  session: SessionId,
  { isRedacted, mostBytes }: { readonly isRedacted: boolean; readonly mostBytes: number },
): Promise<Result<SessionCopy>> {
  const listed = new Map<string, SessionInfo>()
  for await (const info of store.list()) if (info.ok) listed.set(info.session, info)
  const sessions = new Map<string, CopiedSession>()
  const waiting: string[] = [session]
  let [bytes, secrets] = [0, 0]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const info = listed.get(id)
    if (info === undefined || sessions.has(id)) continue
    bytes += info.bytes
    if (bytes > mostBytes)
      return refused(
        'too-large',
        `session ${session} and what belongs to it are more than ${Math.round(mostBytes / 1e6)} MB: too much for one file. Look at it with pal inspect ${session}`,
      )
    const items: ReadItem[] = []
    for await (const item of store.read(info.session)) {
      if (item.kind === 'failed') return { ok: false, failure: item.failure }
      if (item.kind === 'entry') waiting.push(...relatedTo(item.entry))
      const clean = isRedacted && item.kind === 'entry' ? withoutSecrets(item.entry) : null
      secrets += clean?.secrets ?? 0
      items.push(
        clean === null ? withoutQuote(item, isRedacted) : { ...item, kind: 'entry', entry: clean.entry },
      )
    }
    sessions.set(id, { info, items })
  }
  return { ok: true, store: storeOf(sessions), secrets }
}

/** What says why a line cannot be read quotes a little of it: too little for a secret to be known by its shape. */
function withoutQuote(item: ReadItem, isRedacted: boolean): ReadItem {
  if (item.kind !== 'damage' || !isRedacted) return item
  return { ...item, damage: { ...item.damage, what: item.damage.what.replace(/\s*\(.*$/su, '') } }
}

function relatedTo(entry: StoredEntry): readonly string[] {
  if (!isKnown(entry)) return []
  const { fact } = entry
  if (fact.type === 'session-start') return fact.parent === undefined ? [] : [fact.parent.session]
  return fact.type === 'agent-start' || fact.type === 'fork-end' ? [fact.child] : []
}

/** Every text of an entry, names of fields too. What could no longer be read is left out whole. */
function withoutSecrets(entry: StoredEntry): { readonly entry: StoredEntry; readonly secrets: number } {
  let secrets = 0
  const clean = (text: string): string => {
    const done = redact(text)
    secrets += done.found.length
    return done.text
  }
  const line = encode(entry)
  const cleaned = JSON.stringify(cleanedValue(JSON.parse(line), clean))
  if (secrets === 0) return { entry, secrets }
  const decoded = decode(cleaned)
  const { seq, uuid } = entry
  return {
    entry: decoded.ok ? decoded.entry : { seq, uuid, unknown: 'redacted', changesView: false, raw: '{}' },
    secrets,
  }
}

function cleanedValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((one) => cleanedValue(one, clean))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [clean(key), cleanedField(key, one, clean)]),
  )
}

/** A password is known by the name it stands under. */
function cleanedField(key: string, value: unknown, clean: (text: string) => string): unknown {
  const before = `${key}=`
  const named = typeof value === 'string' && value.length <= mostNamed ? clean(before + value) : ''
  return named.startsWith(before) ? named.slice(before.length) : cleanedValue(value, clean)
}
/** Longer texts are no single value. */
const mostNamed = 1000

function storeOf(sessions: ReadonlyMap<string, CopiedSession>): Store {
  const toRead = refused('read-only', 'these sessions are held to be read')
  const itemsOf = (session: string): readonly ReadItem[] =>
    sessions.get(session)?.items ?? [
      { kind: 'failed', failure: { code: 'no-such-session', message: `there is no session ${session}` } },
    ]
  const placeOf = (item: ReadItem): number => (item.kind === 'entry' ? item.entry.seq : -1)
  return {
    list: async function* (only) {
      for (const { info } of sessions.values())
        if (info.session === (only ?? info.session)) yield { ok: true, ...info }
    },
    owners: async () => new Map(),
    read: async function* (session, { from = 0, to = unbounded } = {}) {
      const items = itemsOf(session)
      for (let at = firstFrom(items, from); at < items.length; at++) {
        const item = items[at]!
        if (placeOf(item) > to) return
        if (item.kind !== 'entry' || item.entry.seq >= from) yield item
      }
    },
    readBack: async function* (session, before) {
      const items = itemsOf(session)
      for (let at = (before === undefined ? items.length : firstFrom(items, before)) - 1; at >= 0; at--)
        yield items[at]!
    },
    blobs: async () => ({ ok: true, names: [] }),
    getBlob: async () => refused('not-found', 'results that are kept beside a session are not held'),
    getCheckpoint: async () => null,
    lease: async () => ({ ok: false, why: 'failed', failure: toRead.failure }),
    release: async () => toRead,
    append: async () => ({ ok: false, why: 'failed', failure: toRead.failure }),
    sync: async () => toRead,
    putBlob: async () => toRead,
    putCheckpoint: async () => toRead,
    remove: async () => toRead,
  }
}

/** The first item that is an entry at a place or behind it; damage stands with the entry that follows it. */
function firstFrom(items: readonly ReadItem[], place: number): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    let at = middle
    while (at < high && items[at]!.kind !== 'entry') at++
    const item = items[at]
    if (at < high && item?.kind === 'entry' && item.entry.seq < place) low = at + 1
    else high = middle
  }
  return low
}
