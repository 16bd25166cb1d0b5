// What waits for the user: writes that were held, and files that something else changed. Accepting means a person has
// looked at exactly these bytes; nothing else raises trust (law M1). What is given up is kept as a version first.
import { refused, type Result } from '../../disk/failure.ts'
import { utf8In } from '../../disk/small-file.ts'
import { listMemories, readBytes, shaOf } from '../files.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import { nameRefusal } from '../format/names.ts'
import { sessionless, type Provenance } from '../memory.ts'
import type { Applied } from '../memory-store.ts'
import { applyWrite } from './apply.ts'
import { fileNow, keepVersion, put, versionText, type Keeper } from './keeper.ts'
import { keepIndex } from './index-keeping.ts'
import { alone } from './alone.ts'
import { changeRecord, type Held } from './records.ts'

/** A file that is not what the ledger knows: written, or taken away, by something else. */
export interface OutsideChange {
  readonly file: string
  readonly kind: 'new' | 'changed' | 'gone'
  /** The bytes that stand there, and those that are known. */
  readonly sha: string | null
  readonly known: string | null
}

export interface Waiting {
  readonly held: readonly Held[]
  readonly outside: readonly OutsideChange[]
  readonly skipped: readonly { readonly file: string; readonly why: string }[]
}

/** Everything that waits. Reads every memory once, and again where a write that was broken off could be finished. */
export async function waiting(keeper: Keeper): Promise<Result<Waiting>> {
  const found = await lookThrough(keeper)
  if (!found.ok || found.outside.every(({ kind }) => kind !== 'gone')) return found
  const finished = await alone(keeper, async () => ({ ok: true }))
  return finished.ok ? await lookThrough(keeper) : found
}

async function lookThrough(keeper: Keeper): Promise<Result<Waiting>> {
  const { fs, place, ledger } = keeper
  const listed = await listMemories(fs, place, { most: Number.POSITIVE_INFINITY, ledger })
  if (!listed.ok) return listed
  const outside = listed.memories
    .filter(({ standing }) => standing === 'held')
    .map(({ file, sha256 }): OutsideChange => {
      const known = ledger.current(file)?.sha ?? null
      return { file, kind: known === null ? 'new' : 'changed', sha: sha256, known }
    })
  const there = new Set([...listed.memories, ...listed.skipped].map(({ file }) => file))
  const contents = new Set(listed.memories.map(({ sha256 }) => sha256))
  const gone = ledger
    .standing()
    // A colleague who moves a file has taken nothing away.
    .filter(({ file, sha }) => !there.has(file) && !(place.scope === 'team' && contents.has(sha)))
    .map(({ file, sha }): OutsideChange => ({ file, kind: 'gone', sha: null, known: sha }))
  return { ok: true, held: ledger.held(), outside: [...outside, ...gone], skipped: listed.skipped }
}

/** The user wants a held write. */
export async function acceptHeld(keeper: Keeper, n: number): Promise<Result<{ applied: Applied }>> {
  const fresh = await keeper.ledger.refresh()
  if (!fresh.ok) return fresh
  const held = keeper.ledger.held().find((one) => one.n === n)
  if (held === undefined) return nothing(`there is nothing to review under ${n}`)
  const text = await versionText(keeper, held.sha)
  if (!text.ok) return text
  const by: Provenance = { ...held.by, trust: raised(held.by) }
  const done = await applyWrite(keeper, [{ file: held.file, text: text.text }], by, {
    via: 'accept',
    approved: true,
  })
  if (!done.ok) return done
  const applied = done.applied[0]!
  if (applied.kind === 'refused') return refused(applied.code ?? 'io-error', applied.why)
  const settled = await closeHeld(keeper, n, 'accepted')
  return settled.ok ? { ok: true, applied } : settled
}

export const rejectHeld = async (keeper: Keeper, n: number): Promise<Result<object>> =>
  await closeHeld(keeper, n, 'rejected')

async function closeHeld(keeper: Keeper, n: number, how: 'accepted' | 'rejected'): Promise<Result<object>> {
  return await alone(keeper, async () => {
    if (!keeper.ledger.held().some((one) => one.n === n))
      return nothing(`there is nothing to review under ${n}`)
    return await keeper.ledger.append({ do: 'settle', at: keeper.clock.now(), held: n, how }, keeper.unique)
  })
}

/** The user wants a file as it stands there now; where it is gone, that it stays gone. `sha` is what was looked at. */
export async function acceptOutside(
  keeper: Keeper,
  file: string,
  sha?: string,
): Promise<Result<{ version: number; notes: readonly string[] }>> {
  return await alone(keeper, async () => {
    const { ledger, clock } = keeper
    const bad = nameRefusal(file)
    if (bad !== null) return refused('bad-name', `${file}: ${bad}`)
    const read = await readBytes(keeper.fs, keeper.place.root, file)
    const current = ledger.current(file)
    if (!read.ok && (read.failure.code !== 'not-found' || current === null)) return read
    if (read.ok && sha !== undefined && sha !== shaOf(read.bytes))
      return refused('changed', `${file} changed again; look at it once more`)
    const text = read.ok ? utf8In(read.bytes) : null
    if (read.ok && text === null)
      return refused('bad-memory', `${file} is not UTF-8 text; save it as UTF-8 and look at it once more`)
    const kept = await keepVersion(keeper, text)
    if (!kept.ok) return kept
    const at = clock.now()
    const by = sessionless('outside', 'confirmed', at)
    const about = { at, file, before: current?.sha ?? null, by, via: 'accept' } as const
    const head = text === null ? null : readMemoryText(text).head
    return await noted(keeper, changeRecord(about, kept.sha, head))
  })
}

/** The user does not want what something else did: the known text comes back, and what stood there is kept aside. */
export async function rejectOutside(
  keeper: Keeper,
  file: string,
): Promise<Result<{ replaced: string | null }>> {
  return await alone(keeper, async () => {
    const current = keeper.ledger.current(file)
    const now = await fileNow(keeper, file)
    if (!now.ok) return now
    const kept = await keepVersion(keeper, now.bytes)
    if (!kept.ok) return kept
    const text = await versionText(keeper, current?.sha ?? null)
    if (!text.ok) return text
    const done = await put(keeper, file, text.text, now.mark)
    return done.ok ? { ok: true, replaced: kept.sha } : done
  })
}

async function noted(
  keeper: Keeper,
  record: Parameters<Keeper['ledger']['append']>[0],
): Promise<Result<{ version: number; notes: readonly string[] }>> {
  const done = await keeper.ledger.append(record, keeper.unique)
  if (!done.ok) return done
  const index = await keepIndex(keeper)
  return index.ok ? { ok: true, version: done.record.n, notes: [] } : index
}

const raised = (by: Provenance): Provenance['trust'] => (by.trust === 'user' ? 'user' : 'confirmed')
const nothing = (message: string) => refused('not-found', message)
