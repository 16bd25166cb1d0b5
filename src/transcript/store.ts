// The Store port: the one thing a place to keep transcripts must offer. No method throws; every expected failure is
// a value, and a failure that is not a value is a bug in the store. `testing/store-contract` is its suite.
//
// A session has at most one writer. `lease` makes the caller that writer, or says who is. A store that finds a torn
// tail when the lease is taken sets the torn bytes aside and says so; readers never repair.
import type { Failure, FailureCode, Result } from '../disk/failure.ts'
import type { Range, StoredEntry } from './fact.ts'
import type { Seq, SessionId } from './ids.ts'

export type { Failure, FailureCode, Result }

export interface Owner {
  /** In words, as the store knows it: `process 12 on host`. */
  readonly who: string
  readonly since: number
  /** Whether it lives cannot be seen from here: when the session is free unless it gives a sign of life. */
  readonly freeAt?: number | undefined
}

/** Proof of being the one writer. `epoch` grows with every taking, so that a stale writer is fenced. */
export interface Lease {
  readonly session: SessionId
  readonly epoch: number
  readonly token: string
}

export type LeaseOutcome =
  | {
      readonly ok: true
      readonly lease: Lease
      /** The next free place, or null when the session holds nothing yet. */
      readonly next: Seq | null
      /** What was found wrong when opening, and what was done about it. */
      readonly damage: readonly Damage[]
    }
  | { readonly ok: false; readonly why: 'taken'; readonly owner: Owner }
  | { readonly ok: false; readonly why: 'failed'; readonly failure: Failure }

/** Something unreadable: where, what, and what was done. `lost` is known only when the neighbours tell. */
export interface Damage {
  /** In words, as the store knows its places: a file and line, an entry. */
  readonly where: string
  /** By this number the same damage is known again. */
  readonly at: number
  readonly what: string
  readonly done: string
  readonly lost?: Range | undefined
}

export type AppendOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: 'seq-taken'; readonly next: Seq }
  | { readonly ok: false; readonly why: 'fenced'; readonly owner: Owner | null }
  | { readonly ok: false; readonly why: 'failed'; readonly failure: Failure }

/** When an append may be acknowledged: after its sync, after the write with a sync soon, or after the write. */
export type Durability = 'now' | 'soon' | 'none'

export type ReadItem =
  /** `bytes` is what it takes on the disk, from a store that has it there. */
  | { readonly kind: 'entry'; readonly entry: StoredEntry; readonly bytes?: number | undefined }
  | { readonly kind: 'damage'; readonly damage: Damage }
  /** The session could not be read (further). Always the last item. */
  | { readonly kind: 'failed'; readonly failure: Failure }

export interface SessionInfo {
  readonly session: SessionId
  readonly bytes: number
  readonly modifiedAt: number
}

/** Derived, versioned, rebuildable: a small state at a place, and the ranges of entries it does not contain but needs. */
export interface Checkpoint {
  readonly version: number
  /** The state covers every entry up to and with this one. */
  readonly upTo: Seq
  readonly state: unknown
  readonly needs: readonly Range[]
}

export interface BlobInfo {
  readonly blob: string
  readonly bytes: number
  readonly sha256: string
  /** Where a tool on this machine can read it, if anywhere. */
  readonly path?: string | undefined
}

export interface Store {
  /** Newest first; of one session alone where it is named. What cannot be listed is said so: unreadable is not empty. */
  list(only?: SessionId): AsyncIterable<Result<SessionInfo>>
  /** Who writes these now; those that nobody is known to write are left out. */
  owners(sessions: readonly SessionId[]): Promise<ReadonlyMap<SessionId, Owner>>
  /** The store keeps a lease alive until it is released. */
  lease(session: SessionId): Promise<LeaseOutcome>
  release(lease: Lease): Promise<Result<object>>
  /** All of the entries or none; `expectedSeq` is where the first must land. An empty session takes any first place. */
  append(
    lease: Lease,
    entries: readonly StoredEntry[],
    expectedSeq: Seq,
    durability: Durability,
  ): Promise<AppendOutcome>
  /** Waits until everything acknowledged is as durable as the store can make it. */
  sync(lease: Lease): Promise<Result<object>>
  /** In order, both ends included. A missing session gives one `failed` item. */
  read(session: SessionId, range?: Partial<Range>): AsyncIterable<ReadItem>
  /** Newest first, beginning before `before`. Costs what is read, not what is stored. */
  readBack(session: SessionId, before?: Seq): AsyncIterable<ReadItem>
  /** Keeps bytes beside the session under a name the store makes safe. Written once, whole or not at all. */
  putBlob(
    lease: Lease,
    name: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
  ): Promise<Result<BlobInfo>>
  getBlob(
    session: SessionId,
    blob: string,
    part?: { offset: number; length: number },
  ): Promise<Result<{ bytes: Uint8Array; total: number }>>
  /** The names of all blobs of a session, sorted; none where there is no such session. */
  blobs(session: SessionId): Promise<Result<{ readonly names: readonly string[] }>>
  putCheckpoint(lease: Lease, checkpoint: Checkpoint): Promise<Result<object>>
  /** The newest checkpoint that still fits the stored entries, or none. */
  getCheckpoint(session: SessionId): Promise<Checkpoint | null>
  /** Everything of the session: entries, blobs, checkpoints, lock. Refused while another writer holds it. */
  remove(session: SessionId): Promise<Result<object>>
}

/** A store with some of its functions replaced: by one that listens, or in a test by one that fails, waits or counts. */
export const storeWith = (inner: Store, changed: Partial<Store>): Store => ({
  list: (only) => inner.list(only),
  owners: (sessions) => inner.owners(sessions),
  lease: (session) => inner.lease(session),
  release: (lease) => inner.release(lease),
  append: (...facts) => inner.append(...facts),
  sync: (lease) => inner.sync(lease),
  read: (...place) => inner.read(...place),
  readBack: (...place) => inner.readBack(...place),
  putBlob: (...blob) => inner.putBlob(...blob),
  getBlob: (...blob) => inner.getBlob(...blob),
  blobs: (session) => inner.blobs(session),
  putCheckpoint: (...checkpoint) => inner.putCheckpoint(...checkpoint),
  getCheckpoint: (session) => inner.getCheckpoint(session),
  remove: (session) => inner.remove(session),
  ...changed,
})
