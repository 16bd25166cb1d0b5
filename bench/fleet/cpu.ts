// Processor time of the server with all its processes, and of one of them alone, by what the system counts for them.
import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = 100

interface Stat {
  readonly parent: number
  readonly own: number
  /** With children that have ended. */
  readonly ended: number
}

function statOf(pid: number): Stat | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /su, '')
      .split(' ')
    const [parent, own, ended] = [
      Number(fields[1]),
      Number(fields[11]) + Number(fields[12]),
      Number(fields[13]) + Number(fields[14]),
    ]
    return { parent, own, ended }
  } catch {
    return null
  }
}

/** Seconds; only counts processes that live, and those that the first one has seen end. */
export function serverSeconds(pid: number): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/u.test(name)) continue
    const stat = statOf(Number(name))
    if (stat === null) continue
    if (Number(name) === pid) ticks += stat.own + stat.ended
    else if (stat.parent === pid) ticks += stat.own
  }
  return ticks / ticksPerSecond
}

/** Seconds of one process, to the nanosecond: what others of the server do beside it is not in it. */
export const processSeconds = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9
