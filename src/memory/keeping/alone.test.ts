import { expect, it } from 'vitest'
import { hookedFileSystem } from '../../../test/faults/hooked-fs.ts'
import { folder } from '../../../test/memory/folder.ts'
import { keeperIn } from '../../../test/memory/memories.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { alone } from './alone.ts'

it('[ME92] who waits for others sees at its next look that they are done, however long it has waited, and looks cheaply', async () => {
  const base = await folder()
  let end = (): void => {}
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const work = new Promise<void>((resolve) => (end = resolve))
  const others = alone(keeperIn(base), async () => {
    begin()
    await work
    return { ok: true }
  })
  await begun
  const looks = defaults.memory.lockLooks - 1
  const pauses: number[] = []
  const calls: string[] = []
  const fs = hookedFileSystem(machineFileSystem, {
    before: ({ name, path }) => {
      if (pauses.length > 0 && pauses.length < looks && path.includes('memory-state/lock')) calls.push(name)
    },
  })
  const wait = async (ms: number): Promise<void> => {
    pauses.push(ms)
    if (pauses.length < looks) return
    end()
    await others
  }
  expect(await alone(keeperIn(base, { fs, wait }), () => Promise.resolve({ ok: true }))).toEqual({ ok: true })
  expect(pauses).toEqual(Array(looks).fill(defaults.memory.lockPollMs))
  expect(new Set(calls)).toEqual(new Set(['stat']))
})
