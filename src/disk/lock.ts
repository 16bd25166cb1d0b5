// A lock that survives crashes, reused process numbers, zombies and pauses (law T2).
//
// Format. A folder with one file per taking, named by its epoch: `lock/1`, `lock/2` … The highest one counts. A body is
// one line of JSON, whole from the first moment because it is linked into place:
//
//   {"host":"…","pid":7,"start":"12345","boot":"…","space":"…","machine":"…","token":"…","since":1763200000000,"beat":15000}
//   {"free":true,"left":…}                                     after a release, with what its owner left word of
//
// Taking is linking the next epoch, which only one can. Nobody ever moves or overwrites the file of another, so a taker
// that judged an old state can take nothing from a living owner: it either finds the name taken or finds a higher one
// afterwards, and steps back. An owner that was robbed (it seemed dead) sees the epoch above its own and is fenced.
//
// The owner is alive if boot, name space of its number and start time are those of a running process. One in another name
// space of this machine is asked by its beacon (beacon.ts): `lock/beacon-3`. One of another run of the machine is dead where
// the disk is one that only this machine uses. Any other is on a machine that cannot be looked at, whatever that is called: it
// is alive while it gives signs of life (heartbeat.ts: `lock/beat-3`, every `beat` ms) and dead when none has come for a long
// time by the clock of the disk. An owner of an earlier version gives none, and then age does not break its lock.
// A body that cannot be read is stale after a while.
import { join } from 'node:path'
import {
  closing,
  attempt,
  readAt,
  reading,
  systemCode,
  unlessMissing,
  writeAll,
  type Failure,
  type FileStat,
  type Result,
  type FileSystem,
} from './fs.ts'
import type { Beacon } from './beacon.ts'
import { changedAt, diskTime, startHeartbeat, type Heartbeat } from './heartbeat.ts'
import { ownerState, sameOrUnknown, type ProcessIdentity, type Processes } from './processes.ts'
import { removeIfThere, replaceFile, temporaryName } from './replace.ts'

export interface LockOwner {
  readonly host: string
  readonly pid: number
  readonly since: number
  /** Its process cannot be seen from here: when its lock is free unless it gives a sign of life. */
  readonly freeAt?: number | undefined
}
export interface Lock {
  readonly path: string
  readonly token: string
  /** Grows with every taking. */
  readonly epoch: number
  /** Which file it is; compared to notice that it was removed. */
  readonly mark: string
  readonly beacon: Beacon | null
  readonly heartbeat: Heartbeat
}
export type LockOutcome =
  /** `left` is the word of the one before, if it gave the lock back in order. */
  | { readonly ok: true; readonly lock: Lock; readonly left?: unknown }
  /** `seen`: what to ask `holds` about while one waits for it. */
  | {
      readonly ok: false
      readonly why: 'taken'
      readonly owner: LockOwner
      readonly seen: Pick<Lock, 'path' | 'epoch' | 'mark'>
    }
  | { readonly ok: false; readonly why: 'failed'; readonly failure: Failure }

export interface LockOptions {
  readonly fs: FileSystem
  readonly processes: Processes
  readonly now: () => number
  readonly unique: () => string
  /** Age after which a lock that cannot be read is stale. */
  readonly unreadableMs: number
  /** How often an owner gives a sign of life. */
  readonly beatMs: number
  /** Longest body that is looked at. */
  readonly maxBytes: number
  /** How often taking is tried again when others take at the same moment. */
  readonly tries: number
}

interface Body extends ProcessIdentity {
  readonly token: string
  readonly since: number
  readonly beat: number | null
}
type Found =
  | { readonly kind: 'free'; readonly left?: unknown }
  | { readonly kind: 'owned'; readonly body: Body; readonly modifiedMs: number; readonly mark: string }
  | { readonly kind: 'unreadable'; readonly modifiedMs: number; readonly mark: string }

const fileMode = 0o600
const folderMode = 0o700
/** Old epochs that stay, so that listing the folder while others take always shows one that is higher. */
const epochsKept = 8
/** Signs of life that may be missing before an owner counts as dead: a machine that sleeps for a while gives none. */
const beatsMissed = 20

export async function takeLock(path: string, options: LockOptions): Promise<LockOutcome> {
  const result = await attempt(`taking the lock ${path}`, async () => {
    await makeLockFolder(path, options.fs)
    for (let left = options.tries; left > 0; left--) {
      const outcome = await tryToTake(path, options)
      if (outcome !== null) return { outcome }
    }
    const failure = {
      code: 'busy',
      message: `the lock ${path} keeps changing hands; try again`,
    }
    return { outcome: { ok: false, why: 'failed', failure } as LockOutcome }
  })
  return result.ok ? result.outcome : { ok: false, why: 'failed', failure: result.failure }
}

/** Who holds it now, or null. Looks only. */
export async function lockOwner(
  path: string,
  options: LockOptions,
): Promise<Result<{ owner: LockOwner | null }>> {
  return await attempt(`reading the lock ${path}`, async () => {
    const epoch = await highestEpoch(path, options.fs)
    return {
      owner:
        epoch === 0
          ? null
          : await livingOwner(path, epoch, await find(path, epoch, options), options, async () =>
              options.now(),
            ),
    }
  })
}

/** Is it still ours, or still another's? Two looks at names, no reading: cheap enough for every write and for those who wait. */
export async function holds(lock: Pick<Lock, 'path' | 'epoch' | 'mark'>, fs: FileSystem): Promise<boolean> {
  const [own, next] = await Promise.all([
    markAt(fs, lock.path, lock.epoch),
    markAt(fs, lock.path, lock.epoch + 1),
  ])
  return own === lock.mark && next === null
}

/** Nobody shall see signs of life of one that is given up. */
export async function endSigns({ beacon, heartbeat }: Lock): Promise<void> {
  await heartbeat.stop()
  await beacon?.close()
}

/** Gives it back if it is still ours; a lock that became another's is left alone. */
export async function releaseLock(
  lock: Lock,
  options: LockOptions,
  left?: unknown,
): Promise<Result<{ released: boolean }>> {
  await endSigns(lock)
  const ours = await attempt(`reading the lock ${lock.path}`, async () => ({
    released: await holds(lock, options.fs),
  }))
  if (!ours.ok || !ours.released) return ours
  const body = Buffer.from(JSON.stringify({ free: true, left }))
  const written = await replaceFile(options.fs, fileOf(lock.path, lock.epoch), body, {
    mode: fileMode,
    unique: options.unique,
  })
  if (written.ok) return ours
  // A full disk takes no new file, but it lets go of bytes: an empty body of long ago is stale at once.
  const emptied = await attempt(`releasing the lock ${lock.path} free`, async () => {
    await closing(await options.fs.open(fileOf(lock.path, lock.epoch), 'append'), async (file) => {
      await file.truncate(0)
      await file.setModified(0)
    })
  })
  return emptied.ok ? ours : written
}

/** Null means that somebody else moved at the same time: look again. */
async function tryToTake(path: string, options: LockOptions): Promise<LockOutcome | null> {
  const { fs } = options
  const highest = await highestEpoch(path, fs)
  let left: unknown
  if (highest > 0) {
    const found = await find(path, highest, options)
    const time = (): Promise<number> =>
      diskTime(fs, join(path, temporaryName(options.unique())), fileMode, options.now)
    const owner = await livingOwner(path, highest, found, options, time)
    if (owner !== null && found.kind !== 'free')
      return { ok: false, why: 'taken', owner, seen: { path, epoch: highest, mark: found.mark } }
    if (found.kind === 'free') ({ left } = found)
  }
  const epoch = highest + 1
  const token = options.unique()
  const temporary = join(path, temporaryName(token))
  try {
    const { processes, beatMs, now } = options
    const body = { ...(await processes.self()), token, since: now(), beat: beatMs }
    const mark = await writeBody(temporary, body, fs)
    if (!(await linkIfFree(fs, temporary, fileOf(path, epoch)))) return null
    if ((await highestOrNone(path, fs)) !== epoch) {
      await removeIfThere(fs, fileOf(path, epoch))
      return null
    }
    await removeIfThere(fs, fileOf(path, epoch - epochsKept))
    await removeIfThere(fs, join(path, beaconOf(highest)))
    await removeIfThere(fs, beatOf(path, highest))
    const beacon = await processes.beacons.light(fs, path, beaconOf(epoch))
    const heartbeat = startHeartbeat({
      fs,
      path: beatOf(path, epoch),
      mode: fileMode,
      everyMs: beatMs,
      repeat: (ms, run) => processes.repeat(ms, run),
      now,
    })
    return { ok: true, lock: { path, token, epoch, mark, beacon, heartbeat }, left }
  } finally {
    await removeIfThere(fs, temporary)
  }
}

async function makeLockFolder(path: string, fs: FileSystem): Promise<void> {
  try {
    await fs.makeFolder(path, folderMode)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
  const { kind } = await fs.stat(path)
  if (kind === 'folder') return
  throw Object.assign(new Error(`${path} is not a folder`), { code: kind === 'link' ? 'ELOOP' : 'ENOTDIR' })
}

async function writeBody(path: string, body: Body, fs: FileSystem): Promise<string> {
  return await closing(await fs.open(path, 'create', fileMode), async (file) => {
    await writeAll(file, Buffer.from(JSON.stringify(body)))
    // Not for the name, which a loss of power may take together with the owner, but against an empty file behind it.
    await file.sync()
    return (await file.stat()).mark
  })
}

async function linkIfFree(fs: FileSystem, existing: string, name: string): Promise<boolean> {
  try {
    await fs.link(existing, name)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

async function livingOwner(
  path: string,
  epoch: number,
  found: Found,
  options: LockOptions,
  time: () => Promise<number>,
): Promise<LockOwner | null> {
  if (found.kind === 'unreadable') {
    const age = Math.abs(options.now() - found.modifiedMs)
    return age > options.unreadableMs ? null : { host: 'unknown', pid: 0, since: found.modifiedMs }
  }
  if (found.kind !== 'owned') return null
  const { host, pid, since, beat } = found.body
  const isDead = await isSeenDead(path, epoch, found.body, options)
  if (isDead !== null) return isDead ? null : { host, pid, since }
  if (beat === null) return { host, pid, since }
  const heardAt = Math.max(found.modifiedMs, (await changedAt(options.fs, beatOf(path, epoch))) ?? 0)
  const freeAt = heardAt + beatsMissed * beat
  return (await time()) > freeAt ? null : { host, pid, since, freeAt }
}

/** What can be seen of an owner from here; null where nothing can. */
async function isSeenDead(
  path: string,
  epoch: number,
  body: Body,
  { fs, processes }: LockOptions,
): Promise<boolean | null> {
  const self = await processes.self()
  const isSameRun = sameOrUnknown(body.boot, self.boot)
  // Another run of this machine, or another machine with its name: only the disk says which.
  if (isSameRun === false) return (await processes.beacons.isLocal(path)) ? true : null
  const state = await ownerState(processes, body)
  if (state === 'running') return false
  // Without a run to go by a number means something only on a machine that is known to be this one.
  if (state === 'gone') return (isSameRun ?? sameOrUnknown(body.machine, self.machine) === true) ? true : null
  const isLit = isSameRun === true ? await processes.beacons.isLit(fs, path, beaconOf(epoch)) : null
  return isLit === null ? null : !isLit
}

async function find(path: string, epoch: number, options: LockOptions): Promise<Found> {
  const found = await unlessMissing(
    reading(options.fs, fileOf(path, epoch), async (file) => {
      const stat = await file.stat()
      if (stat.kind !== 'file')
        throw Object.assign(new Error(`${path} holds no regular file`), { code: 'EISDIR' })
      return parsed((await readAt(file, 0, options.maxBytes)).toString('utf8'), stat)
    }),
  )
  // Only superseded epochs are ever removed, so there is a higher one by now and the next try will see it.
  return found ?? { kind: 'free' }
}

function parsed(text: string, { modifiedMs, mark }: FileStat): Found {
  try {
    const body = JSON.parse(text) as Partial<Body & { free: boolean; left: unknown }> | null
    if (body?.free === true) return { kind: 'free', left: body.left }
    if (typeof body?.host === 'string' && Number.isSafeInteger(body.pid) && typeof body.token === 'string') {
      const { host, pid, token } = body as Body
      const known = {
        start: body.start ?? null,
        boot: body.boot ?? null,
        space: body.space ?? null,
        machine: body.machine ?? null,
        since: body.since ?? modifiedMs,
        beat: Number.isSafeInteger(body.beat) ? (body.beat ?? null) : null,
      }
      return { kind: 'owned', body: { host, pid, token, ...known }, modifiedMs, mark }
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return { kind: 'unreadable', modifiedMs, mark }
}

const beaconOf = (epoch: number): string => `beacon-${epoch}`
const beatOf = (path: string, epoch: number): string => join(path, `beat-${epoch}`)
const fileOf = (path: string, epoch: number): string => join(path, String(epoch))

async function highestEpoch(path: string, fs: FileSystem): Promise<number> {
  const epochs = (await fs.names(path)).filter((name) => /^[1-9][0-9]{0,14}$/.test(name)).map(Number)
  return Math.max(0, ...epochs)
}

/** After linking, a folder that cannot be listed must not leave a lock behind that its owner does not know of. */
async function highestOrNone(path: string, fs: FileSystem): Promise<number> {
  try {
    return await highestEpoch(path, fs)
  } catch (error) {
    if (systemCode(error) === null) throw error
    return 0
  }
}

const markAt = async (fs: FileSystem, path: string, epoch: number): Promise<string | null> =>
  (await unlessMissing(fs.stat(fileOf(path, epoch))))?.mark ?? null
