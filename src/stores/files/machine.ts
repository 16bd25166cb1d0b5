// What the store on disk asks of the machine. Everything comes in from outside, so that a test can bring its own.
import { randomUUID } from 'node:crypto'
import { machineFileSystem, type FileSystem } from '../../disk/fs.ts'
import type { LockOptions, LockOwner } from '../../disk/lock.ts'
import { machineProcesses, type Processes } from '../../disk/processes.ts'
import { defaults } from '../../settings/defaults.ts'
import { systemClock, type Clock } from '../../transcript/ids.ts'
import type { Owner } from '../../transcript/store.ts'

export type SyncPolicy = typeof defaults.store.fsync

export interface Machine {
  readonly fs: FileSystem
  readonly processes: Processes
  readonly clock: Clock
  /** Text that was never used before. */
  readonly unique: () => string
  /** Runs something later; gives back how to call it off. */
  readonly later: (ms: number, run: () => void) => () => void
}

/** This machine, for those who do not bring their own. */
export const thisMachine: Machine = {
  fs: machineFileSystem,
  processes: machineProcesses,
  clock: systemClock,
  unique: () => randomUUID(),
  later: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

export const lockOptionsOf = (machine: Machine): LockOptions => ({
  fs: machine.fs,
  processes: machine.processes,
  now: () => machine.clock.now(),
  unique: machine.unique,
  unreadableMs: defaults.store.unreadableLockMs,
  beatMs: defaults.store.lockBeatMs,
  maxBytes: defaults.store.maxLockBytes,
  tries: defaults.store.lockTries,
})

export const ownerOf = ({ host, pid, since, freeAt }: LockOwner): Owner => ({
  who: `process ${pid} on ${host}`,
  since,
  ...(freeAt === undefined ? {} : { freeAt }),
})
