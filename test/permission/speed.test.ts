// How the work of judging grows with the length of a command: counted, not timed, since machines differ. The times stand in
// `npm run bench -- permission`.
import { describe, expect, it } from 'vitest'
import { manyWords } from '../../bench/permission/speed.ts'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import { judgeCommand } from '../../src/tools/permission/judge-command.ts'
import { analyse } from '../../src/tools/permission/shell/analyse.ts'

/** Words in all readings, and calls of the file system. */
async function work(command: string): Promise<{ readonly words: number; readonly calls: number }> {
  let calls = 0
  const fs = new Proxy(machineFileSystem, {
    get: (target, name) => {
      calls++
      return Reflect.get(target, name) as unknown
    },
  }) satisfies FileSystem
  const place = { fs, root: '/nowhere', cwd: '/nowhere', home: '/nobody' }
  await judgeCommand(command, { allow: [], ask: [], deny: [] }, place)
  const words = analyse(command).readings.reduce((sum, reading) => sum + reading.length, 0)
  return { words, calls }
}

describe('the work of judging', () => {
  // With the square of the words it would be 256 times.
  it('[PM44] grows in proportion: sixteen times the words are at most 32 times the work', async () => {
    for (const make of [
      manyWords,
      (words: number) => 'nice '.repeat(words),
      (words: number) => `${'env '.repeat(words)}ls`,
      (words: number) => `echo ${"'a' ".repeat(words)}`,
      (words: number) => `cat ${'src/*.ts '.repeat(words / 4)}`,
    ]) {
      const [short, long] = [await work(make(1000)), await work(make(16_000))]
      expect([make(4), long.words / short.words <= 32]).toEqual([make(4), true])
      expect([make(4), long.calls <= 32 * Math.max(short.calls, 100)]).toEqual([make(4), true])
    }
  })
})
