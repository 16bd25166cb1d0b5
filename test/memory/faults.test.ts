// Every call to the disk fails once, in turn, while a memory is written: what is there afterwards is the old
// or the new memory, known to the ledger, and the failure was said.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import { isTemporaryName } from '../../src/disk/replace.ts'
import { listMemories } from '../../src/memory/files.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { forget } from '../../src/memory/keeping/forget.ts'
import { loadIndex } from '../../src/memory/keeping/index-keeping.ts'
import { hookedFileSystem, systemError } from '../faults/hooked-fs.ts'
import { folder } from './folder.ts'
import { from, fromTool, keeperIn, memoryText, unsynced } from './memories.ts'

/** Fails the nth call that changes something, and with `forGood` all behind it; says whether there was one. */
function failing(n: number, forGood = false): { readonly fs: FileSystem; readonly failed: () => boolean } {
  let count = 0
  const fs = hookedFileSystem(machineFileSystem, {
    before: (call) => {
      if (!looking.has(call.name) && ++count >= n && (forGood || count === n)) throw systemError('ENOSPC')
    },
  })
  return { fs, failed: () => count >= n }
}
/** Calls that change nothing fail elsewhere. */
const looking = new Set(['read', 'stat', 'fstat', 'realPath', 'names'])

it('[ME19] a write that fails at any call leaves the old memory or the new one, known, and is said', async () => {
  const base = await folder()
  const [old, next] = [memoryText('a', { body: 'old' }), memoryText('a renamed', { body: 'new' })]
  const change = (text: string) => [{ file: 'a.md', text }]
  let reached = true
  let saidSo = 0
  for (let n = 1; reached; n += 1) {
    const own = join(base, String(n))
    const before = keeperIn(own, { fs: unsynced })
    expect(await applyWrite(before, change(old), from(), { via: 'session' })).toMatchObject({ ok: true })
    const { fs, failed } = failing(n)
    const keeper = keeperIn(own, { fs, wait: () => Promise.resolve() })
    const done = await applyWrite(keeper, change(next), from(), { via: 'session' })
    reached = failed()
    const isSaid = !done.ok || done.applied[0]!.kind === 'refused'
    if (isSaid) saidSo++
    const text = await readFile(join(keeper.place.root, 'a.md'), 'utf8')
    expect([old, next], `call ${n}`).toContain(text)
    if (!isSaid) expect(text, `call ${n}`).toBe(next)
    const after = keeperIn(own, { fs: unsynced })
    const listed = await listMemories(after.fs, after.place)
    expect(listed, `call ${n}`).toMatchObject({ ok: true, memories: [{ file: 'a.md', standing: 'open' }] })
    expect(await loadIndex(after), `call ${n}`).toMatchObject({
      ok: true,
      text: expect.stringContaining('(a.md)') as string,
    })
    expect((await readdir(keeper.place.root)).filter(isTemporaryName), `call ${n}`).toEqual([])
    const again = await applyWrite(after, change(memoryText('a', { body: 'later' })), from(), {
      via: 'session',
    })
    expect(again, `call ${n}`).toMatchObject({ ok: true, applied: [{ kind: 'written' }] })
  }
  expect(saidSo).toBeGreaterThan(10)
})

it('[ME12] [ME19] a forgetting that the disk refuses or that is stopped at any call leaves no word once it is asked again', async () => {
  const base = await folder()
  const secret = 'The wedding of Zacharias is on the fourth of July.'
  for (const isStopped of [false, true])
    for (let n = 1, reached = true; reached; n += 1) {
      const own = join(base, `${n}${isStopped ? ' stopped' : ''}`)
      const before = keeperIn(own, { fs: unsynced })
      const text = memoryText('wedding', { description: secret, body: secret })
      const [other, wedding] = [
        { file: 'other.md', text: memoryText('other') },
        { file: 'wedding.md', text },
      ]
      for (const one of [other, wedding]) await applyWrite(before, [one], from(), { via: 'session' })
      const { fs, failed } = failing(n, isStopped)
      const done = await forget(keeperIn(own, { fs, wait: () => Promise.resolve() }), { file: 'wedding.md' })
      reached = failed()
      if (done.ok) expect(await bytesBelow(own), `call ${n}`).not.toContain('Zacharias')
      const after = keeperIn(own, { fs: unsynced })
      // Of a process that is gone it would be taken over.
      await rm(join(after.place.state, 'lock'), { recursive: true })
      await after.ledger.refresh()
      const isKnown = after.ledger
        .records()
        .some((record) => 'file' in record && record.file === 'wedding.md')
      if (isKnown) expect(await forget(after, { file: 'wedding.md' })).toMatchObject({ ok: true })
      expect(await loadIndex(after)).toMatchObject({ ok: true, text: expect.stringContaining('other.md') })
      expect(await bytesBelow(own), `call ${n}`).not.toMatch(/Zacharias|wedding/)
      const learnt = await applyWrite(after, [wedding], fromTool(), { via: 'session' })
      expect(learnt, `call ${n}`).toMatchObject({
        ok: true,
        applied: [{ kind: 'refused', code: 'forgotten' }],
      })
    }
})

/** Every name and byte of a folder, but for what a stop left half-written and the lock, which hold nothing of a memory. */
async function bytesBelow(path: string): Promise<string> {
  const all = await readdir(path, { recursive: true, withFileTypes: true })
  const files = all.filter((one) => one.isFile() && !one.parentPath.endsWith('lock'))
  const texts = files.map(
    async ({ parentPath, name }) => `${name} ${await readFile(join(parentPath, name), 'utf8')}`,
  )
  return (await Promise.all(texts)).join('\n')
}
