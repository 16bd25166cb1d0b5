import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readMemoryText } from '../../src/memory/format/frontmatter.ts'
import { nameRefusal } from '../../src/memory/format/names.ts'
import type { Memory, Provenance } from '../../src/memory/memory.ts'
import type { Applied, MemoryStore } from '../../src/memory/memory-store.ts'
import { saveMemory } from '../../src/memory/save.ts'
import { memoryContract } from '../../src/testing/memory-contract.ts'
import { folder } from '../memory/folder.ts'
import { from, keeperIn, memoryText } from '../memory/memories.ts'

/** A store of somebody else's: no file, no ledger, the simplest that keeps the promises. */
function mapStore(): MemoryStore {
  const kept = new Map<string, { text: string; by: Provenance; n: number }>()
  let n = 0
  const memoryOf = (file: string): Memory => {
    const { text, by, n: at } = kept.get(file)!
    const { head, body } = readMemoryText(text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    const standing = by.trust === 'data' ? 'fenced' : 'open'
    const size = { bytes: Buffer.byteLength(text), modifiedMs: at }
    return { ...head, ...size, file, sha256, opening: body.trim(), standing, provenance: by }
  }
  const all = (): readonly Memory[] =>
    [...kept.keys()].map(memoryOf).sort((a, b) => b.modifiedMs - a.modifiedMs)
  return {
    scope: 'project',
    root: '/memories',
    list: (most = Infinity) =>
      Promise.resolve({ ok: true, memories: all().slice(0, most), total: kept.size, skipped: [] }),
    read: (file) =>
      Promise.resolve(
        kept.has(file)
          ? { ok: true, memory: memoryOf(file), text: kept.get(file)!.text }
          : { ok: false, failure: { code: 'not-found', message: `there is no ${file}` } },
      ),
    save({ file, text, expected }, by) {
      const said = (kind: Applied['kind'], code: Applied['code'] = null, why = '') =>
        Promise.resolve({
          ok: true as const,
          applied: { file, kind, version: kind === 'written' ? n : null, text, by, code, why, notes: [] },
          dropped: [],
        })
      const bad = nameRefusal(file)
      if (bad !== null) return said('refused', 'bad-name', bad)
      const now = kept.has(file) ? memoryOf(file) : null
      if (expected !== undefined && expected !== (now?.sha256 ?? null))
        return said('refused', 'changed', `${file} changed since it was read.`)
      if (by.trust === 'data' && now?.standing === 'open') return said('held', null, 'it is trusted')
      if (text === null) {
        kept.delete(file)
        return said('removed')
      }
      const { head, problems } = readMemoryText(text)
      if (problems.length > 0 || head.name === '') return said('refused', 'bad-memory', 'it has no head')
      if (by.trust === 'data' && head.type === 'feedback') return said('held', null, 'it is a rule')
      if (kept.get(file)?.text === text) return said('unchanged')
      n++
      kept.set(file, { text, by, n })
      return said('written')
    },
    search: (query, most) => {
      const terms = query.toLowerCase().split(/\s+/u)
      const hits = all()
        .map((memory) => {
          const text = kept.get(memory.file)!.text.toLowerCase()
          return { memory, score: terms.filter((term) => text.includes(term)).length }
        })
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score)
      return Promise.resolve({ ok: true, hits: hits.slice(0, most) })
    },
  }
}

const makers: Readonly<Record<string, () => Promise<MemoryStore>>> = {
  'a folder of files': async () => keeperIn(await folder()),
  'a store in memory': () => Promise.resolve(mapStore()),
}

for (const [name, make] of Object.entries(makers)) {
  describe(name, () => {
    for (const item of memoryContract) it(`[${item.rule}] ${item.title}`, () => item.run(make))

    it('[ME67] a memory is saved by the same steps: its days dated, its origin derived, the index left alone', async () => {
      const store = await make()
      const at = Date.UTC(2026, 10, 15)
      const said = 'The freeze begins tomorrow.'
      const saving = (file: string, text: string) => ({
        store,
        change: { file, text, expected: null },
        via: 'session' as const,
        lineage: {
          session: 's',
          isMain: true,
          message: 'm',
          userWords: [said],
          typedAt: at,
          turn: [],
          before: [],
        },
        said: { at, texts: [said] },
        now: at,
        check: () => Promise.resolve({ ok: true as const, approved: false }),
      })
      const text = memoryText('freeze', { description: said, body: said })
      const saved = await saveMemory([store], saving('freeze.md', text))
      if (saved.kind !== 'applied') throw new Error(saved.kind)
      expect(saved.applied).toMatchObject({ kind: 'written', by: { kind: 'user', trust: 'user' } })
      expect(saved.dates).toEqual(['2026-11-16'])
      const read = await store.read('freeze.md')
      expect(read).toMatchObject({ ok: true, text: expect.stringContaining('2026-11-16') as string })
      expect(saved.file?.sha256).toBe(read.ok ? read.memory.sha256 : null)
      expect(await saveMemory([store], saving('MEMORY.md', text))).toEqual({ kind: 'index' })
      const no = { ...saving('b.md', text), check: () => Promise.resolve({ ok: false as const, why: 'no' }) }
      expect(await saveMemory([store], no)).toEqual({ kind: 'refused', why: 'no' })
      expect((await store.read('b.md')).ok).toBe(false)
    })
  })
}

describe('the contract of memories', () => {
  it('[ME65] [ME66] finds a store that forgets, that raises trust, and that writes over what it did not read', async () => {
    const broken = async (over: (store: MemoryStore) => Partial<MemoryStore>): Promise<readonly string[]> => {
      const wrong: string[] = []
      for (const item of memoryContract) {
        const make = (): Promise<MemoryStore> => {
          const store = mapStore()
          return Promise.resolve({ ...store, ...over(store) })
        }
        await item.run(make).catch(() => wrong.push(item.title))
      }
      return wrong
    }
    expect(await broken(() => ({}))).toEqual([])
    const forgets = await broken(() => ({
      list: () => Promise.resolve({ ok: true, memories: [], total: 0, skipped: [] }),
    }))
    expect(forgets.length).toBeGreaterThan(0)
    const raises = await broken((store) => ({ save: (change, _, how) => store.save(change, from(), how) }))
    expect(raises).toEqual(['what is only data is fenced, makes no rule and replaces nothing the user said'])
    const blind = await broken((store) => ({
      save: ({ file, text }, by, how) => store.save({ file, text }, by, how),
    }))
    expect(blind).toEqual(['a change is made from the bytes that were read, or refused'])
  })
})
