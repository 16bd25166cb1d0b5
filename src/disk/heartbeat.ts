// A sign of life for those who can look at neither the process nor its beacon: on a disk that several machines use. The owner
// of a lock changes a small file from time to time, and how old that is by the clock of the disk says whether anybody is there.
// The first change comes after one interval, so a lock that is held for a moment costs nothing.
import { closing, attempt, systemCode, writeAll, type FileSystem, type OpenFile } from './fs.ts'
import { removeIfThere } from './replace.ts'

export interface Heartbeat {
  /** Waits for a beat that is under way, and takes the file away. */
  stop(): Promise<void>
}

export interface Beating {
  readonly fs: FileSystem
  readonly path: string
  readonly mode: number
  readonly everyMs: number
  /** Does something again and again, without keeping the process alive; gives back how to end it. */
  readonly repeat: (ms: number, run: () => void) => () => void
  readonly now: () => number
}

export function startHeartbeat(beating: Beating): Heartbeat {
  let under: Promise<void> = Promise.resolve()
  let isBusy = false
  const stop = beating.repeat(beating.everyMs, () => {
    // A disk that hangs gets no second beat beside the first.
    if (isBusy) return
    isBusy = true
    under = beat(beating).finally(() => (isBusy = false))
  })
  return {
    async stop() {
      stop()
      await under
      await removeIfThere(beating.fs, beating.path)
    },
  }
}

/** One change. That it fails is no reason to stop working: whoever waits for it waits for a while. */
async function beat({ fs, path, mode, now }: Beating): Promise<void> {
  await attempt('a sign of life', async () => {
    await closing(await openOrMake(fs, path, mode), async (file) => {
      // The size changes each time: then the disk sets the time, by the clock that every machine sees.
      const { bytes } = await file.stat()
      const changed = await attempt('a sign of life', () =>
        bytes === 0 ? writeAll(file, Buffer.from('.')) : file.truncate(0),
      )
      if (!changed.ok) await file.setModified(now())
    })
  })
}

async function openOrMake(fs: FileSystem, path: string, mode: number): Promise<OpenFile> {
  try {
    return await fs.open(path, 'append')
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    return await fs.open(path, 'create', mode)
  }
}

/** When a file was last changed, or null where there is none. */
export async function changedAt(fs: FileSystem, path: string): Promise<number | null> {
  const stat = await attempt('looking for a sign of life', () => fs.stat(path))
  return stat.ok ? stat.modifiedMs : null
}

/** What time the disk has, by a file that is made for it; `otherwise` where none can be made. */
export async function diskTime(
  fs: FileSystem,
  path: string,
  mode: number,
  otherwise: () => number,
): Promise<number> {
  const made = await attempt('asking the disk for its time', async () => {
    const file = await fs.open(path, 'create', mode)
    try {
      return { now: (await file.stat()).modifiedMs }
    } finally {
      await file.close()
      await removeIfThere(fs, path)
    }
  })
  return made.ok ? made.now : otherwise()
}
