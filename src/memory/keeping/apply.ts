// The one way to change memories, whoever writes: a conversation, an extraction, a consolidation, a person. Judged, then
// written under the lock, each change a version with its origin; as a set, all of it or nothing.
// A change is made from bytes that were read; if others stand there now it is refused, never merged by guess. A file
// that somebody else changed is not overwritten either: it is held until the user has looked.
import { dirname, join } from 'node:path'
import { refused as failed } from '../../disk/failure.ts'
import { attempt, type Failure, type FailureCode, type Result } from '../../disk/fs.ts'
import { shaOf } from '../files.ts'
import { twinOf } from '../format/names.ts'
import { sessionless, type Provenance } from '../memory.ts'
import type { Applied, MemoryChange, SaveOptions, Writer } from '../memory-store.ts'
import { finishPending, makeSet, type SetChange } from './change-sets.ts'
import { judge, type Verdict } from './judge.ts'
import { keepIndex } from './index-keeping.ts'
import { alone, change } from './alone.ts'
import { clearLeftovers, fileNow, put, keepVersion, type Keeper } from './keeper.ts'
import { changeRecord, type NewRecord, type RemovedFact, type WrittenFact } from './records.ts'

export interface WantedChange extends MemoryChange {
  /** Where it comes from; left out, from where all of them do. */
  readonly by?: Provenance | undefined
}

export interface ApplyOptions extends SaveOptions {
  /** All of it or nothing, kept under this name to be taken back by: one change that may not be made refuses the set. */
  readonly set?: { readonly id: string; readonly report: readonly string[] } | undefined
  /** Writes wait for the user here. Left out, as the folder is kept; false when the user asks for exactly this. */
  readonly review?: boolean | undefined
}

type Changes = Result<{ applied: readonly Applied[]; dropped: readonly string[] }>

/** Makes changes, in order, each on its own or as a set: the outcome says of every one what became of it. */
export async function applyWrite(
  keeper: Keeper,
  changes: readonly WantedChange[],
  by: Provenance,
  options: ApplyOptions,
): Promise<Changes> {
  const { set } = options
  return await alone(keeper, () =>
    set === undefined ? each(keeper, changes, by, options) : whole(keeper, changes, by, { ...options, set }),
  )
}

async function each(
  keeper: Keeper,
  changes: readonly WantedChange[],
  by: Provenance,
  options: ApplyOptions,
): Promise<Changes> {
  const applied: Applied[] = []
  for (const wanted of changes) {
    const ready = await prepared(keeper, wanted, by, options)
    const done = ready.ok && ready.record !== null ? await carryOut(keeper, ready, ready.record) : ready
    if (!done.ok) return done
    applied.push(done.applied)
  }
  const changed = applied.some(({ kind }) => kind === 'written' || kind === 'removed')
  const index = changed ? await keepIndex(keeper) : { ok: true as const, dropped: [] }
  return index.ok ? { ok: true, applied, dropped: index.dropped } : index
}

async function whole(
  keeper: Keeper,
  changes: readonly WantedChange[],
  by: Provenance,
  options: ApplyOptions & Required<Pick<ApplyOptions, 'set'>>,
): Promise<Changes> {
  const before = await finishPending(keeper)
  if (!before.ok) return before
  const applied: Applied[] = []
  const steps: SetChange[] = []
  for (const wanted of changes) {
    const ready = await prepared(keeper, wanted, by, options)
    if (!ready.ok) return ready
    const { file, kind, code, why } = ready.applied
    if (kind === 'refused' || kind === 'held')
      return failed(code ?? 'needs-review', why.startsWith(file) ? why : `${file}: ${why}`)
    applied.push(ready.applied)
    if (ready.record !== null && ready.record.do !== 'hold') steps.push(stepOf(ready.record))
  }
  const { set, via } = options
  const made = await makeSet(keeper, { ...set, at: keeper.clock.now(), via, undoes: null, changes: steps })
  return made.ok ? { ok: true, applied, dropped: made.dropped } : made
}

function stepOf(record: WrittenFact | RemovedFact): SetChange {
  const { file, before, by } = record
  return record.do === 'write'
    ? { file, before, after: record.sha, head: record.head, by }
    : { file, before: before === '' ? null : before, after: null, head: null, by }
}

/** What is left to do for a change that may be made: `record` is null where nothing is. */
interface Prepared {
  readonly applied: Applied
  readonly record: WrittenFact | RemovedFact | HeldFact | null
  /** Of the bytes that stand there. */
  readonly mark: string | null
}
type HeldFact = Extract<NewRecord, { do: 'hold' }>

/** Judged, compared with what stands there, and its text kept as a version: the same for every writer. */
async function prepared(
  keeper: Keeper,
  wanted: WantedChange,
  from: Provenance,
  options: ApplyOptions,
): Promise<Result<Prepared>> {
  const { ledger } = keeper
  const verdict = judge(wanted, wanted.by ?? from, ledger, {
    review: options.review ?? keeper.review === true,
    salt: ledger.salt,
    approved: options.approved === true,
    saidAt: options.saidAt,
    via: options.via,
  })
  const { file } = verdict
  const said = (
    kind: Applied['kind'],
    rest: Partial<Applied> = {},
    record: Prepared['record'] = null,
    mark: string | null = null,
  ): Result<Prepared> => ({
    ok: true,
    applied: { file, kind, version: null, text: null, by: nobody, code: null, why: '', notes: [], ...rest },
    record,
    mark,
  })
  const refused = (code: FailureCode, why: string): Result<Prepared> => said('refused', { code, why })
  if (verdict.kind === 'refuse') return refused(verdict.code, verdict.why)
  const now = await readNow(keeper, file)
  if (!now.ok) return refused(now.failure.code, now.failure.message)
  const stale = staleness(keeper, wanted, now.sha)
  if (stale !== null) return refused(stale.code, stale.message)
  const twin = now.sha === null ? await twinFor(keeper, file) : null
  if (twin !== null)
    return refused('twin', `${file} and ${twin} would be one file on some systems. Choose another name.`)
  const { text, by, notes, why } = verdict
  if (
    text !== null &&
    now.sha === shaOf(text) &&
    verdict.kind === 'write' &&
    ledger.known(file, now.sha)?.by.trust === by.trust
  )
    return said('unchanged', { text, by, notes })
  const kept = await keepVersion(keeper, text)
  if (!kept.ok) return kept
  const record = recordOf(verdict, kept.sha, now.sha, options.via, keeper.clock.now())
  const kind = record.do === 'hold' ? 'held' : text === null ? 'removed' : 'written'
  return said(kind, { text, by, why, notes }, record, now.mark)
}

/** Noted and put in its place; one that is held is noted alone. */
async function carryOut(
  keeper: Keeper,
  { applied, mark }: Prepared,
  record: NonNullable<Prepared['record']>,
): Promise<Result<{ applied: Applied }>> {
  if (record.do === 'hold') {
    const noted = await keeper.ledger.append(record, keeper.unique)
    return noted.ok ? { ok: true, applied: { ...applied, version: noted.record.n } } : noted
  }
  const { file, text } = applied
  const done = await change(keeper, record, () => put(keeper, file, text, mark))
  if (done.ok) return { ok: true, applied: { ...applied, version: done.version } }
  if (!done.isNoted) return done
  const { code, message: why } = done.failure
  return { ok: true, applied: { ...applied, kind: 'refused', text: null, code, why } }
}

const nobody = sessionless('model', 'data', 0)

async function readNow(keeper: Keeper, file: string): ReturnType<typeof fileNow> {
  const now = await fileNow(keeper, file)
  if (now.ok || now.failure.code !== 'hardlink') return now
  const cleared = await clearLeftovers(keeper, new Set([dirname(file)]))
  return cleared.ok ? await fileNow(keeper, file) : cleared
}

function staleness(keeper: Keeper, { file, expected }: MemoryChange, sha: string | null): Failure | null {
  if (expected !== undefined && expected !== sha)
    return {
      code: 'changed',
      message: `${file} ${sha === null ? 'is gone' : 'changed'} since it was read. Read it again.`,
    }
  if (sha !== null && keeper.ledger.known(file, sha) === null)
    return {
      code: 'needs-review',
      message: `${file} was changed from outside and is held until the user accepts it (pal memory review). Save under another name.`,
    }
  return null
}

/** Every folder on the way is looked at, since each of them may have a twin. */
async function twinFor(keeper: Keeper, file: string): Promise<string | null> {
  const parts = file.split('/')
  for (const [at, part] of parts.entries()) {
    const folder = join(keeper.place.root, ...parts.slice(0, at))
    const names = await attempt('looking', async () => ({ names: await keeper.fs.names(folder) }))
    const twin = names.ok ? twinOf(part, names.names) : null
    if (twin !== null) return [...parts.slice(0, at), twin].join('/')
  }
  return null
}

function recordOf(
  verdict: Exclude<Verdict, { kind: 'refuse' }>,
  sha: string | null,
  before: string | null,
  via: Writer,
  at: number,
): NonNullable<Prepared['record']> {
  const { file, by, why, head } = verdict
  if (verdict.kind === 'hold') return { do: 'hold', at, file, sha, before, head, by, why }
  return changeRecord({ at, file, before, by, via }, sha, head)
}
