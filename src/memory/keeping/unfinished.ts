// A write is noted in the ledger before its file is changed, so who dies between the two leaves a ledger that knows a file
// which never came. So each write first says which record it is about to make: `writing.json` beside the ledger. Whoever
// is alone next finds it there and does what is missing, from the version that was kept; nothing that somebody changed
// meanwhile is touched.
import { objectIn } from '../../transcript/json.ts'
import { join } from 'node:path'
import type { Failure, Result } from '../../disk/fs.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { readBytes, shaOf } from '../files.ts'
import { readSmall } from '../../disk/small-file.ts'
import type { Keeper } from './keeper.ts'
import { put } from './put.ts'
import type { NewRecord, Removed, RemovedFact, Written, WrittenFact } from './records.ts'
import { readVersion } from './versions.ts'

const fileOf = ({ place }: Keeper): string => join(place.state, 'writing.json')

export type Changed =
  | { readonly ok: true; readonly version: number }
  /** `isNoted`: the ledger could be written, the file could not. */
  | { readonly ok: false; readonly isNoted: boolean; readonly failure: Failure }

/** Notes a change in the ledger and makes it: both, or neither in the end. */
export async function change(
  keeper: Keeper,
  record: WrittenFact | RemovedFact,
  putFile: () => Promise<Result<object>>,
): Promise<Changed> {
  const begunNow = await beginWrite(keeper)
  if (!begunNow.ok) return { ...begunNow, isNoted: false }
  const noted = await keeper.ledger.append(record, keeper.unique)
  if (!noted.ok) return { ...noted, isNoted: false }
  const done = await putFile()
  if (done.ok) {
    await endWrite(keeper)
    return { ok: true, version: noted.record.n }
  }
  await takeBack(keeper, record)
  return { ...done, isNoted: true }
}

/** Says that the next record is about to be made. */
async function beginWrite(keeper: Keeper): Promise<Result<object>> {
  const body = Buffer.from(JSON.stringify({ record: keeper.ledger.next }))
  return await replaceFile(keeper.fs, fileOf(keeper), body, {
    mode: defaults.memory.fileMode,
    unique: keeper.unique,
  })
}

const endWrite = (keeper: Keeper): Promise<boolean> => removeIfThere(keeper.fs, fileOf(keeper))

/** The file could not be changed: the ledger says again what stands there. Where that fails too, the next one finishes it. */
async function takeBack(keeper: Keeper, record: WrittenFact | RemovedFact): Promise<void> {
  const { file, before, by, via } = record
  const at = keeper.clock.now()
  const former = before === null || before === '' ? null : keeper.ledger.known(file, before)
  const again: NewRecord | null =
    former !== null
      ? { do: 'write', at, file, sha: former.sha, before, head: former.head, by: former.by, via }
      : record.do === 'write'
        ? { do: 'remove', at, file, before: record.sha, by, via }
        : null
  if (again === null || (await keeper.ledger.append(again, keeper.unique)).ok) await endWrite(keeper)
}

/**
 * Does what of the last write is missing, or takes it out of the ledger where it cannot be done. The caller is alone and the
 * ledger is fresh. That it fails stops nobody's work.
 */
export async function finishWrite(keeper: Keeper): Promise<void> {
  const n = await begun(keeper)
  if (n === null) return
  const record = keeper.ledger.records().at(-1)
  if (record?.n !== n || (record.do !== 'write' && record.do !== 'remove'))
    return void (await endWrite(keeper))
  const done = await redo(keeper, record)
  await (done.ok ? endWrite(keeper) : takeBack(keeper, record))
}

async function redo(keeper: Keeper, record: Written | Removed): Promise<Result<object>> {
  const now = await readBytes(keeper.fs, keeper.place.root, record.file)
  // With a second name it is there; that is cleared up by whoever reads it next.
  if (!now.ok && now.failure.code === 'hardlink') return { ok: true }
  if (!now.ok && now.failure.code !== 'not-found') return now
  const sha = now.ok ? shaOf(now.bytes) : null
  const before = record.before === '' ? null : record.before
  if (sha !== before || sha === (record.do === 'write' ? record.sha : null)) return { ok: true }
  const text =
    record.do === 'write' ? await readVersion(keeper, record.sha) : { ok: true as const, text: null }
  // A version that is gone was forgotten.
  if (!text.ok) return { ok: true }
  return await put(keeper, record.file, text.text, now.ok ? now.stat.mark : null)
}

async function begun(keeper: Keeper): Promise<number | null> {
  const read = await readSmall(keeper.fs, fileOf(keeper), defaults.store.maxLockBytes)
  if (!read.ok) return null
  const record = objectIn(read.bytes.toString('utf8'))?.['record']
  return typeof record === 'number' ? record : nothingNoted
}
/** What cannot be read was torn before anything was noted. */
const nothingNoted = -1
