// Where the model writes while it consolidates: beside the store, in memory. Each proposal is checked when it is made,
// so that the model hears why and can do better; nothing of it is written before the whole has been settled.
import { relative, sep } from 'node:path'
import { isInside } from '../../../disk/under-root.ts'
import { shaOf } from '../../../memory/files.ts'
import { nameRefusal } from '../../../memory/format/names.ts'
import { diaryFolder, indexName } from '../../../memory/memory.ts'
import type { MemoryStore } from '../../../memory/memory-store.ts'
import type { FileGuard } from '../../../tools/files/guard.ts'
import { proposalRefusal } from './check.ts'
import { sessionsFolder } from './missed.ts'
import type { Snapshot } from './snapshot.ts'

export interface Staging extends FileGuard {
  readonly staged: ReadonlyMap<string, string>
}

export function stagingFor(store: MemoryStore, world: Snapshot, proposed: (file: string) => void): Staging {
  const staged = new Map<string, string>()
  const { root } = store
  const fileOf = (path: string): string => relative(root, path).split(sep).join('/')
  return {
    staged,
    covers: (path) => path !== root && isInside(root, path),
    isGenerated: (path) => fileOf(path) === indexName,
    async read(path) {
      const file = fileOf(path)
      const own = staged.get(file)
      if (own !== undefined) return { ok: true, file: { path, text: own, sha256: shaOf(own) } }
      const read = await store.read(file)
      if (read.ok) return { ok: true, file: { path, text: read.text, sha256: read.memory.sha256 } }
      return read.failure.code === 'not-found'
        ? { ok: true, file: null }
        : { ok: false, why: read.failure.message }
    },
    write: ({ path, text }, env) => {
      const file = fileOf(path)
      const why = refusalOf(world, staged, file, text)
      if (why !== null) return Promise.resolve({ ok: false, why })
      if (file === indexName)
        return Promise.resolve({ ok: true, path, file: null, said: `${indexName} is generated.` })
      staged.set(file, text)
      proposed(file)
      const now = { sha256: shaOf(text), mtimeMs: env.now(), bytes: Buffer.byteLength(text) }
      return Promise.resolve({ ok: true, path, file: now, said: `Proposed for ${file}.` })
    },
  }
}

function refusalOf(
  world: Snapshot,
  staged: ReadonlyMap<string, string>,
  file: string,
  text: string,
): string | null {
  if (file === indexName) return null
  if (file.startsWith(`${diaryFolder}/`)) return 'Pages of the diary stay as they are.'
  if (file.startsWith(`${sessionsFolder}/`)) return 'What was said in sessions stays as it is.'
  const bad = nameRefusal(file)
  return bad === null ? proposalRefusal(world, staged, file, text) : `${file} can be no memory: ${bad}.`
}
