import { describe, expect, it } from 'vitest'
import type { MemoryStore } from '../../src/memory/memory-store.ts'
import { saveMemory } from '../../src/memory/save.ts'
import { memoryContract } from '../../src/testing/memory-contract.ts'
import { folder } from '../memory/folder.ts'
import { mapStore } from '../memory/map-store.ts'
import { from, keeperIn, memoryText } from '../memory/memories.ts'

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
