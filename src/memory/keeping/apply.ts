// The one way to change memories: judged, then written under the lock, each change a version with its origin.
// A change is made from bytes that were read; if others stand there now it is refused, never merged by guess. A file
// that somebody else changed is not overwritten either: it is held until the user has looked.
import { dirname, join } from 'node:path'
import { attempt, type Failure, type FailureCode, type Result } from '../../disk/fs.ts'
import { readBytes, shaOf } from '../files.ts'
import { twinOf } from '../format/names.ts'
import type { MemoryHead, Provenance } from '../memory.ts'
import type { Applied, MemoryChange, SaveOptions, Writer } from '../memory-store.ts'
import { judge, type Verdict } from './judge.ts'
import { keepIndex } from './index-keeping.ts'
import { alone } from './alone.ts'
import type { Keeper } from './keeper.ts'
import { clearLeftovers } from './leftovers.ts'
import { put } from './put.ts'
import { change } from './unfinished.ts'
import { keepVersion } from './versions.ts'

/** Makes changes, in order, each on its own: the outcome says of every one what became of it. */
export async function applyWrite(
  keeper: Keeper,
  changes: readonly MemoryChange[],
  by: Provenance,
  options: SaveOptions,
): Promise<Result<{ applied: readonly Applied[]; dropped: readonly string[] }>> {
  return await alone(keeper, async () => {
    const applied: Applied[] = []
    for (const wanted of changes) {
      const verdict = judged(keeper, wanted, by, options)
      const done = await carryOut(keeper, verdict, wanted, options)
      if (!done.ok) return done
      applied.push(done.applied)
    }
    const changed = applied.some(({ kind }) => kind === 'written' || kind === 'removed')
    const index = changed ? await keepIndex(keeper) : { ok: true as const, dropped: [] }
    return index.ok ? { ok: true, applied, dropped: index.dropped } : index
  })
}

const judged = (keeper: Keeper, wanted: MemoryChange, by: Provenance, how: SaveOptions): Verdict =>
  judge(wanted, by, keeper.ledger, {
    review: keeper.review === true,
    salt: keeper.ledger.salt,
    approved: how.approved === true,
    saidAt: how.saidAt,
    via: how.via,
  })

type Done = Result<{ applied: Applied }>

async function carryOut(
  keeper: Keeper,
  verdict: Verdict,
  wanted: MemoryChange,
  options: SaveOptions,
): Promise<Done> {
  const { file } = verdict
  const said = (kind: Applied['kind'], rest: Partial<Applied> = {}): Done => ({
    ok: true,
    applied: { file, kind, version: null, text: null, by: nobody, code: null, why: '', notes: [], ...rest },
  })
  const refused = (code: FailureCode, why: string): Done => said('refused', { code, why })
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
    keeper.ledger.known(file, now.sha)?.by.trust === by.trust
  )
    return said('unchanged', { text, by, notes })
  const kept = text === null ? { ok: true as const, sha: null } : await keepVersion(keeper, text)
  if (!kept.ok) return kept
  const record = recordOf(verdict, kept.sha, now.sha, options.via, keeper.clock.now())
  if (record.do === 'hold') {
    const noted = await keeper.ledger.append(record, keeper.unique)
    return noted.ok ? said('held', { version: noted.record.n, text, by, why, notes }) : noted
  }
  const done = await change(keeper, record, () => put(keeper, file, text, now.mark))
  if (!done.ok) return done.isNoted ? refused(done.failure.code, done.failure.message) : done
  return said(text === null ? 'removed' : 'written', { version: done.version, text, by, notes })
}

const nobody: Provenance = { kind: 'model', trust: 'data', session: null, message: null, from: [], at: 0 }

async function readNow(
  keeper: Keeper,
  file: string,
): Promise<Result<{ sha: string | null; mark: string | null }>> {
  const look = () => readBytes(keeper.fs, keeper.place.root, file)
  let read = await look()
  if (!read.ok && read.failure.code === 'hardlink') {
    const cleared = await clearLeftovers(keeper, new Set([dirname(file)]))
    read = cleared.ok ? await look() : cleared
  }
  if (read.ok) return { ok: true, sha: shaOf(read.bytes), mark: read.stat.mark }
  return read.failure.code === 'not-found' ? { ok: true, sha: null, mark: null } : read
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
) {
  const { file, by, why } = verdict
  if (verdict.kind === 'hold')
    return { do: 'hold' as const, at, file, sha, before, head: verdict.head, by, why }
  if (sha === null) return { do: 'remove' as const, at, file, before: before ?? '', by, via }
  return { do: 'write' as const, at, file, sha, before, head: verdict.head ?? noHead, by, via }
}
const noHead: MemoryHead = {
  name: '',
  description: '',
  type: null,
  triggers: [],
  supersedes: [],
  expires: null,
}
