// The numbers of extraction and consolidation; part of `defaults`.
import { KB, minute, second } from '../units.ts'

const hour = 60 * minute

export const dreamDefaults = {
  extraction: {
    /** Turns between two looks. */
    every: 1,
    /** Model turns of one look. */
    rounds: 5,
    /** How long the end of a session waits for one that runs. */
    exitMs: 60 * second,
    /** Failures in a row after which none is tried in this session. */
    failures: 3,
    /** Memories named to it, the newest. */
    manifestFiles: 200,
    /** Memories compared with a new one, so that nothing is saved twice; the newest. */
    comparedFiles: 1000,
  },
  dream: {
    /** Time since the last one, and since the last look at the sessions. */
    everyMs: 24 * hour,
    scanMs: 10 * minute,
    /** Sessions that must have been worked in since. */
    sessions: 5,
    /** A lock that cannot be read is given up after this time. */
    unreadableMs: 60 * minute,
    /** Model turns of one. */
    rounds: 30,
    /** Memories it looks at, the newest, and pages of the diary. */
    files: 200,
    diaryPages: 30,
    /** What may be lost at once: a share of all lines, and this many whatever the share. */
    lossShare: 0.2,
    lossLines: 3,
    /** The telling words of a retired memory that the one in its place must share. */
    heirShare: 0.5,
    /** Versions looked through for the day on which a line was written. */
    versionsRead: 50,
    /** Longest journal, and how many are read for an undo. */
    setBytes: 4096 * KB,
    setsRead: 100,
  },
  memoryJobs: {
    /** Turns and ended jobs that are kept for people to look at. */
    turns: 30,
    ended: 20,
    /** Of one turn's words this many. */
    turnChars: 400,
  },
} as const
