// The memories of a folder, one line each, as jobs on memories are told of them. What is held is shown to nobody.
import type { DiskResult, FileSystem } from '../../disk/fs.ts'
import { listMemories } from '../../memory/files.ts'
import type { Keeper } from '../../memory/keeping/keeper.ts'
import type { Memory } from '../../memory/memory.ts'
import { manifestLine } from '../../memory/recall/shown.ts'

export async function shownMemories(
  fs: FileSystem,
  { place, ledger }: Keeper,
  most: number,
): Promise<DiskResult<{ memories: readonly Memory[]; lines: readonly string[] }>> {
  const listed = await listMemories(fs, place, { most, ledger })
  if (!listed.ok) return listed
  const memories = listed.memories.filter(({ standing }) => standing !== 'held')
  return { ok: true, memories, lines: memories.map((memory) => manifestLine({ name: memory.file, memory })) }
}
