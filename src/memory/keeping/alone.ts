// Every change of memories is made under one lock for all processes, on a ledger that was read after the lock was taken, so
// that no update is lost. Failures are values; the lock is given back whatever happens.
import { join } from 'node:path'
import { attempt, makeFolders, type Failure, type Result } from '../../disk/fs.ts'
import { releaseLock, takeLock, type Lock, type LockOptions } from '../../disk/lock.ts'
import { defaults } from '../../settings/defaults.ts'
import { folderMode, type Keeper } from './keeper.ts'
import { finishWrite } from './unfinished.ts'

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
  for (
    let pause: number = defaults.memory.lockPollMs;
    ;
    pause = Math.min(2 * pause, defaults.memory.lockMaxPollMs)
  ) {
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
    await (keeper.wait ?? byTimer)(pause)
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
    return {}
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
