// The `Io` of a command on the screen: what it writes goes to the log, it has the room of the log, and the keys that
// interrupt reach it.
import { withInterrupts, type Io } from '../terminal/io.ts'
import { outputBlock, outputIndent } from './blocks.ts'
import type { Screen } from './screen.ts'

/** A window may be made as small as one likes. */
const leastColumns = 12

export function loggingIo(io: Io, screen: Screen, stoppable: Set<() => void>): Io {
  const write = (text: string): void => screen.add(outputBlock(text, io.outColours))
  return {
    ...withInterrupts(io, stoppable),
    out: write,
    err: write,
    get columns() {
      return Math.max(leastColumns, screen.columns - outputIndent * 2)
    },
  }
}
