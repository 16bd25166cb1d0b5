// A store over a fresh folder, and short words for what the fault tests do with it.
import * as node from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileStore, type FileStoreOptions } from '../../src/stores/index.ts'
import { seq, sessionId, type Seq } from '../../src/transcript/ids.ts'
import type { StoredEntry } from '../../src/transcript/fact.ts'
import type { Damage, Durability, Lease, ReadItem, Store } from '../../src/transcript/store.ts'

export const session = sessionId('s')

export interface StoreFolder {
  readonly root: string
  readonly folder: string
  readonly transcript: string
  store(options?: Partial<FileStoreOptions>): Store
  bytes(): Promise<Buffer>
  write(bytes: Uint8Array): Promise<void>
  end(): Promise<void>
}

export async function storeFolder(): Promise<StoreFolder> {
  const base = await node.mkdtemp(join(tmpdir(), 'pal-fault-'))
  const root = join(base, 'root')
  const folder = join(root, session)
  const transcript = join(folder, 'transcript.jsonl')
  return {
    root,
    folder,
    transcript,
    store: (options = {}) => fileStore({ root, fsync: 'none', ...options }),
    bytes: () => node.readFile(transcript),
    write: async (bytes) => {
      await node.mkdir(folder, { recursive: true })
      await node.writeFile(transcript, bytes)
    },
    end: async () => {
      // A lease that a test leaves behind holds its file open.
      for (const [left, store] of leases) await store.release(left)
      leases.clear()
      await node.rm(base, { recursive: true, force: true })
    },
  }
}

/** The leases of the test that runs, with who gave each. */
const leases = new Map<Lease, Store>()

export async function lease(
  store: Store,
): Promise<{ lease: Lease; next: Seq | null; damage: readonly Damage[] }> {
  const outcome = await store.lease(session)
  if (!outcome.ok) throw new Error(JSON.stringify(outcome))
  leases.set(outcome.lease, store)
  return outcome
}

export async function append(
  store: Store,
  lease: Lease,
  entries: readonly StoredEntry[],
  durability: Durability = 'none',
): Promise<string> {
  const outcome = await store.append(lease, entries, entries[0]!.seq, durability)
  if (outcome.ok) return 'ok'
  return outcome.why === 'failed' ? outcome.failure.code : outcome.why
}

export interface Reading {
  readonly entries: readonly StoredEntry[]
  readonly places: readonly number[]
  readonly damage: readonly Damage[]
  readonly failed: string | null
}

export async function reading(items: AsyncIterable<ReadItem>): Promise<Reading> {
  const entries: StoredEntry[] = []
  const damage: Damage[] = []
  let failed: string | null = null
  for await (const item of items) {
    if (item.kind === 'entry') entries.push(item.entry)
    else if (item.kind === 'damage') damage.push(item.damage)
    else failed = item.failure.code
  }
  return { entries, places: entries.map((entry) => entry.seq), damage, failed }
}

export const places = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => seq(from + index))
