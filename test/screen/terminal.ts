// A person at a terminal: keys go in through a pseudo-terminal, and what a terminal would show is read back from an
// emulator. Nothing of ours is replaced.
import { spawn, type IPty } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { afterEach } from 'vitest'

export interface SeenTerminal {
  /** Types as a person would: text and keys, as bytes. */
  readonly type: (keys: string) => void
  /** The lines of the window now, without blanks at their ends. */
  readonly lines: () => readonly string[]
  /** Everything, what scrolled away included. */
  readonly all: () => string
  readonly title: () => string
  readonly cursor: () => { readonly x: number; readonly y: number; readonly isAltScreen: boolean }
  /** The bytes as they came. */
  readonly raw: () => string
  readonly ended: Promise<number>
  readonly resize: (columns: number, rows: number) => void
  readonly kill: (signal: string) => void
}

export const keys = {
  enter: '\r',
  escape: '\u001B',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlO: '\u000F',
  up: '\u001B[A',
  down: '\u001B[B',
  shiftTab: '\u001B[Z',
  tab: '\t',
  newline: '\n',
} as const

const open = new Set<IPty>()
afterEach(() => {
  for (const pty of open) pty.kill('SIGKILL')
  open.clear()
})

export interface TerminalOptions {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly columns?: number
  readonly rows?: number
}

export function runInTerminal(
  program: string,
  words: readonly string[],
  { cwd, environment, columns = 100, rows = 40 }: TerminalOptions,
): SeenTerminal {
  const emulator = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  let raw = ''
  let title = ''
  emulator.onTitleChange((text) => {
    title = text
  })
  const pty = spawn(program, [...words], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd,
    env: { ...environment, TERM: 'xterm-256color' },
  })
  open.add(pty)
  pty.onData((text) => {
    raw += text
    emulator.write(text)
  })
  // A terminal answers what it is asked.
  emulator.onData((text) => pty.write(text))
  const ended = new Promise<number>((resolve) =>
    pty.onExit(({ exitCode }) => {
      open.delete(pty)
      resolve(exitCode)
    }),
  )
  const lineAt = (at: number): string => emulator.buffer.active.getLine(at)?.translateToString(true) ?? ''
  const from = (): number => emulator.buffer.active.baseY
  return {
    type: (text) => pty.write(text),
    lines: () => Array.from({ length: emulator.rows }, (_, at) => lineAt(from() + at)),
    all: () => Array.from({ length: emulator.buffer.active.length }, (_, at) => lineAt(at)).join('\n'),
    title: () => title,
    cursor: () => ({
      x: emulator.buffer.active.cursorX,
      y: emulator.buffer.active.cursorY,
      isAltScreen: emulator.buffer.active.type === 'alternate',
    }),
    raw: () => raw,
    ended,
    resize: (nextColumns, nextRows) => {
      emulator.resize(nextColumns, nextRows)
      pty.resize(nextColumns, nextRows)
    },
    kill: (signal) => pty.kill(signal),
  }
}
