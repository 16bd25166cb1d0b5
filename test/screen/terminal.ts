// A person at a terminal: keys go in through a pseudo-terminal, and what a terminal would show is read back from an
// emulator. Nothing of ours is replaced.
import { spawn, type IPty } from '@lydell/node-pty'
import xterm from '@xterm/headless'

export interface SeenTerminal {
  /** Types as a person would: text and keys, as bytes. */
  readonly type: (keys: string) => void
  /** The lines of the window now, without blanks at their ends. */
  readonly lines: () => readonly string[]
  /** Everything, what scrolled away included. */
  readonly all: () => string
  readonly title: () => string
  /** The window as the terminal would paint it. */
  readonly cells: () => readonly (readonly Cell[])[]
  readonly cursor: () => { readonly x: number; readonly y: number; readonly isAltScreen: boolean }
  /** How often it rang. */
  readonly bells: () => number
  /** The bytes as they came. */
  readonly raw: () => string
  readonly ended: Promise<number>
  readonly resize: (columns: number, rows: number) => void
  readonly kill: (signal: string) => void
}

export interface Cell {
  readonly text: string
  /** Columns it takes. */
  readonly width: number
  /** Number in the palette, or null for the usual colour. */
  readonly colour: number | null
  readonly isBold: boolean
  readonly isFaint: boolean
  readonly isItalic: boolean
  readonly isInverse: boolean
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

/** Ends whatever still runs. */
export function endAll(): void {
  for (const pty of open) pty.kill('SIGKILL')
  open.clear()
}

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
  let bells = 0
  emulator.onBell(() => (bells += 1))
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
      // The emulator reads what it is given in turns of its own: ended is what has been shown too.
      emulator.write('', () => resolve(exitCode))
    }),
  )
  const lineAt = (at: number): string => emulator.buffer.active.getLine(at)?.translateToString(true) ?? ''
  const from = (): number => emulator.buffer.active.baseY
  return {
    type: (text) => pty.write(text),
    lines: () => Array.from({ length: emulator.rows }, (_, at) => lineAt(from() + at)),
    all: () => Array.from({ length: emulator.buffer.active.length }, (_, at) => lineAt(at)).join('\n'),
    title: () => title,
    cells: () =>
      Array.from({ length: emulator.rows }, (_, row) => {
        const line = emulator.buffer.active.getLine(from() + row)
        return Array.from({ length: emulator.cols }, (__, column): Cell => {
          const cell = line?.getCell(column)
          return {
            text: cell?.getChars() ?? '',
            width: cell?.getWidth() ?? 1,
            colour: cell?.isFgPalette() === true ? cell.getFgColor() : null,
            isBold: (cell?.isBold() ?? 0) !== 0,
            isFaint: (cell?.isDim() ?? 0) !== 0,
            isItalic: (cell?.isItalic() ?? 0) !== 0,
            isInverse: (cell?.isInverse() ?? 0) !== 0,
          }
        })
      }),
    cursor: () => ({
      x: emulator.buffer.active.cursorX,
      y: emulator.buffer.active.cursorY,
      isAltScreen: emulator.buffer.active.type === 'alternate',
    }),
    bells: () => bells,
    raw: () => raw,
    ended,
    resize: (nextColumns, nextRows) => {
      emulator.resize(nextColumns, nextRows)
      pty.resize(nextColumns, nextRows)
    },
    kill: (signal) => pty.kill(signal),
  }
}
