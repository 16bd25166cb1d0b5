// Sessions in Postgres. The same promises as every store; the statements are functions of the database (`schema`). A lease is a
// row with an epoch and a token: whoever writes names both, and a statement that names others changes nothing. The database's
// clock alone decides when a lease has ended; the holder judges by its own steady clock, counted from before it asked.
import { createHash, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { refused } from '../disk/failure.ts'
import { safeName } from '../disk/safe-name.ts'
import { defaults } from '../settings/defaults.ts'
import type { Usage } from '../transcript/fact.ts'
import { type SessionId, seq } from '../transcript/ids.ts'
import type {
  AppendOutcome,
  Checkpoint,
  Failure,
  Lease,
  LeaseOutcome,
  Owner,
  Result,
  SessionInfo,
  Store,
} from '../transcript/store.ts'
import { callsOf, connect, type Calls, type Connection, type ConnectionOptions } from './connection.ts'
import { appendedFrom, readLines, type Past } from './lines.ts'

export interface PostgresStoreOptions extends Partial<ConnectionOptions> {
  /** A connection that others use too; without one `url` opens its own. */
  readonly connection?: Connection | undefined
  /** Whose sessions these are; rows of others are neither seen nor written. */
  readonly tenant: string
  /** How long a lease holds without renewal, and how often it is renewed. */
  readonly leaseMs?: number | undefined
  readonly renewMs?: number | undefined
  readonly spillQuotaBytes?: number | undefined
  /** What an answer cost, for the sums of budgets; null where no price is known. */
  readonly price?: ((model: string, usage: Usage) => number | null) | undefined
  /** For sessions that were written elsewhere: what they cost stands in no budget of today. */
  readonly past?: Past | undefined
}

export interface PostgresStore extends Store {
  readonly tenant: string
  readonly connection: Connection
  /** Until when the steady clock (`performance.now`) this lease is surely ours; null where it is not held here. */
  leasedUntil(lease: Pick<Lease, 'session' | 'token'>): number | null
  /** Takes over the keeping of a lease that a claim has taken; the next `lease` of that session gives it out. */
  adopt(lease: Lease, next: number | null, askedAt: number): void
  /** Stops renewing and closes what it has opened itself. Leases end by themselves. */
  close(): Promise<void>
}

export const leaseDefaults = { leaseMs: 30_000, renewMs: 8_000 }

interface KeptLease {
  readonly lease: Lease
  until: LeaseEnd
  /** Taken by a claim and not yet opened. */
  adopted: { readonly next: number | null } | null
  /** One append after the other. */
  queue: Promise<unknown>
}

/** Sessions of one tenant in a Postgres database. */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  return new SessionsInPostgres(options)
}

class SessionsInPostgres implements PostgresStore {
  readonly tenant: string
  readonly connection: Connection
  readonly #calls: Calls
  readonly #options: PostgresStoreOptions
  readonly #leaseMs: number
  readonly #leases = new Map<string, KeptLease>()
  #renewal: NodeJS.Timeout | undefined

  constructor(options: PostgresStoreOptions) {
    this.#options = options
    this.tenant = options.tenant
    this.connection = options.connection ?? connect({ ...options, url: options.url ?? '' })
    this.#calls = callsOf(this.connection, this.tenant)
    this.#leaseMs = options.leaseMs ?? leaseDefaults.leaseMs
  }

  async *list(only?: SessionId): AsyncIterable<Result<SessionInfo>> {
    // No column takes a zero character, so nothing has such a name.
    if (only?.includes('\0') === true) return
    const found = await this.#calls.rows('sessions', [only ?? null])
    if (!found.ok) return yield found
    for (const { id, bytes, changed } of found.rows)
      yield { ok: true, session: id as SessionId, bytes: Number(bytes), modifiedAt: Number(changed) }
  }

  async owners(sessions: readonly SessionId[]): ReturnType<Store['owners']> {
    const found = await this.#calls.rows('owners', [sessions])
    if (!found.ok) return new Map()
    return new Map(found.rows.map(({ id, owner }) => [id as SessionId, owner as Owner]))
  }

  async lease(session: SessionId): Promise<LeaseOutcome> {
    const known = [...this.#leases.values()].find(
      ({ lease, adopted }) => lease.session === session && adopted !== null,
    )
    if (known?.adopted) {
      const { next } = known.adopted
      known.adopted = null
      return { ok: true, lease: known.lease, next: next === null ? null : seq(next), damage: [] }
    }
    const token = randomUUID()
    const askedAt = performance.now()
    const found = await this.#calls.value('lease', [
      session,
      JSON.stringify({ host: hostname(), pid: process.pid }),
      `${this.#leaseMs} milliseconds`,
      token,
    ])
    if (!found.ok) return { ok: false, why: 'failed', failure: found.failure }
    const said = found.value as { ok: true; epoch: number; next: number | null } | { ok: false; owner: Owner }
    if (!said.ok) return { ok: false, why: 'taken', owner: said.owner }
    const lease = { session, epoch: said.epoch, token }
    this.#keep(lease, askedAt, null)
    return { ok: true, lease, next: said.next === null ? null : seq(said.next), damage: [] }
  }

  adopt(lease: Lease, next: number | null, askedAt: number): void {
    this.#keep(lease, askedAt, { next })
  }

  async release(lease: Lease): Promise<Result<object>> {
    const kept = this.#leases.get(keyOf(lease))
    await kept?.queue
    this.#leases.delete(keyOf(lease))
    return this.#calls.done('release', [lease.session, lease.token])
  }

  append(...given: Parameters<Store['append']>): Promise<AppendOutcome> {
    const kept = this.#leases.get(keyOf(given[0]))
    if (kept === undefined) return this.#append(...given)
    const done = kept.queue.then(() => this.#append(...given))
    kept.queue = done.catch(() => undefined)
    return done
  }

  async #append(...[lease, entries, expected]: Parameters<Store['append']>): Promise<AppendOutcome> {
    const made = appendedFrom(entries, expected, this.#options.price, this.#options.past)
    if (!made.ok) {
      // A taken place is said before what is wrong with the entries, as everywhere.
      const probe = await this.#append(lease, [], expected, 'now')
      return probe.ok ? { ok: false, why: 'failed', failure: made.failure } : probe
    }
    const { lines, bytes, about, answers, received } = made
    const place = [lease.session, lease.epoch, lease.token, expected]
    const found = await this.#calls.value('append', (again) => [
      ...place,
      lines,
      bytes,
      again,
      about,
      answers,
      received,
    ])
    if (!found.ok) return { ok: false, why: 'failed', failure: found.failure }
    const said = found.value as Exclude<AppendOutcome, { why: 'failed' }>
    if (!said.ok && said.why === 'fenced') this.#leases.delete(keyOf(lease))
    return said
  }

  async sync(lease: Lease): Promise<Result<object>> {
    await this.#leases.get(keyOf(lease))?.queue
    const found = await this.#calls.found('is_held', [lease.session, lease.token])
    if (!found.ok) return found
    return found.isFound ? { ok: true } : fenced
  }

  read(...[session, range = {}]: Parameters<Store['read']>): ReturnType<Store['read']> {
    return readLines(this.#calls, session, range, false)
  }

  readBack(...[session, before]: Parameters<Store['readBack']>): ReturnType<Store['readBack']> {
    return readLines(this.#calls, session, { to: before === undefined ? undefined : before - 1 }, true)
  }

  async putBlob(...[lease, name, source]: Parameters<Store['putBlob']>): ReturnType<Store['putBlob']> {
    const quota = this.#options.spillQuotaBytes ?? defaults.store.spillQuotaBytes
    const parts: Uint8Array[] = []
    let size = 0
    try {
      for await (const part of source instanceof Uint8Array ? [source] : source) {
        size += part.byteLength
        if (size > quota) return overQuota(name)
        parts.push(part)
      }
    } catch (error) {
      return refused('source-failed', `the bytes of the blob ${name} stopped coming: ${String(error)}`)
    }
    const bytes = Buffer.concat(parts)
    const blob = safeName(name)
    const sha256 = createHash('sha256').update(bytes).digest()
    const found = await this.#calls.value('put_blob', [
      lease.session,
      lease.token,
      blob,
      sha256,
      bytes,
      quota,
    ])
    if (!found.ok) return found
    switch (found.value) {
      case 'not-held':
        return fenced
      case 'exists':
        return refused('exists', `there is another blob named ${blob}`)
      case 'quota':
        return overQuota(name)
      default:
        return { ok: true, blob, bytes: size, sha256: sha256.toString('hex') }
    }
  }

  async getBlob(...[session, blob, part]: Parameters<Store['getBlob']>): ReturnType<Store['getBlob']> {
    const offset = Math.max(0, part?.offset ?? 0)
    const length = Math.max(0, Math.min(part?.length ?? mostBlobBytes, mostBlobBytes))
    const place = [session, safeName(blob), Math.min(offset, mostBlobBytes), length]
    const found = await this.#calls.rows('get_blob', place)
    if (!found.ok) return found
    const row = found.rows[0]
    if (row === undefined) return refused('not-found', `session ${session} has no blob ${blob}`)
    return { ok: true, bytes: row['data'] as Uint8Array, total: Number(row['total']) }
  }

  async blobs(session: SessionId): ReturnType<Store['blobs']> {
    const found = await this.#calls.values('blob_names', [session])
    return found.ok ? { ok: true, names: found.values as readonly string[] } : found
  }

  async putCheckpoint(
    ...[lease, checkpoint]: Parameters<Store['putCheckpoint']>
  ): ReturnType<Store['putCheckpoint']> {
    const found = await this.#calls.value('put_checkpoint', [
      lease.session,
      lease.token,
      checkpoint.upTo,
      JSON.stringify(checkpoint),
    ])
    if (!found.ok) return found
    if (found.value === 'ok') return { ok: true }
    if (found.value === 'not-held') return fenced
    return refused(
      'not-found',
      `a checkpoint up to ${checkpoint.upTo} covers entries that are not written yet`,
    )
  }

  async getCheckpoint(session: SessionId): ReturnType<Store['getCheckpoint']> {
    const found = await this.#calls.value('get_checkpoint', [session])
    const body = found.ok ? found.value : null
    return typeof body === 'string' ? (JSON.parse(body) as Checkpoint) : null
  }

  async remove(session: SessionId): Promise<Result<object>> {
    const ours = [...this.#leases.values()].filter(({ lease }) => lease.session === session)
    const found = await this.#calls.value('remove', [session, ours.map(({ lease }) => lease.token)])
    if (!found.ok) return found
    const said = found.value as { ok: boolean; why?: string; owner?: Owner }
    if (said.ok) {
      for (const { lease } of ours) this.#leases.delete(keyOf(lease))
      return { ok: true }
    }
    if (said.why === 'session-open')
      return refused(
        'session-open',
        `${said.owner?.who ?? 'another process'} is writing this session; end it first`,
      )
    return refused('no-such-session', `there is no session ${session}`)
  }

  leasedUntil(lease: Pick<Lease, 'session' | 'token'>): number | null {
    const until = this.#leases.get(keyOf(lease))?.until
    return until === undefined ? null : steadyEnd(until)
  }

  async close(): Promise<void> {
    clearInterval(this.#renewal)
    this.#renewal = undefined
    if (this.#options.connection === undefined) await this.connection.close()
  }

  #keep(lease: Lease, askedAt: number, adopted: KeptLease['adopted']): void {
    this.#leases.set(keyOf(lease), {
      lease,
      until: endAfter(this.#leaseMs, askedAt),
      adopted,
      queue: Promise.resolve(),
    })
    this.#renewal ??= setInterval(
      () => void this.#renew(),
      this.#options.renewMs ?? leaseDefaults.renewMs,
    ).unref()
  }

  /** All in one statement. Those that were taken over are held no longer. */
  async #renew(): Promise<void> {
    const all = [...this.#leases.values()]
    if (all.length === 0) return
    const until = endAfter(this.#leaseMs, performance.now())
    const found = await this.#calls.values('renew', [
      all.map(({ lease }) => lease.session),
      all.map(({ lease }) => lease.token),
      `${this.#leaseMs} milliseconds`,
    ])
    if (!found.ok) return
    const renewed = new Set(found.values)
    for (const kept of all) {
      if (renewed.has(kept.lease.session)) kept.until = until
      else this.#leases.delete(keyOf(kept.lease))
    }
  }
}

/** A value of a column has no more bytes than this. */
const mostBlobBytes = 1_000_000_000

const keyOf = ({ session, token }: Pick<Lease, 'session' | 'token'>): string => `${token}/${session}`
const overQuota = (name: string): { readonly ok: false; readonly failure: Failure } =>
  refused('quota', `the blob ${name} needs more than the bytes left to the session`)
const fenced = refused('fenced', 'this lease is no longer the one that writes; open the session again')

/**
 * When a lease has surely ended, as its holder judges it. The steady clock stands still while a machine sleeps and the clock on
 * the wall can be set back, so both are asked and the earlier end counts.
 */
interface LeaseEnd {
  readonly steady: number
  readonly wall: number
}

/** The clock on the wall is coarse, and is moved a little now and then. */
const slackMs = 1_000

/** So long after the moment of the steady clock at which it was asked for. */
const endAfter = (ms: number, askedAt: number): LeaseEnd => ({
  steady: askedAt + ms,
  wall: Date.now() - performance.now() + askedAt + ms + slackMs,
})

/** The end on the steady clock as it looks now. */
const steadyEnd = ({ steady, wall }: LeaseEnd): number =>
  Math.min(steady, performance.now() + wall - Date.now())
