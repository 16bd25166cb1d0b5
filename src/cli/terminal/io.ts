// The edge to the process: streams, environment, signals. Everything else in this room gets an `Io`.
import { existsSync, fstatSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { errorText } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import { absolutePath } from '../../tools/shell/environment.ts'
import { prose } from './tables.ts'

export interface Lines extends AsyncIterable<string> {
  close(): void
}

export interface Io {
  readonly cwd: string
  readonly userHome: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  readonly inIsTerminal: boolean
  /** The room of a line on stdout; without end where no terminal shows it. */
  readonly columns: number
  /** Whether colours are wanted, each for its own stream. */
  readonly outColours: boolean
  out(text: string): void
  err(text: string): void
  /** All of standard input where something is piped in; null where a person or nothing sits there. */
  piped(): Promise<
    | {
        readonly ok: true
        readonly text: string | null
        /** What was done to read it. */ readonly notice?: string
      }
    | { readonly ok: false; readonly why: string }
  >
  /** Standard input line by line, as it comes; `close` ends it. */
  lines(): Lines
  /** One line typed by a person, not shown. */
  secret(question: string): Promise<string | null>
  /** Called at each Ctrl-C or polite request to end. Gives back how to stop listening. */
  onInterrupt(listener: () => void): () => void
  /** Ends at once, whatever runs. */
  exitNow(code: number): never
}

/** Where the process was started; or why nothing can begin there. */
export function startPlace(): ({ readonly ok: true } & StartPlace) | NotStarted {
  const cwd = workingFolder()
  if (cwd === null)
    return notStarted(
      'the working folder is gone (deleted, moved, or not readable by you). Change to another folder and start pal there',
    )
  const userHome = homeFolder(process.env, cwd)
  if (userHome === null)
    return notStarted(
      `there is no home folder: HOME is not set, and user id ${process.getuid?.() ?? 'of this process'} has no entry in the user database. ` +
        'Set HOME to a folder you can write to, or PALIMPSEST_HOME if only pal needs one',
    )
  // Below a name that only looks like it everything would be kept in another place.
  if (isUnreadableName(userHome) && !existsSync(userHome))
    return notStarted(
      `${unreadableName('the home folder', userHome)}. Set HOME to a folder with another name`,
    )
  return { ok: true, cwd, userHome }
}

/** The system hands over names as text, and bytes that are no UTF-8 as this character: such a path leads nowhere. */
export const isUnreadableName = (path: string): boolean => path.includes('\uFFFD')
export const unreadableName = (what: string, path: string): string =>
  `the name of ${what} has bytes that are not UTF-8, and pal cannot use it: ${path}`

type StartPlace = Pick<Io, 'cwd' | 'userHome'>
interface NotStarted {
  readonly ok: false
  readonly why: string
}
const notStarted = (why: string): NotStarted => ({ ok: false, why })

function workingFolder(): string | null {
  try {
    return process.cwd()
  } catch {
    return null
  }
}

/**
 * A user without an entry in the user database (a container started with a bare number) has no home but by a variable.
 * Where pal has a folder of its own, one in it takes its place: there is no other that rules with ~ could protect.
 */
function homeFolder(environment: NodeJS.ProcessEnv, cwd: string): string | null {
  const own = environment['PALIMPSEST_HOME'] ?? ''
  // The first follows HOME, also where it is set to nothing.
  for (const ask of [homedir, () => userInfo().homedir]) {
    try {
      const home = ask()
      if (isAbsolute(home)) return home
    } catch {
      // The user database has no entry.
    }
  }
  return own === '' ? null : resolve(cwd, own, 'home')
}

/** As a shell says of a program that wrote to nobody. */
const brokenPipe = 141

export function processIo({ cwd, userHome }: StartPlace): Io {
  const { env, stdin, stdout, stderr } = process
  // Every program we start ourselves is looked for here, and a relative folder would be the project's.
  if (env['PATH'] !== undefined) env['PATH'] = absolutePath(env['PATH'])
  const wantsColours = (isTerminal: boolean): boolean =>
    isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  // Whoever reads may stop reading (`pal … | head`). Nobody is left to tell, so what runs is asked to end, once.
  let isClosed = false
  const onClosed = (error: NodeJS.ErrnoException): boolean => {
    if (error.code !== 'EPIPE') return false
    if (!isClosed && process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM')
    // Where nothing runs it ends as other programs do, which no shell reports.
    else if (!isClosed) process.exit(brokenPipe)
    isClosed = true
    return true
  }
  // A full disk behind `pal … > file`. What runs goes on, for the session keeps it; a script must not take it for done.
  let isLost = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (onClosed(error) || isLost) return
    isLost = true
    process.once('exit', () => (process.exitCode ||= 1))
    stderr.write(`pal: stdout cannot be written to, so output is lost: ${error.message}\n`)
  })
  // Where the error stream fails, nobody can be told; the answer may still arrive.
  stderr.on('error', onClosed)
  return {
    cwd,
    userHome,
    environment: env,
    outIsTerminal: stdout.isTTY,
    errIsTerminal: stderr.isTTY,
    inIsTerminal: stdin.isTTY,
    // Asked each time: a window may be resized while something runs.
    get columns() {
      return stdout.isTTY ? stdout.columns || defaults.cli.columns : Infinity
    },
    outColours: wantsColours(stdout.isTTY),
    out: (text) => void (isClosed || isLost || stdout.write(text)),
    err: (text) =>
      void (
        isClosed || stderr.write(stderr.isTTY ? notice(text, stderr.columns || defaults.cli.columns) : text)
      ),
    piped: () =>
      readPiped(() => stderr.write('pal: waiting for stdin to end; close it, or use < /dev/null\n')),
    lines: readLines,
    secret: askSecret,
    onInterrupt: (listener) => {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
      for (const signal of signals) process.on(signal, listener)
      return () => {
        for (const signal of signals) process.off(signal, listener)
      }
    },
    exitNow: (code) => process.exit(code),
  }
}

/** Notices wrap at blanks: a terminal breaks words. Everything else on stderr is left as it is. */
const notice = (text: string, room: number): string => (text.startsWith('pal: ') ? prose(text, room) : text)

/** The same, but what wants to hear of an interrupt is kept in a set: whoever runs a conversation decides who is meant. */
export const withInterrupts = (io: Io, listeners: Set<() => void>): Io => ({
  ...io,
  get columns() {
    return io.columns
  },
  onInterrupt: (listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
})

type Piped = Awaited<ReturnType<Io['piped']>>

async function readPiped(onWait: () => void): Promise<Piped> {
  if (!isPiped()) return { ok: true, text: null }
  const { stdinBytes, stdinNoticeMs } = defaults.cli
  const timer = setTimeout(onWait, stdinNoticeMs)
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of process.stdin as AsyncIterable<Buffer>) {
      bytes += piece.byteLength
      if (bytes > stdinBytes)
        return {
          ok: false,
          why: `stdin is longer than ${stdinBytes} bytes; put it into a file and name the file`,
        }
      pieces.push(piece)
    }
  } catch (error) {
    return {
      ok: false,
      why: `stdin cannot be read (${errorText(error)})`,
    }
  } finally {
    clearTimeout(timer)
  }
  return textOf(Buffer.concat(pieces))
}

/** Text as programs pipe it: UTF-8; UTF-16 with its mark, as other systems write it; else Latin-1, which has no wrong bytes. */
function textOf(bytes: Buffer): Piped {
  const decoded = (encoding: string): string | null => {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes)
    } catch {
      return null
    }
  }
  const mark = bytes.subarray(0, 2).toString('hex')
  const wide = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : null
  const text = decoded(wide ?? 'utf-8')
  if (text !== null)
    return wide === null ? { ok: true, text } : { ok: true, text, notice: 'stdin was read as UTF-16' }
  if (bytes.includes(0))
    return {
      ok: false,
      why: 'stdin is not text; put it into a file and name the file in the prompt',
    }
  return {
    ok: true,
    text: new TextDecoder('windows-1252').decode(bytes),
    notice:
      'stdin is not UTF-8 and was read as Latin-1 (windows-1252); if that is wrong, convert it first, as with iconv -f FROM -t UTF-8',
  }
}

/** Said where text that was handed over as text holds the sign for bytes that are none. */
export const badBytes =
  'the prompt contains bytes that are not UTF-8; each is sent as \uFFFD. Use a UTF-8 locale, or pipe the text into pal -p, which reads Latin-1 too'

/** A file, a pipe or a socket; a terminal or `/dev/null` has nothing to say. */
function isPiped(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice()
  } catch {
    // Standard input was closed by whoever started us.
    return false
  }
}

/** The terminal itself edits the line and turns Ctrl-C into a signal, so that it arrives while a turn runs. */
function readLines(): Lines {
  const lines = createInterface({ input: process.stdin, terminal: false, crlfDelay: Infinity })
  return { close: () => lines.close(), [Symbol.asyncIterator]: () => lines[Symbol.asyncIterator]() }
}

async function askSecret(question: string): Promise<string | null> {
  const { Writable } = await import('node:stream')
  process.stderr.write(question)
  const silent = new Writable({ write: (_piece, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY })
  const line = await new Promise<string | null>((resolve) => {
    lines.once('line', resolve)
    lines.once('close', () => resolve(null))
  })
  lines.close()
  process.stderr.write('\n')
  return line
}

/** Resolves with the next interrupt. */
export function interrupted(io: Io): Promise<void> {
  return new Promise((resolve) => {
    const stop = io.onInterrupt(() => {
      stop()
      resolve()
    })
  })
}

/** Longer than any program is stopped; what matters is that a timer is there. */
const foreverMs = 2 ** 31 - 1

/** Stops the process as Ctrl-Z does in every program; ends when the shell has it go on (`fg`). */
export function suspend(): Promise<void> {
  return new Promise((resolve) => {
    // A listener for signals keeps no process alive, and the keyboard is not listened to meanwhile: without this the
    // program could end before it hears that it goes on.
    const alive = setInterval(() => undefined, foreverMs)
    process.once('SIGCONT', () => {
      clearInterval(alive)
      resolve()
    })
    // The whole group, as the terminal would.
    process.kill(0, 'SIGTSTP')
  })
}
