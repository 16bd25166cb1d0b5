// Change sets on a real disk: whole or not at all, at every call that changes something, and taken back whole.
import { link, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hookedFileSystem, systemError } from '../../../test/faults/hooked-fs.ts'
import { folder } from '../../../test/memory/folder.ts'
import { from, fromTool, keeperIn, memoryText, unsynced } from '../../../test/memory/memories.ts'
import type { FileSystem } from '../../disk/fs.ts'
import { machineProcesses } from '../../disk/processes.ts'
import { listMemories } from '../files.ts'
import { applyWrite, type WantedChange } from './apply.ts'
import type { Keeper } from './keeper.ts'
import { doneSets, finishSet, undoSet } from './change-sets.ts'

const texts = {
  a: memoryText('a', { body: 'The first.' }),
  b: memoryText('b', { body: 'The second.' }),
  c: memoryText('c', { body: 'The third.' }),
  joined: memoryText('a', { body: 'The first.\nThe second.' }),
  made: memoryText('made', { body: 'The third.' }),
}

async function filled(base: string, fs: FileSystem = unsynced): Promise<Keeper> {
  const keeper = keeperIn(base, { fs: unsynced })
  for (const name of ['a', 'b', 'c'] as const)
    await applyWrite(keeper, [{ file: `${name}.md`, text: texts[name] }], from(), { via: 'session' })
  return keeperIn(base, { fs, wait: () => Promise.resolve() })
}

interface WantedSet {
  readonly report: readonly string[]
  readonly changes: readonly WantedChange[]
}

const applySet = (keeper: Keeper, { report, changes }: WantedSet) =>
  applyWrite(keeper, changes, from(), { via: 'dream', set: { id: 'set-1', report } })

const shaOf = (keeper: Keeper, file: string): string | null => keeper.ledger.current(file)?.sha ?? null

async function wanted(keeper: Keeper): Promise<WantedSet> {
  await keeper.ledger.refresh()
  const change = (file: string, text: string | null) => ({
    file,
    text,
    expected: shaOf(keeper, file),
    by: from(),
  })
  return {
    report: ['joined b.md into a.md'],
    changes: [
      change('b.md', null),
      change('a.md', texts.joined),
      change('made.md', texts.made),
      change('c.md', null),
    ],
  }
}

const before = { 'a.md': texts.a, 'b.md': texts.b, 'c.md': texts.c }
const after = { 'a.md': texts.joined, 'made.md': texts.made }

/** What stands there, with its index; everything must be known to the ledger. */
async function standing(base: string): Promise<Record<string, string>> {
  const keeper = keeperIn(base, { fs: unsynced })
  const listed = await listMemories(keeper.fs, keeper.place)
  if (!listed.ok) throw new Error(listed.failure.message)
  expect(listed.memories.filter(({ standing: how }) => how !== 'open')).toEqual([])
  const found: Record<string, string> = {}
  for (const { file } of listed.memories) found[file] = await readFile(join(keeper.place.root, file), 'utf8')
  const index = await readFile(join(keeper.place.root, 'MEMORY.md'), 'utf8')
  expect([...index.matchAll(/\(([^)]+\.md)\)/gu)].map(([, file]) => file ?? '').toSorted()).toEqual(
    Object.keys(found).toSorted(),
  )
  return found
}

describe('change sets', () => {
  it('[DR3] are made whole, each change a version, and taken back whole with the trust there was', async () => {
    const base = await folder()
    const keeper = await filled(base)
    expect(await applySet(keeper, await wanted(keeper))).toMatchObject({ ok: true })
    expect(await standing(base)).toEqual(after)
    expect(keeper.ledger.versionsOf('b.md').at(-1)).toMatchObject({ do: 'remove', via: 'dream' })
    expect(await undoSet(keeper, 'undo-1')).toMatchObject({ ok: true, set: { undoes: 'set-1' } })
    expect(await standing(base)).toEqual(before)
    expect(await undoSet(keeper, 'undo-2')).toMatchObject({
      ok: false,
      failure: { code: 'not-found' },
    })
  })

  it('[DR3] a set written by an earlier version is read with what it says', async () => {
    const base = await folder()
    const keeper = await filled(base)
    await applySet(keeper, await wanted(keeper))
    const sets = join(keeper.place.state, 'sets')
    const [name] = await readdir(sets)
    const { report, ...rest } = JSON.parse(await readFile(join(sets, name!), 'utf8')) as WantedSet
    await writeFile(join(sets, name!), JSON.stringify({ ...rest, told: report }))
    expect(await doneSets(keeper)).toMatchObject({ ok: true, sets: [{ id: 'set-1', report }] })
    expect(report).toEqual(['joined b.md into a.md'])
  })

  it('[ME67] are judged as every write is: one name too like another refuses the whole', async () => {
    const base = await folder()
    const keeper = await filled(base)
    const set = await wanted(keeper)
    const twin = { file: 'A.md', text: memoryText('A', { body: 'The fourth.' }), expected: null, by: from() }
    expect(await applySet(keeper, { ...set, changes: [...set.changes, twin] })).toMatchObject({
      ok: false,
      failure: { code: 'twin' },
    })
    expect(await standing(base)).toEqual(before)
  })

  it('[DR4] a file that a dead process left with two names is written again', async () => {
    const base = await folder()
    const keeper = await filled(base)
    const { root } = keeper.place
    await link(join(root, 'a.md'), join(root, '.pal-dead.tmp'))
    const text = memoryText('a', { body: 'The first, later.' })
    const done = await applyWrite(keeper, [{ file: 'a.md', text }], from(), { via: 'session' })
    expect(done).toMatchObject({ ok: true, applied: [{ kind: 'written' }] })
    expect(await readdir(root)).not.toContain('.pal-dead.tmp')
    // A second name of somebody else's is still refused.
    await link(join(root, 'a.md'), join(root, 'b.md.other'))
    const again = await applyWrite(keeper, [{ file: 'a.md', text: texts.a }], from(), { via: 'session' })
    expect(again).toMatchObject({ ok: true, applied: [{ kind: 'refused', code: 'hardlink' }] })
  })

  it('[DR3] are refused whole when one change may not be made or was overtaken', async () => {
    const base = await folder()
    const keeper = await filled(base)
    const set = await wanted(keeper)
    const weak = set.changes.map((change) =>
      change.file === 'a.md' ? { ...change, by: fromTool() } : change,
    )
    expect(await applySet(keeper, { ...set, changes: weak })).toMatchObject({
      ok: false,
      failure: { code: 'needs-review' },
    })
    const late = set.changes.map((change) => (change.file === 'c.md' ? { ...change, expected: 'x' } : change))
    expect(await applySet(keeper, { ...set, changes: late })).toMatchObject({
      ok: false,
      failure: { code: 'changed' },
    })
    const review = keeperIn(base, { fs: unsynced, review: true })
    expect(await applySet(review, set)).toMatchObject({ ok: false, failure: { code: 'needs-review' } })
    expect(await standing(base)).toEqual(before)
    await writeFile(join(keeper.place.root, 'c.md'), memoryText('c', { body: 'From outside.' }))
    expect(await applySet(keeper, set)).toMatchObject({ ok: false, failure: { code: 'changed' } })
  })

  it('[DR3] are not taken back once somebody has changed a file of them', async () => {
    const base = await folder()
    const keeper = await filled(base)
    await applySet(keeper, await wanted(keeper))
    const text = memoryText('a', { body: 'The first, corrected.' })
    await applyWrite(keeper, [{ file: 'a.md', text }], from(), { via: 'session' })
    expect(await undoSet(keeper, 'undo-1')).toMatchObject({
      ok: false,
      failure: { code: 'changed', message: expect.stringContaining('a.md') as string },
    })
    expect(await standing(base)).toEqual({ ...after, 'a.md': text })
  })

  it('[DR4] that fail or die at any call leave before or after, never a mixture, once they are opened again', async () => {
    const looking = new Set(['open-read', 'openFolder', 'read', 'stat', 'fstat', 'realPath', 'names'])
    const seen = { before: 0, after: 0 }
    for (const isDeath of [false, true]) {
      let reached = true
      for (let n = 1; reached; n += isDeath ? 1 : 4) {
        const base = await folder()
        let count = 0
        const fs = hookedFileSystem(unsynced, {
          before: (call) => {
            if (looking.has(call.name)) return
            // Who is dead does nothing any more.
            if (++count === n || (isDeath && count > n)) throw systemError('EIO')
          },
        })
        const keeper = await filled(base, fs)
        const made = await applySet(keeper, await wanted(keeper))
        reached = count >= n
        const opened = keeperIn(base, { fs: unsynced, processes: dead })
        const finished = await finishSet(opened)
        expect(finished, `call ${n}: ${JSON.stringify(finished)}`).toMatchObject({ ok: true })
        const now = await standing(base)
        const which = Object.keys(now).length === 3 ? 'before' : 'after'
        expect(now, `call ${n}`).toEqual(which === 'before' ? before : after)
        if (made.ok) expect(which, `call ${n}`).toBe('after')
        seen[which]++
        expect(await readdir(opened.place.state)).not.toContain('set-under-way.json')
      }
    }
    expect(seen.before).toBeGreaterThan(5)
    expect(seen.after).toBeGreaterThan(10)
  })
})

/** The process that held the lock of the folder is gone. */
const dead = { ...machineProcesses, look: () => Promise.resolve(null) }
