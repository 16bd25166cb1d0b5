// How judging grows with the length of a command: by a ratio, since machines differ.
import { describe, expect, it } from 'vitest'
import { manyWords } from '../../bench/permission/speed.ts'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { judgeCommand } from '../../src/tools/permission/judge-command.ts'

const place = { fs: machineFileSystem, root: '/nowhere', cwd: '/nowhere', home: '/nobody' }

async function time(command: string): Promise<number> {
  const start = performance.now()
  await judgeCommand(command, { allow: [], ask: [], deny: [] }, place)
  return performance.now() - start
}

/** How much longer the long one takes; of several rounds the best, since other work on the machine must not count. */
async function growth(short: string, long: string): Promise<number> {
  const [times, longTimes] = [[Infinity], [Infinity]]
  for (let round = 0; round < 8; round++) {
    times.push(await time(short))
    longTimes.push(await time(long))
  }
  return Math.min(...longTimes) / Math.min(...times)
}

describe('the time to judge', () => {
  // In proportion would be 16 times, with the square of the words 256 times.
  it('[PM44] grows in proportion: sixteen times the words take less than 128 times as long', async () => {
    for (const make of [
      manyWords,
      (words: number) => 'nice '.repeat(words),
      (words: number) => `echo ${"'a' ".repeat(words)}`,
      (words: number) => `cat ${'src/*.ts '.repeat(words / 4)}`,
    ]) {
      const times = await growth(make(1000), make(16_000))
      expect([make(4), times < 128, times]).toEqual([make(4), true, times])
    }
  })
})
