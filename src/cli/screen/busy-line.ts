// What runs, for how long, and how to end it: one line that moves.
import { truncateToWidth } from '@earendil-works/pi-tui'
import { duration } from '../terminal/tables.ts'

/** How often the time in it moves. */
export const busyMs = 1000
/** The spinner with its blanks, and one to spare. */
const spinnerColumns = 4

/** On one line: a longer one would make everything below jump as the time grows. */
export function busyLine(message: string, since: number | null, columns: number): string {
  const now = performance.now()
  const hint = ` (${duration(now - (since ?? now))} · esc to interrupt)`
  return `${truncateToWidth(message, Math.max(1, columns - hint.length - spinnerColumns), '…')}${hint}`
}
