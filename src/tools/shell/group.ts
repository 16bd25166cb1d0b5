// A command in a process group of its own, so that it can be stopped with everything it started. Standard input is
// closed; both outputs come through one pipe, in the order they were written, and the pipe is read only as fast as its
// reader takes it. What leaves the group on purpose (setsid, a daemon) is out of reach, unless the sandbox holds it.
import type { OrWhy } from '../../disk/failure.ts'
import { existsSync } from 'node:fs'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { defaults } from '../../settings/defaults.ts'

export interface GroupOptions {
  readonly shell: string
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** Words that stand before the shell: a program that runs it behind a wall. */
  readonly before?: readonly string[] | undefined
}

export interface GroupEnd {
  readonly code: number | null
  readonly signal: string | null
  /** Something was still running in the group when the shell had gone, and was stopped. */
  readonly leftover: boolean
}

export interface Group {
  readonly pid: number
  /** What it says. Ends when the shell has gone and the pipe is empty. */
  readonly output: AsyncIterable<Uint8Array>
  /** Settles when nothing of the group runs any more; never rejects. */
  readonly ended: Promise<GroupEnd>
  /** Asks politely, then insists. Harmless when it is over. */
  stop(): void
}

export type Started = OrWhy<{ readonly group: Group }>

export async function startGroup(command: string, options: GroupOptions): Promise<Started> {
  const [program, ...words] = [...(options.before ?? []), options.shell, '-c', `exec 2>&1; ${command}`]
  const child = spawn(program!, words, {
    cwd: options.cwd,
    env: options.environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const why = await new Promise<string | null>((resolve) => {
    child.once('spawn', () => resolve(null))
    // The system names the program where it is the folder that is not there.
    child.once('error', ({ message }) =>
      resolve(existsSync(options.cwd) ? message : `the folder ${options.cwd} is gone (deleted or moved)`),
    )
  })
  if (why !== null || child.pid === undefined) return { ok: false, why: why ?? 'no process' }
  const isWalled = (options.before ?? []).length > 0
  return { ok: true, group: groupOf(child, child.pid, isWalled) }
}

function groupOf(
  child: ChildProcessByStdio<null, Readable, Readable>,
  pid: number,
  isWalled: boolean,
): Group {
  const { stdout, stderr } = child
  let insist: NodeJS.Timeout | undefined
  let over = false
  const reading: Reading = { pieces: 0, busy: false }
  const stop = () => {
    if (over || insist !== undefined || !signalGroup(pid, 'SIGTERM')) return
    insist = setTimeout(() => signalGroup(pid, 'SIGKILL'), defaults.tools.bashKillGraceMs)
  }
  const gone = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const ended = gone.then(async (exit): Promise<GroupEnd> => {
    // Behind the wall everything ends with its first process; what is still listed is dead and waits to be collected.
    const leftover = !isWalled && signalGroup(pid, 'SIGTERM')
    if (leftover) await finish(pid)
    over = true
    clearTimeout(insist)
    await drained([stdout, stderr], reading)
    stdout.destroy()
    stderr.destroy()
    return { ...exit, leftover }
  })
  return { pid, output: outputOf([stdout, stderr], reading), ended, stop }
}

export interface Reading {
  pieces: number
  /** The reader is at work on a piece and has not asked for the next. */
  busy: boolean
}

/** Standard error holds only what the shell said before it joined the two: a syntax error. */
async function* outputOf(streams: readonly Readable[], reading: Reading): AsyncGenerator<Uint8Array> {
  for (const stream of streams) {
    try {
      for await (const chunk of stream) {
        reading.pieces++
        reading.busy = true
        yield chunk as Uint8Array
        reading.busy = false
      }
    } catch (error) {
      // We close the pipe ourselves when the shell has gone; any other failure is a real one.
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'))
        throw error
    }
  }
}

/** A process that left the group may hold the pipe for ever: wait only as long as something comes, and not for ever. */
export async function drained(streams: readonly Readable[], reading: Reading): Promise<void> {
  const closed = Promise.all(streams.map(closing)).then(() => true)
  for (let round = 0; round < drainRounds; round++) {
    const { pieces } = reading
    if (await Promise.race([closed, pause(defaults.tools.bashDrainMs)])) return
    if (!reading.busy && reading.pieces === pieces) return
  }
}
const drainRounds = 40

async function finish(pid: number): Promise<void> {
  const step = 20
  for (let waited = 0; waited < defaults.tools.bashKillGraceMs; waited += step) {
    if (!signalGroup(pid, 0)) return
    await pause(step)
  }
  signalGroup(pid, 'SIGKILL')
}

/** False when the group is empty. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

const closing = (stream: Readable) =>
  new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once('close', () => resolve())))
const pause = (ms: number) => new Promise<false>((resolve) => setTimeout(() => resolve(false), ms))
