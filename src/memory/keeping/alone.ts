// Every change of memories is made under one lock for all processes, on a ledger that was read after the lock was taken, so
// that no update is lost, and is made whole. Failures are values; the lock is given back whatever happens.
import { join } from 'node:path'
import { attempt, makeFolders, type Failure, type Result } from '../../disk/fs.ts'
import {
  holds,
  releaseLock,
  takeLock,
  type Lock,
  type LockOptions,
  type LockOutcome,
} from '../../disk/lock.ts'
import { defaults } from '../../settings/defaults.ts'
import { fileNow, folderMode, put, versionText, type Keeper } from './keeper.ts'
import { objectIn } from '../../transcript/json.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import { readSmall } from '../../disk/small-file.ts'
import type { NewRecord, Removed, RemovedFact, Written, WrittenFact } from './records.ts'

/** Does something while nobody else changes the folder. The ledger is fresh. */
export function alone<T extends object>(keeper: Keeper, work: () => Promise<Result<T>>): Promise<Result<T>> {
  const mine = keeper.line.last.then(() => locked(keeper, work))
  // Whether it went well is the caller's to hear; the next in line only waits for its end.
  keeper.line.last = mine.then(
    () => undefined,
    () => undefined,
  )
  return mine
}

async function locked<T extends object>(keeper: Keeper, work: () => Promise<Result<T>>): Promise<Result<T>> {
  const made = await makePlace(keeper)
  if (!made.ok) return made
  const options = lockOptions(keeper)
  const path = join(keeper.place.state, 'lock')
  const end = keeper.clock.now() + defaults.memory.lockWaitMs
  for (;;) {
    const taken = await takeLock(path, options)
    if (taken.ok) {
      try {
        const fresh = await keeper.ledger.refresh()
        if (!fresh.ok) return fresh
        await finishWrite(keeper)
        return await work()
      } finally {
        await giveBack(taken.lock, options)
      }
    }
    const isBusy = taken.why === 'taken' || taken.failure.code === 'busy'
    if (!isBusy && taken.why === 'failed') return { ok: false, failure: taken.failure }
    if (keeper.clock.now() > end) return { ok: false, failure: busy(keeper.place.root) }
    await untilMoved(keeper, taken)
  }
}

/**
 * Until the lock changes hands, which costs little to see, so that nobody waits much longer than the work of others takes. Or
 * for a while: who died gives nothing back.
 */
async function untilMoved(keeper: Keeper, taken: Exclude<LockOutcome, { ok: true }>): Promise<void> {
  for (let left: number = defaults.memory.lockLooks; left > 0; left--) {
    await (keeper.wait ?? byTimer)(defaults.memory.lockPollMs)
    if (taken.why === 'failed') return
    const { seen } = taken
    const looked = await attempt('looking at the lock', async () => ({ is: await holds(seen, keeper.fs) }))
    if (!looked.ok || !looked.is) return
  }
}

/** A lock that stays behind would keep everybody out for as long as this process lives. */
async function giveBack(lock: Lock, options: LockOptions): Promise<void> {
  for (let left: number = defaults.memory.releaseTries; left > 0; left--)
    if ((await releaseLock(lock, options)).ok) return
}

const byTimer = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const busy = (root: string): Failure => ({
  code: 'busy',
  message: `another process keeps changing the memories in ${root}; try again`,
})

/** Both folders, each a real one: a link planted in their place is refused. */
async function makePlace({ fs, place }: Keeper): Promise<Result<object>> {
  return await attempt(`opening the memories in ${place.root}`, async () => {
    for (const [path, mode] of [
      [place.root, folderMode(place)],
      [place.state, defaults.memory.folderMode],
    ] as const) {
      await makeFolders(fs, path, mode)
      const { kind } = await fs.stat(path)
      if (kind !== 'folder')
        throw Object.assign(new Error(`${path} is not a folder of its own`), {
          code: kind === 'link' ? 'ELOOP' : 'ENOTDIR',
        })
    }
  })
}

const lockOptions = ({ fs, processes, clock, unique }: Keeper): LockOptions => ({
  fs,
  processes,
  now: () => clock.now(),
  unique,
  unreadableMs: defaults.store.unreadableLockMs,
  beatMs: defaults.store.lockBeatMs,
  maxBytes: defaults.store.maxLockBytes,
  tries: defaults.store.lockTries,
})

// A write is noted in the ledger before its file is changed, so who dies between the two leaves a ledger that knows a file
// which never came. So each write first says which record it is about to make: `writing.json` beside the ledger. Whoever
// is alone next finds it there and does what is missing, from the version that was kept; nothing that somebody changed
// meanwhile is touched.

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
async function finishWrite(keeper: Keeper): Promise<void> {
  const n = await begun(keeper)
  if (n === null) return
  const record = keeper.ledger.records().at(-1)
  if (record?.n !== n || (record.do !== 'write' && record.do !== 'remove'))
    return void (await endWrite(keeper))
  const done = await redo(keeper, record)
  await (done.ok ? endWrite(keeper) : takeBack(keeper, record))
}

async function redo(keeper: Keeper, record: Written | Removed): Promise<Result<object>> {
  const now = await fileNow(keeper, record.file)
  // With a second name it is there; that is cleared up by whoever reads it next.
  if (!now.ok) return now.failure.code === 'hardlink' ? { ok: true } : now
  const before = record.before === '' ? null : record.before
  const after = record.do === 'write' ? record.sha : null
  if (now.sha !== before || now.sha === after) return { ok: true }
  const text = await versionText(keeper, after)
  // A version that is gone was forgotten.
  return text.ok ? await put(keeper, record.file, text.text, now.mark) : { ok: true }
}

async function begun(keeper: Keeper): Promise<number | null> {
  const read = await readSmall(keeper.fs, fileOf(keeper), defaults.store.maxLockBytes)
  if (!read.ok) return null
  const record = objectIn(read.bytes.toString('utf8'))?.['record']
  return typeof record === 'number' ? record : nothingNoted
}
/** What cannot be read was torn before anything was noted. */
const nothingNoted = -1
