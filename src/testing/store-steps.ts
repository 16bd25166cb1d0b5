// The steps that the cases of the store contract are made of. Each throws when the store does not answer as it must.
import assert from 'node:assert/strict'
import { decode } from '../transcript/codec.ts'
import type { Entry, Fact, StoredEntry } from '../transcript/fact.ts'
import { seq, uuid, type Seq, type SessionId } from '../transcript/ids.ts'
import type { Failure, Lease, ReadItem, Store } from '../transcript/store.ts'

export interface ContractCase {
  readonly rule: string
  readonly title: string
  run(makeStore: () => Store | Promise<Store>): Promise<void>
}

/** A plain entry whose text is as given. */
export function noteEntry(place: number, text: string): Entry {
  const fact: Fact = { type: 'attachment', kind: 'note', content: [{ type: 'text', text }] }
  return { v: 1, seq: seq(place), uuid: uuid(`entry-${place}`), parent: null, at: place, fact }
}
export const notes = (from: number, to: number): Entry[] =>
  Array.from({ length: to - from + 1 }, (_, index) => noteEntry(from + index, `note ${from + index}`))

export const checkpointAt = (place: number) => ({
  version: 3,
  upTo: seq(place),
  state: { pins: [1, 2], text: 'ä\u2028' },
  needs: [{ from: seq(0), to: seq(1) }],
})

export async function leased(store: Store, session: SessionId): Promise<{ lease: Lease; next: Seq | null }> {
  const outcome = await store.lease(session)
  assert.ok(outcome.ok, JSON.stringify(outcome))
  assert.deepEqual(outcome.damage, [])
  return outcome
}
export async function released(store: Store, lease: Lease): Promise<void> {
  const outcome = await store.release(lease)
  assert.ok(outcome.ok, JSON.stringify(outcome))
}
export async function stored(
  store: Store,
  lease: Lease,
  entries: readonly StoredEntry[],
  at: number,
): Promise<void> {
  assert.deepEqual(await store.append(lease, entries, seq(at), 'now'), { ok: true })
}
export async function itemsOf(reading: AsyncIterable<ReadItem>): Promise<ReadItem[]> {
  const items: ReadItem[] = []
  for await (const item of reading) items.push(item)
  return items
}
export async function readEntries(reading: AsyncIterable<ReadItem>): Promise<StoredEntry[]> {
  return (await itemsOf(reading)).map((item) => {
    assert.equal(item.kind, 'entry', JSON.stringify(item))
    return (item as ReadItem & { kind: 'entry' }).entry
  })
}
export async function namesOf(store: Store, only?: SessionId): Promise<string[]> {
  const names: string[] = []
  for await (const info of store.list(only)) {
    assert.ok(info.ok && info.bytes > 0)
    names.push(info.session)
  }
  return names
}
export function entryFrom(line: string): StoredEntry {
  const decoded = decode(line)
  assert.ok(decoded.ok, line)
  return decoded.entry
}
export const failureCode = (item: ReadItem): string =>
  item.kind === 'failed' ? item.failure.code : item.kind
export const codeOf = (result: { ok: true } | { ok: false; failure: Failure }): string =>
  result.ok ? 'ok' : result.failure.code

export async function* inParts(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 1000) yield bytes.subarray(at, at + 1000)
}
export async function* failing(): AsyncIterable<Uint8Array> {
  yield Buffer.from('some')
  throw new Error('the tool went away')
}
