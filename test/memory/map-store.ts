import { createHash } from 'node:crypto'
import type { Applied, Memory, MemoryStore, Provenance } from '../../src/index.ts'
import type { SetStore } from '../../src/memory/memory-store.ts'
import { readMemoryText } from '../../src/memory/format/frontmatter.ts'
import { nameRefusal } from '../../src/memory/format/names.ts'

/** A store of somebody else's: no file, no ledger, the simplest that keeps the promises. */
export function mapStore(): SetStore {
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
  const store: MemoryStore = {
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
  let begun: object | null = null
  let last = 0
  return {
    ...store,
    sets: {
      last: () => Promise.resolve({ ok: true, at: last }),
      begin() {
        const mine = { since: Date.now() }
        if (begun !== null) return Promise.resolve({ ok: true, begun: null })
        begun = mine
        const end = (how: 'done' | 'failed') => {
          if (begun === mine) begun = null
          if (how === 'done') last = mine.since
          return Promise.resolve({ ok: true as const })
        }
        return Promise.resolve({ ok: true, begun: { end } })
      },
      async save(changes, { via }) {
        const before = new Map(kept)
        const applied: Applied[] = []
        for (const { by, ...change } of changes) {
          const done = await store.save(change, by, { via })
          if (!done.ok) return done
          applied.push(done.applied)
          const { kind, code, why } = done.applied
          if (kind !== 'refused' && kind !== 'held') continue
          kept.clear()
          for (const [file, one] of before) kept.set(file, one)
          return { ok: false, failure: { code: code ?? 'needs-review', message: why } }
        }
        return { ok: true, applied, dropped: [], set: null }
      },
    },
  }
}
