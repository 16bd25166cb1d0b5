// The memories of a folder, one line each, as jobs on memories are told of them. What is held is shown to nobody.
import type { DiskResult } from '../../disk/fs.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import { manifestLine } from '../../memory/recall/shown.ts'

export async function shownMemories(
  store: MemoryStore,
  most: number,
): Promise<DiskResult<{ lines: readonly string[] }>> {
  const listed = await store.list(most)
  if (!listed.ok) return listed
  const memories = listed.memories.filter(({ standing }) => standing !== 'held')
  return { ok: true, lines: memories.map((memory) => manifestLine({ name: memory.file, memory })) }
}
