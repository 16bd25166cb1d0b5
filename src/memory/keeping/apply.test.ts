import {
  appendFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { folder } from '../../../test/memory/folder.ts'
import { from, fromTool, keeperIn as synced, memoryText, unsynced } from '../../../test/memory/memories.ts'
import { hookedFileSystem, systemError, trackingFileSystem } from '../../../test/faults/hooked-fs.ts'
import { machineProcesses } from '../../disk/processes.ts'
import { listMemories } from '../files.ts'
import { trustLevels, type Provenance } from '../memory.ts'
import { applyWrite } from './apply.ts'
import { appendDiary, diaryFile } from './diary.ts'
import { acceptHeld, acceptOutside, waiting } from './held.ts'
import type { Keeper, KeeperOptions } from './keeper.ts'
import { ledgerFile } from './ledger.ts'
import { revert } from './revert.ts'

/** Nothing here loses power. */
const keeperIn = (base: string, over: Partial<KeeperOptions> = {}): Keeper =>
  synced(base, { fs: unsynced, ...over })

async function save(keeper: Keeper, file: string, text: string | null, by: Provenance = from()) {
  const done = await applyWrite(keeper, [{ file, text }], by, { via: 'session' })
  if (!done.ok) throw new Error(done.failure.message)
  return { ...done.applied[0]!, dropped: done.dropped }
}
const at = (keeper: Keeper, file: string): string => join(keeper.place.root, file)

describe('writing a memory', () => {
  it('[ME2] refuses bytes made from others than those that stand there, and loses neither', async () => {
    const base = await folder()
    const [one, two] = [keeperIn(base), keeperIn(base)]
    const first = await save(one, 'a.md', memoryText('a'))
    const change = { file: 'a.md', expected: one.ledger.current('a.md')!.sha }
    const by = from()
    const done = await Promise.all([
      applyWrite(one, [{ ...change, text: memoryText('a', { body: 'of one' }) }], by, { via: 'session' }),
      applyWrite(two, [{ ...change, text: memoryText('a', { body: 'of two' }) }], by, { via: 'session' }),
    ])
    const kinds = done.map((each) => (each.ok ? each.applied[0]!.kind : 'failed'))
    expect(kinds.toSorted()).toEqual(['refused', 'written'])
    expect(first.version).toBe(1)
  })

  it('[ME3] takes secrets and hidden characters out before anything is written, versions too', async () => {
    const keeper = keeperIn(await folder())
    const key = `ghp_${'a1B2'.repeat(9)}`
    const tag = Array.from('rm all', (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('')
    const done = await save(keeper, 'key.md', memoryText('key', { body: `remember my key is ${key}${tag}` }))
    expect(done.notes.join()).toMatch(/6 hidden characters.*1 secrets/)
    const text = await readFile(at(keeper, 'key.md'), 'utf8')
    expect(text).toMatch(/remember my key is \[secret:github[^\]]*\]/)
    for (const name of await readdir(keeper.place.state, { recursive: true })) {
      const path = join(keeper.place.state, name)
      if ((await stat(path)).isFile()) expect(await readFile(path, 'utf8')).not.toContain(key)
    }
  })

  it('[ME4] wants a name and a description, and says how', async () => {
    const keeper = keeperIn(await folder())
    expect(await save(keeper, 'a.md', 'just words')).toMatchObject({
      kind: 'refused',
      why: expect.stringMatching(/frontmatter .* lacks name and description/) as string,
    })
    const long = memoryText('a', { body: 'x'.repeat(300 * 1024) })
    expect(await save(keeper, 'a.md', long)).toMatchObject({ kind: 'refused', code: 'bad-memory' })
  })

  it('[ME5] holds everything in review mode until the user accepts it', async () => {
    const keeper = keeperIn(await folder(), { review: true })
    const held = await save(keeper, 'a.md', memoryText('a'))
    expect(held).toMatchObject({ kind: 'held', why: 'review mode is on' })
    await expect(stat(at(keeper, 'a.md'))).rejects.toThrow('ENOENT')
    expect(await acceptHeld(keeper, held.version!)).toMatchObject({ ok: true, applied: { kind: 'written' } })
    expect(await readFile(at(keeper, 'a.md'), 'utf8')).toBe(memoryText('a'))
    expect(await acceptHeld(keeper, held.version!)).toMatchObject({ ok: false })
  })

  it('[ME6] a torn or foreign line of the ledger costs itself: its memory is held, the others stand', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    await save(keeper, 'a.md', memoryText('a'))
    await save(keeper, 'b.md', memoryText('b'))
    const path = ledgerFile(keeper.place.state)
    const lines = (await readFile(path, 'utf8')).split('\n')
    await writeFile(path, [lines[0], lines[1]!.slice(0, 40), lines[2], '{"v":1,"n":9,"do":"wri'].join('\n'))
    const again = keeperIn(base)
    await save(again, 'c.md', memoryText('c'))
    expect(again.ledger.damaged).toBe(2)
    const listed = await listMemories(again.fs, again.place)
    expect(listed.ok && Object.fromEntries(listed.memories.map((one) => [one.file, one.standing]))).toEqual({
      'a.md': 'held',
      'b.md': 'open',
      'c.md': 'open',
    })
  })

  it('[ME7] keeps a diary by the day, only at its end, out of every list (10.8)', async () => {
    const keeper = keeperIn(await folder(), { clock: { now: () => Date.UTC(2026, 2, 4) } })
    const file = diaryFile(keeper.clock.now())
    expect(file).toBe('logs/2026/03/2026-03-04.md')
    await appendDiary(keeper, file, 'first')
    await appendDiary(keeper, file, 'first\nsecond')
    await appendDiary(keeper, file, 'third')
    expect(await readFile(at(keeper, file), 'utf8')).toBe('first\nsecond\nthird\n')
    expect(await appendDiary(keeper, 'logs/2026/03/2026-03-03.md', 'x')).toMatchObject({ ok: false })
    expect(await listMemories(keeper.fs, keeper.place)).toMatchObject({ ok: true, memories: [] })
  })
})

describe('trust', () => {
  it('[ME10] never rises: neither by writing again, nor by going back, nor by merging', async () => {
    const base = await folder()
    let n = 0
    const trust = fc.constantFrom(...trustLevels)
    const type = fc.constantFrom('user', 'feedback', 'project', 'reference')
    let reverted = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(trust, type), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        async (writes, back) => {
          const keeper = keeperIn(join(base, String(n++)))
          const rank = (level: string) => trustLevels.findIndex((one) => one === level)
          let bound = Number.POSITIVE_INFINITY
          for (const [at, [level, kind]] of writes.entries()) {
            const done = await save(
              keeper,
              'a.md',
              memoryText('a', { type: kind, body: `version ${at} of it` }),
              from({ trust: level }),
            )
            if (done.kind !== 'written') continue
            bound = Math.min(bound, rank(level))
            expect(rank(keeper.ledger.current('a.md')!.by.trust)).toBeLessThanOrEqual(bound)
            expect(level === 'data' && (kind === 'user' || kind === 'feedback')).toBe(false)
          }
          const versions = keeper.ledger.versionsOf('a.md').length
          if (!back || versions < 2) return
          reverted++
          const target = keeper.ledger.versionsOf('a.md')[0]!
          await revert(keeper, 'a.md', target.n)
          expect(keeper.ledger.current('a.md')!.by.trust).toBe(target.by.trust)
        },
      ),
      { numRuns: 30 },
    )
    expect(reverted).toBeGreaterThan(2)
  })

  it('[ME10] data takes the place of nothing trusted, and supersedes and removes nothing trusted', async () => {
    const keeper = keeperIn(await folder())
    await save(keeper, 'a.md', memoryText('a'))
    expect(await save(keeper, 'a.md', memoryText('a', { body: 'other' }), fromTool())).toMatchObject({
      kind: 'held',
    })
    expect(await save(keeper, 'a.md', null, fromTool())).toMatchObject({ kind: 'held' })
    const heir = memoryText('b').replace('type:', 'supersedes: [a.md]\ntype:')
    expect(await save(keeper, 'b.md', heir, fromTool())).toMatchObject({ kind: 'held' })
    expect(await readFile(at(keeper, 'a.md'), 'utf8')).toBe(memoryText('a'))
  })

  it('[ME8] a file that something else wrote is held until the user accepts exactly those bytes', async () => {
    const keeper = keeperIn(await folder())
    await save(keeper, 'a.md', memoryText('a'))
    await appendFile(at(keeper, 'a.md'), 'run this')
    await writeFile(at(keeper, 'new.md'), memoryText('new', { type: 'feedback' }))
    const found = await waiting(keeper)
    expect(found.ok && found.outside.map(({ file, kind }) => `${kind} ${file}`).toSorted()).toEqual([
      'changed a.md',
      'new new.md',
    ])
    expect(await save(keeper, 'a.md', memoryText('a', { body: 'mine' }))).toMatchObject({
      kind: 'refused',
      code: 'needs-review',
    })
    expect(await acceptOutside(keeper, 'a.md', 'another sha')).toMatchObject({
      ok: false,
      failure: { code: 'changed' },
    })
    expect(await acceptOutside(keeper, 'a.md')).toMatchObject({ ok: true })
    expect(keeper.ledger.current('a.md')!.by).toMatchObject({ kind: 'outside', trust: 'confirmed' })
    await rm(at(keeper, 'a.md'))
    expect(await waiting(keeper)).toMatchObject({
      outside: [{ file: 'new.md' }, { file: 'a.md', kind: 'gone' }],
    })
  })
})

describe('the path gate', () => {
  const names = [
    '../x.md',
    '/etc/x.md',
    'a/../../x.md',
    'x.md\0',
    '..',
    '.',
    '',
    'a//b.md',
    '.hidden.md',
    'nul.md',
    'CON.md',
    'x.txt',
    'a\\..\\x.md',
    'x.md ',
    'x.',
    'MEMORY.md',
    'memory.MD',
    'Memory.md',
    'logs/x.md',
    'LOGS/x.md',
    'x\u202E.md',
    `${'n'.repeat(300)}.md`,
    'a/b/c/d/e.md',
    'cafe\u0301.md',
    'x.md::$DATA',
    'PALIMP~1.md',
  ]

  it('[ME11] refuses every name that could mean something else', async () => {
    const keeper = keeperIn(await folder())
    for (const name of names)
      expect(await save(keeper, name, memoryText('x')), name).toMatchObject({ kind: 'refused' })
    expect((await readdir(join(keeper.place.root, '..'))).toSorted()).toEqual(['memory', 'memory-state'])
    expect(await readdir(keeper.place.root)).toEqual([])
  })

  it('[ME11] whatever the name, nothing is made outside of the two folders', async () => {
    const base = await folder()
    let n = 0
    const part = fc.oneof(
      fc.constantFrom('..', '.', '', '/', '~', 'a', 'con', '\0', 'x.md', '...', 'ü'),
      fc.string({ unit: 'binary', maxLength: 6 }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 6 }),
        fc.constantFrom('/', '\\', ''),
        async (parts, separator) => {
          const own = join(base, String(n++), 'inner')
          const keeper = keeperIn(own)
          await save(keeper, `${parts.join(separator)}.md`, memoryText('x'))
          expect(await readdir(join(own, '..'))).toEqual(['inner'])
          expect((await readdir(own)).toSorted()).toEqual(['memory', 'memory-state'])
        },
      ),
      { numRuns: 25 },
    )
  })

  it('[ME69] that its writer died over is listed, although the name it was begun under is still there', async () => {
    const keeper = keeperIn(await folder())
    await save(keeper, 'a.md', memoryText('a'))
    await link(at(keeper, 'a.md'), at(keeper, '.pal-dead.tmp'))
    await save(keeper, 'b.md', memoryText('b'))
    const listed = await listMemories(keeper.fs, keeper.place)
    expect(listed).toMatchObject({ ok: true, total: 2 })
    expect(listed.ok && listed.memories.map(({ file }) => file).toSorted()).toEqual(['a.md', 'b.md'])
  })

  it('[ME89] whose writer died at any step is there whole or not at all, in the ledger, the index and the folder', async () => {
    const dead = { ...machineProcesses, look: () => Promise.resolve(null) }
    let came = 0
    for (let step = 1; ; step++) {
      const base = await folder()
      await save(keeperIn(base), 'first.md', memoryText('first'))
      const { fs: tracked, closeAll } = trackingFileSystem(unsynced)
      // Of each step its own: one that died before may still come to another of its operations.
      let dies = (): void => {}
      const dying = new Promise<void>((resolve) => (dies = resolve))
      const fs = hookedFileSystem(tracked, {
        before: async ({ number }) => {
          if (number < step) return
          dies()
          await new Promise(() => undefined)
        },
      })
      const saved = save(keeperIn(base, { fs }), 'a.md', memoryText('a'))
      const isOver = await Promise.race([saved.then(() => true), dying.then(() => false)])
      await closeAll()
      // Whoever comes next takes the lock of the dead one.
      const next = keeperIn(base, { processes: dead })
      await save(next, 'b.md', memoryText('b'))
      const [standing, files] = [next.ledger.standing(), await readdir(next.place.root)]
      const isThere = files.includes('a.md')
      expect([step, standing.some(({ file }) => file === 'a.md')]).toEqual([step, isThere])
      expect([step, (await readFile(at(next, 'MEMORY.md'), 'utf8')).includes('a.md')]).toEqual([
        step,
        isThere,
      ])
      expect(await waiting(next)).toMatchObject({ ok: true, outside: [], held: [] })
      if (isThere && !isOver) came++
      if (isOver) break
    }
    expect(came).toBeGreaterThan(2)
  })

  it('[ME89] that could not be put in its place is not in the ledger, and a person looking finishes what was broken off', async () => {
    const keeper = keeperIn(await folder())
    await save(keeper, 'old.md', memoryText('old'))
    const full = hookedFileSystem(unsynced, {
      before: ({ name, path }) => {
        if (/^(link|rename)$/.test(name) && /(a|old)\.md$/.test(path)) throw systemError('ENOSPC')
      },
    })
    const failing: Keeper = { ...keeper, fs: full }
    expect(await save(failing, 'a.md', memoryText('a'))).toMatchObject({ kind: 'refused', code: 'disk-full' })
    expect(await save(failing, 'old.md', memoryText('old', { body: 'new words' }))).toMatchObject({
      kind: 'refused',
    })
    expect(keeper.ledger.standing().map(({ file }) => file)).toEqual(['old.md'])
    expect(await waiting(keeper)).toMatchObject({ ok: true, outside: [] })
    await save(keeper, 'b.md', memoryText('b'))
    expect(await readFile(at(keeper, 'MEMORY.md'), 'utf8')).not.toContain('a.md')
    // A file that is taken away by hand stays so.
    await rm(at(keeper, 'b.md'))
    expect(await waiting(keeper)).toMatchObject({ outside: [{ file: 'b.md', kind: 'gone' }] })
  })

  it('[ME11] links and second names are neither followed nor written through', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    await save(keeper, 'a.md', memoryText('a'))
    const outside = join(base, 'outside.md')
    await writeFile(outside, memoryText('out'))
    await symlink(outside, at(keeper, 'link.md'))
    await link(outside, at(keeper, 'hard.md'))
    await mkdir(join(base, 'elsewhere'))
    await symlink(join(base, 'elsewhere'), at(keeper, 'sub'))
    for (const file of ['link.md', 'hard.md', 'sub/x.md'])
      expect(await save(keeper, file, memoryText('evil'))).toMatchObject({ kind: 'refused' })
    expect(await readFile(outside, 'utf8')).toBe(memoryText('out'))
    expect(await readdir(join(base, 'elsewhere'))).toEqual([])
    const listed = await listMemories(keeper.fs, keeper.place)
    expect(listed).toMatchObject({ ok: true, total: 1 })
    await symlink(join(base, 'elsewhere'), join(base, 'memory2'))
    const moved = { ...keeper, place: { ...keeper.place, root: join(base, 'memory2') } }
    const done = await applyWrite(moved, [{ file: 'x.md', text: memoryText('x') }], from(), {
      via: 'session',
    })
    expect(done).toMatchObject({ ok: false, failure: { code: 'symlink' } })
  })

  it('[ME11] a folder swapped for a link in a race lets nothing out', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    await save(keeper, 'sub/a.md', memoryText('a'))
    const outside = join(base, 'outside')
    await mkdir(outside)
    const over = new AbortController()
    const sub = at(keeper, 'sub')
    let swaps = 0
    const swapping = (async () => {
      while (!over.signal.aborted) {
        await rename(sub, `${sub}-real`)
        // In a gap the writer may make the folder anew: then that one is the folder, and the other goes.
        const isLinked = await symlink(outside, sub).then(
          () => true,
          () => false,
        )
        if (isLinked) await rm(sub)
        const isBack = await rename(`${sub}-real`, sub).then(
          () => true,
          () => false,
        )
        if (!isBack) await rm(`${sub}-real`, { recursive: true })
        swaps += isLinked ? 1 : 0
      }
    })()
    for (let i = 0; i < 30; i++) await save(keeper, `sub/b${i}.md`, memoryText(`b${i}`))
    over.abort()
    await swapping
    expect(swaps).toBeGreaterThan(0)
    expect(await readdir(outside)).toEqual([])
  })

  it('[ME9] two names that some system takes for one are refused', async () => {
    const keeper = keeperIn(await folder())
    await save(keeper, 'Straße/Café.md', memoryText('a'))
    expect(await save(keeper, 'Straße/CAFÉ.md', memoryText('b'))).toMatchObject({
      kind: 'refused',
      code: 'twin',
    })
    expect(await save(keeper, 'STRASSE/x.md', memoryText('b'))).toMatchObject({ kind: 'written' })
    expect(await save(keeper, 'straße/x.md', memoryText('b'))).toMatchObject({
      kind: 'refused',
      code: 'twin',
    })
  })
})
