// How far a long command is: in place on a terminal, a line now and then where nobody watches or a file takes it.
import type { Io } from '../terminal/io.ts'

/** Where nobody watches, a line now and then is enough. */
const lineEveryMs = 10_000

export interface Progress {
  tell(text: string): void
  end(): void
}

export function progressOn(io: Pick<Io, 'err' | 'errIsTerminal'>, now: () => number = Date.now): Progress {
  let shown = now()
  return {
    tell: (text) => {
      if (io.errIsTerminal) return io.err(`\r\u001B[K${text}`)
      if (now() - shown < lineEveryMs) return
      shown = now()
      io.err(`${text}\n`)
    },
    end: () => {
      if (io.errIsTerminal) io.err('\r\u001B[K')
    },
  }
}
