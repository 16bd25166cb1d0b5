// Where an index of memories takes them from: a folder, of which only the files that changed are read, or any store.
import { attempt, type FileSystem, type Result } from '../../disk/fs.ts'
import { filesBelow, readMemory, standingOf } from '../files.ts'
import { Ledger } from '../keeping/ledger.ts'
import type { Memory, MemoryPlace, MemoryScope } from '../memory.ts'
import type { MemoryStore } from '../memory-store.ts'

export interface MarkedFile {
  readonly file: string
  /** Another one for every other content. */
  readonly mark: string
}

export interface MemorySource {
  readonly scope: MemoryScope
  readonly root: string
  /** About how many there are, without looking at any of them. */
  count(): Promise<number>
  files(): Promise<Result<{ readonly files: readonly MarkedFile[] }>>
  /** Until the next `files` or `renew` what is known of a text is what was known then. */
  read(file: string): Promise<Result<{ readonly memory: Memory; readonly text: string }>>
  renew(): Promise<Result<object>>
  /** One that has not changed, with what is known of it now. */
  judged(memory: Memory): Memory
}

export function folderSource(fs: FileSystem, place: MemoryPlace): MemorySource {
  const { scope, root } = place
  const ledger = new Ledger(fs, place.state)
  return {
    scope,
    root,
    async count() {
      const found = await attempt(`listing ${root}`, async () => ({ names: await fs.names(root) }))
      return found.ok ? found.names.length : 0
    },
    async files() {
      const known = await ledger.refresh()
      if (!known.ok) return known
      const walked = await attempt(`listing the memories in ${root}`, () => filesBelow(fs, root))
      if (!walked.ok) return walked
      return { ok: true, files: walked.files.map(({ file, stat }) => ({ file, mark: stat.mark })) }
    },
    read: (file) => readMemory(fs, place, file, ledger),
    renew: () => ledger.refresh(),
    judged(memory) {
      const record = ledger.known(memory.file, memory.sha256)
      const standing = standingOf(record)
      return standing === memory.standing ? memory : { ...memory, standing, provenance: record?.by ?? null }
    },
  }
}

export function storeSource(store: MemoryStore): MemorySource {
  const { scope, root } = store
  return {
    scope,
    root,
    async count() {
      const listed = await store.list(0)
      return listed.ok ? listed.total : 0
    },
    async files() {
      const listed = await store.list()
      if (!listed.ok) return listed
      // What a text is worth is a part of the mark, so that one that is judged anew is read anew.
      const files = listed.memories.map(({ file, sha256, standing }) => ({
        file,
        mark: `${sha256} ${standing}`,
      }))
      return { ok: true, files }
    },
    read: (file) => store.read(file),
    renew: () => Promise.resolve({ ok: true }),
    judged: (memory) => memory,
  }
}
