// A shell that can change nothing, to try on it what is let run unasked.
import { spawnSync } from 'node:child_process'

/** The arguments of bubblewrap before the command. */
export const behindWall: readonly string[] = [
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--proc',
  '/proc',
  '--unshare-net',
  '--unshare-pid',
  '--die-with-parent',
]

export const hasWall = spawnSync('bwrap', [...behindWall, 'true']).status === 0
if (!hasWall) console.warn('bubblewrap does not work here: what is allowed is not tried on a real shell')
