// Who is running: what a lock must know of a process to tell the one that took it from another with the same number.
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** When the process started, in ticks since the machine did; null where the system does not say. */
  readonly start: string | null
  /** Which run of the machine this is; null where the system does not say. */
  readonly boot: string | null
}

export interface Processes {
  self(): Promise<ProcessIdentity>
  /** A process of this machine, or null when there is none with that number or it is only waiting to be buried. */
  look(pid: number): Promise<{ readonly start: string | null } | null>
}

export const machineProcesses: Processes = {
  self: async () => ({
    host: hostname(),
    pid: process.pid,
    start: (await statusOf('self'))?.start ?? null,
    boot: (await textOf('/proc/sys/kernel/random/boot_id'))?.trim() ?? null,
  }),
  look: async (pid) => {
    if (process.platform !== 'linux') return answersSignals(pid) ? { start: null } : null
    const status = await statusOf(String(pid))
    return status === null || status.dead ? null : { start: status.start }
  },
}

/** Whether a process is certainly over. Of one on another machine that cannot be known. */
export async function isOver(
  { host, pid, start, boot }: ProcessIdentity,
  processes: Processes = machineProcesses,
): Promise<boolean> {
  const self = await processes.self()
  if (host !== self.host) return false
  if (boot !== null && self.boot !== null && boot !== self.boot) return true
  const running = await processes.look(pid)
  return running === null || (start !== null && running.start !== null && start !== running.start)
}

/**
 * Whether the process that wrote a record still runs, by host, run of the machine, number and start. One of another host
 * cannot be judged from here: what follows from that is for each reader to say.
 */
export async function ownerState(
  processes: Processes,
  { host, pid, start, boot }: ProcessIdentity,
): Promise<'running' | 'gone' | 'elsewhere'> {
  const self = await processes.self()
  if (host !== self.host) return 'elsewhere'
  if (boot !== null && self.boot !== null && boot !== self.boot) return 'gone'
  const found = await processes.look(pid)
  if (found === null) return 'gone'
  return start !== null && found.start !== null && start !== found.start ? 'gone' : 'running'
}

async function statusOf(pid: string): Promise<{ start: string | null; dead: boolean } | null> {
  const text = await textOf(`/proc/${pid}/stat`)
  if (text === null) return null
  // The name in brackets may hold spaces and brackets of its own; the fields are counted from behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [stateField, startField] = [0, 19]
  const state = fields[stateField]
  return { start: fields[startField] ?? null, dead: state === 'Z' || state === 'X' }
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    // No such process, or no such file on this system: both mean that nothing is known.
    return null
  }
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
