// A store that lives as long as the process: for tests and for sessions nobody wants to keep. Entries are kept as
// their lines, so that what comes back has gone through the codec like everywhere else.
import { refused } from '../disk/failure.ts'
import { createHash } from 'node:crypto'
import { safeName } from '../disk/safe-name.ts'
import { defaults } from '../settings/defaults.ts'
import { decode, encode } from '../transcript/codec.ts'
import type { Range } from '../transcript/fact.ts'
import { seq, systemClock, type Clock, type Seq, type SessionId } from '../transcript/ids.ts'
import type {
  Checkpoint,
  Failure,
  Lease,
  LeaseOutcome,
  Owner,
  ReadItem,
  Result,
  SessionInfo,
  Store,
} from '../transcript/store.ts'

interface Kept {
  readonly first: Seq
  readonly lines: string[]
  bytes: number
  modifiedAt: number
}
interface Session {
  kept: Kept | null
  epoch: number
  lease: Lease | null
  since: number
  checkpoint: string | null
  readonly blobs: Map<string, Uint8Array>
}

export interface InMemoryOptions {
  readonly clock?: Clock
  readonly spillQuotaBytes?: number
}

/** Sessions in memory, gone with the process; keeps every promise of the contract but that one. */
export function inMemoryStore(options: InMemoryOptions = {}): Store {
  return new InMemoryStore(
    options.clock ?? systemClock,
    options.spillQuotaBytes ?? defaults.store.spillQuotaBytes,
  )
}

class InMemoryStore implements Store {
  readonly #clock: Clock
  readonly #quotaBytes: number
  readonly #sessions = new Map<SessionId, Session>()

  constructor(clock: Clock, quotaBytes: number) {
    this.#clock = clock
    this.#quotaBytes = quotaBytes
  }

  async *list(only?: SessionId): AsyncIterable<Result<SessionInfo>> {
    const found: SessionInfo[] = []
    for (const [session, { kept }] of this.#sessions) {
      if (kept !== null && session === (only ?? session))
        found.push({ session, bytes: kept.bytes, modifiedAt: kept.modifiedAt })
    }
    for (const info of found.reverse().sort((a, b) => b.modifiedAt - a.modifiedAt))
      yield { ok: true, ...info }
  }

  async owners(sessions: readonly SessionId[]): ReturnType<Store['owners']> {
    const owned = sessions.flatMap((session) => {
      const known = this.#sessions.get(session)
      return known === undefined || known.lease === null ? [] : [[session, ownerOf(known)] as const]
    })
    return new Map(owned)
  }

  async lease(session: SessionId): Promise<LeaseOutcome> {
    const known = this.#sessions.get(session) ?? emptySession()
    if (known.lease !== null) return { ok: false, why: 'taken', owner: ownerOf(known) }
    this.#sessions.set(session, known)
    known.epoch++
    known.since = this.#clock.now()
    known.lease = { session, epoch: known.epoch, token: `${session}/${known.epoch}` }
    return { ok: true, lease: known.lease, next: nextOf(known.kept), damage: [] }
  }

  async release(lease: Lease): Promise<Result<object>> {
    const leased = this.#leased(lease)
    if (leased !== null) leased.lease = null
    return { ok: true }
  }

  async append(...[lease, entries, expected]: Parameters<Store['append']>): ReturnType<Store['append']> {
    const leased = this.#leased(lease)
    if (leased === null) {
      const known = this.#sessions.get(lease.session)
      return { ok: false, why: 'fenced', owner: known?.lease ? ownerOf(known) : null }
    }
    const next = nextOf(leased.kept)
    if (next !== null && expected !== next) return { ok: false, why: 'seq-taken', next }
    const lines: string[] = []
    for (const [index, entry] of entries.entries()) {
      const line = encode(entry)
      const refused = unfit(line, entry.seq, expected + index)
      if (refused !== null) return { ok: false, why: 'failed', failure: refused }
      lines.push(line)
    }
    if (lines.length === 0) return { ok: true }
    const kept = (leased.kept ??= { first: expected, lines: [], bytes: 0, modifiedAt: 0 })
    for (const line of lines) {
      kept.lines.push(line)
      kept.bytes += Buffer.byteLength(line) + 1
    }
    kept.modifiedAt = this.#clock.now()
    return { ok: true }
  }

  async sync(lease: Lease): Promise<Result<object>> {
    return this.#leased(lease) === null ? fenced : { ok: true }
  }

  async *read(session: SessionId, range: Partial<Range> = {}): AsyncIterable<ReadItem> {
    const kept = this.#sessions.get(session)?.kept
    if (!kept) {
      yield noSession(session)
      return
    }
    const from = Math.max(kept.first, range.from ?? kept.first)
    const to = Math.min(kept.first + kept.lines.length - 1, range.to ?? Number.POSITIVE_INFINITY)
    for (let at = from; at <= to; at++) yield itemAt(kept, at)
  }

  async *readBack(session: SessionId, before?: Seq): AsyncIterable<ReadItem> {
    const kept = this.#sessions.get(session)?.kept
    if (!kept) {
      yield noSession(session)
      return
    }
    const end = kept.first + kept.lines.length
    for (let at = Math.min(before ?? end, end) - 1; at >= kept.first; at--) yield itemAt(kept, at)
  }

  async putBlob(...[lease, name, source]: Parameters<Store['putBlob']>): ReturnType<Store['putBlob']> {
    const leased = this.#leased(lease)
    if (leased === null) return fenced
    const parts: Uint8Array[] = []
    let room = this.#quotaBytes
    for (const bytes of leased.blobs.values()) room -= bytes.byteLength
    try {
      for await (const part of source instanceof Uint8Array ? [source] : source) {
        room -= part.byteLength
        if (room < 0)
          return refused('quota', `the blob ${name} needs more than the bytes left to the session`)
        parts.push(part)
      }
    } catch (error) {
      return refused('source-failed', `the bytes of the blob ${name} stopped coming: ${String(error)}`)
    }
    const bytes = Buffer.concat(parts)
    const blob = safeName(name)
    const existing = leased.blobs.get(blob)
    if (existing !== undefined && !bytes.equals(existing))
      return refused('exists', `there is another blob named ${blob}`)
    leased.blobs.set(blob, bytes)
    return {
      ok: true,
      blob,
      bytes: bytes.byteLength,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    }
  }

  async getBlob(...[session, blob, part]: Parameters<Store['getBlob']>): ReturnType<Store['getBlob']> {
    const bytes = this.#sessions.get(session)?.blobs.get(safeName(blob))
    if (bytes === undefined) return refused('not-found', `session ${session} has no blob ${blob}`)
    const from = Math.max(0, Math.min(part?.offset ?? 0, bytes.byteLength))
    const to = Math.max(from, from + (part?.length ?? bytes.byteLength))
    return { ok: true, bytes: bytes.slice(from, to), total: bytes.byteLength }
  }

  async blobs(session: SessionId): ReturnType<Store['blobs']> {
    return { ok: true, names: [...(this.#sessions.get(session)?.blobs.keys() ?? [])].sort() }
  }

  async putCheckpoint(
    ...[lease, checkpoint]: Parameters<Store['putCheckpoint']>
  ): ReturnType<Store['putCheckpoint']> {
    const leased = this.#leased(lease)
    if (leased === null) return fenced
    const next = nextOf(leased.kept)
    if (next === null || checkpoint.upTo >= next) {
      return refused(
        'not-found',
        `a checkpoint up to ${checkpoint.upTo} covers entries that are not written yet`,
      )
    }
    leased.checkpoint = JSON.stringify(checkpoint)
    return { ok: true }
  }

  async getCheckpoint(session: SessionId): ReturnType<Store['getCheckpoint']> {
    const text = this.#sessions.get(session)?.checkpoint
    return text ? (JSON.parse(text) as Checkpoint) : null
  }

  async remove(session: SessionId): Promise<Result<object>> {
    return this.#sessions.delete(session)
      ? { ok: true }
      : refused('no-such-session', `there is no session ${session}`)
  }

  #leased(lease: Lease): Session | null {
    const known = this.#sessions.get(lease.session)
    return known?.lease?.token === lease.token ? known : null
  }
}

const emptySession = (): Session => ({
  kept: null,
  epoch: 0,
  lease: null,
  since: 0,
  checkpoint: null,
  blobs: new Map(),
})
const nextOf = (kept: Kept | null): Seq | null => (kept === null ? null : seq(kept.first + kept.lines.length))
const ownerOf = (session: Session): Owner => ({
  who: 'this process',
  since: session.since,
})

function itemAt(kept: Kept, at: number): ReadItem {
  const decoded = decode(kept.lines[at - kept.first]!)
  if (decoded.ok) return { kind: 'entry', entry: decoded.entry }
  const lost = { from: seq(at), to: seq(at) }
  return { kind: 'damage', damage: { where: `entry ${at}`, at, what: decoded.why, done: 'skipped', lost } }
}

function unfit(line: string, place: number, wanted: number): Failure | null {
  if (place !== wanted)
    return { code: 'bad-entry', message: `entry ${place} cannot be written as number ${wanted}` }
  if (!line.startsWith('{') || !line.endsWith('}') || line.includes('\n')) {
    return { code: 'bad-entry', message: `entry ${place} is not one line of JSON` }
  }
  if (Buffer.byteLength(line) <= defaults.transcript.maxLineBytes) return null
  return { code: 'too-large', message: `entry ${place} is too long for a line; keep it as a blob` }
}

const fenced = refused('fenced', 'this lease is no longer the one that writes; open the session again')
const noSession = (session: SessionId): ReadItem => ({
  kind: 'failed',
  failure: { code: 'no-such-session', message: `there is no session ${session} in this store` },
})
