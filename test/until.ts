// Waiting for something to be so, and the cost of work: both mean the same on a busy machine as on a quiet one.
import assert from 'node:assert/strict'

/** Against hanging, not a measure of speed. `npm run proofs` takes fixes out and would wait this long for what then never comes. */
export const mostMs = Number(process.env['MOST_WAIT_MS'] ?? 240_000)

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>, what = 'it to be so'): Promise<void> {
  const end = performance.now() + mostMs
  while (!(await isSo())) {
    if (performance.now() > end) assert.fail(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Less than this is noise, in microseconds. */
const leastCost = 2000

/** Processor time in microseconds, the least of some runs: what other programs do meanwhile is not in it. */
export function costOf(work: () => unknown): number {
  let least = Infinity
  for (let run = 0; run < 3; run++) {
    const start = process.cpuUsage()
    work()
    least = Math.min(least, process.cpuUsage(start).user)
  }
  return Math.max(least, leastCost)
}

/** How many times as much the work costs for eight times the size: about 8 where it grows as the size does, 64 where as its square. */
export function growthOf(size: number, work: (size: number) => unknown): number {
  // A collection of garbage or a neighbour may fall into one of two moments; work that grows as its square does so every time.
  let least = Infinity
  for (let again = 0; again < 5 && least >= mostGrowth; again++) {
    const small = costOf(() => work(size))
    least = Math.min(least, costOf(() => work(8 * size)) / small)
  }
  return least
}

/** More than eight times the work, less than its square. */
export const mostGrowth = 28
