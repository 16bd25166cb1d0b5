// Who is running: what a lock must know of a process to tell the one that took it from another with the same number.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { machineBeacons, type Beacons } from './beacon.ts'

export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** When the process started, in ticks since the machine did; null where the system does not say. */
  readonly start: string | null
  /** Which run of the machine this is; null where the system does not say. */
  readonly boot: string | null
  /** The name space its number is of; left out in what earlier versions wrote. */
  readonly space?: string | null | undefined
  /** Which machine this is, whatever it is called and however often it was started; null where the system does not say. */
  readonly machine?: string | null | undefined
}

export interface Processes {
  readonly beacons: Beacons
  /** Does something again and again, without keeping the process alive; gives back how to end it. */
  repeat(ms: number, run: () => void): () => void
  self(): Promise<ProcessIdentity>
  /** A process of this machine, or null when there is none with that number or it is only waiting to be buried. */
  look(pid: number): Promise<{ readonly start: string | null } | null>
}

const hasProc = existsSync('/proc/self/stat')

/** What does not change while a process runs is asked for once: on macOS each answer is a program that is started. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null
  return () => (asked ??= ask())
}
const ownBoot = once(
  async () => (await textOf('/proc/sys/kernel/random/boot_id'))?.trim() ?? (await bootByTime()),
)
const ownMachine = once(() => machineId())

export const machineProcesses: Processes = {
  self: async () => ({
    host: hostname(),
    pid: process.pid,
    start: hasProc ? ((await statusOf('self'))?.start ?? null) : await startByPs(process.pid),
    boot: await ownBoot(),
    space: await readlink('/proc/self/ns/pid').catch(() => null),
    machine: await ownMachine(),
  }),
  beacons: machineBeacons,
  repeat: (ms, run) => {
    const timer = setInterval(run, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
  look: async (pid) => {
    // macOS, and containers without /proc.
    if (!hasProc) return answersSignals(pid) ? { start: await startByPs(pid) } : null
    const status = await statusOf(String(pid))
    return status === null || status.dead ? null : { start: status.start }
  },
}

/** Whether a process is certainly over. Of one on another machine that cannot be known. */
export const isOver = async (identity: ProcessIdentity): Promise<boolean> =>
  (await ownerState(machineProcesses, identity)) === 'gone'

/** Null where one of the two is not known. */
export const sameOrUnknown = (
  one: string | null | undefined,
  other: string | null | undefined,
): boolean | null => (typeof one === 'string' && typeof other === 'string' ? one === other : null)

/**
 * Whether the process that wrote a record still runs. A run of the machine and a name space say whose number it is; the name
 * of the host only where the system tells neither, for it can change. One that cannot be judged from here is elsewhere: what
 * follows from that is for each reader to say.
 */
export async function ownerState(
  processes: Processes,
  { host, pid, start, boot, space, machine }: ProcessIdentity,
): Promise<'running' | 'gone' | 'elsewhere'> {
  const self = await processes.self()
  const isSameMachine = sameOrUnknown(machine, self.machine) ?? host === self.host
  const isSameRun = sameOrUnknown(boot, self.boot)
  if (isSameRun === false) return isSameMachine ? 'gone' : 'elsewhere'
  const isSameSpace = isSameRun === null ? null : sameOrUnknown(space, self.space)
  if (!(isSameSpace ?? (isSameMachine && host === self.host))) return 'elsewhere'
  const found = await processes.look(pid)
  if (found === null) return 'gone'
  return start !== null && found.start !== null && start !== found.start ? 'gone' : 'running'
}

/** When a process started, in the words of `ps`, which need no /proc on macOS and the BSDs. */
export const startByPs = (pid: number): Promise<string | null> =>
  line('/bin/ps', '-o', 'lstart=', '-p', String(pid))

/** On macOS each run of the machine has a name of its own. */
const bootByTime = async (): Promise<string | null> =>
  process.platform === 'darwin' ? line('/usr/sbin/sysctl', '-n', 'kern.bootsessionuuid') : null

/** The number the system was given when it was installed. Hashed: others shall not know it by our files. */
async function machineId(): Promise<string | null> {
  const id =
    process.platform === 'darwin'
      ? /"IOPlatformUUID" = "([^"]+)"/.exec(
          (await line('/usr/sbin/ioreg', '-rd1', '-c', 'IOPlatformExpertDevice')) ?? '',
        )?.[1]
      : ((await textOf('/etc/machine-id')) ?? (await textOf('/var/lib/dbus/machine-id')))?.trim()
  return id === undefined || id === '' || id === 'uninitialized'
    ? null
    : createHash('sha256').update(`palimpsest ${id}`).digest('hex').slice(0, 32)
}

const line = (program: string, ...args: readonly string[]): Promise<string | null> =>
  new Promise((resolve) => {
    execFile(program, [...args], { env: { LC_ALL: 'C' }, timeout: 2000 }, (error, stdout) =>
      resolve(error === null && stdout.trim() !== '' ? stdout.trim() : null),
    )
  })

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
