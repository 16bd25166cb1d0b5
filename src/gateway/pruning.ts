// Removes kept texts and decisions that nobody needs: of conversations that have not gone on for long, and the oldest texts
// where all take too much. A text is marked as used whenever a request goes out in which it was cut, so what a living conversation names stays.
import { join } from 'node:path'
import { attempt, type FileSystem, type Result } from '../disk/fs.ts'
import { unusedSegments } from './segments.ts'

export interface KeptLimits {
  /** Days after its last use. */
  readonly keptDays: number
  /** All texts of one credential together. */
  readonly keptBytes: number
}

export interface Pruned {
  readonly files: number
  readonly bytes: number
}

interface KeptFile {
  readonly path: string
  readonly bytes: number
  readonly usedAt: number
}

const dayMs = 24 * 60 * 60_000
/** Used so recently that its conversation goes on: it stays, however much there is. */
const livingDays = 1

/** Which of the files go. Pure. */
export function toPrune(files: readonly KeptFile[], limits: KeptLimits, now: number): readonly KeptFile[] {
  const old = files.filter(({ usedAt }) => now - usedAt > limits.keptDays * dayMs)
  const rest = files.filter((file) => !old.includes(file)).toSorted((a, b) => a.usedAt - b.usedAt)
  let size = rest.reduce((sum, { bytes }) => sum + bytes, 0)
  const large: KeptFile[] = []
  for (const file of rest) {
    if (size <= limits.keptBytes || now - file.usedAt <= livingDays * dayMs) break
    large.push(file)
    size -= file.bytes
  }
  return [...old, ...large]
}

/** Prunes the folder of each credential below the gateway's. */
export function pruneKept(
  fs: FileSystem,
  folder: string,
  limits: KeptLimits,
  now: number,
): Promise<Result<Pruned>> {
  return attempt(`pruning ${folder}`, async () => {
    let [files, bytes] = [0, 0]
    for (const { name, kind } of await fs.entries(folder)) {
      if (kind !== 'folder') continue
      for (const file of toPrune(await keptIn(fs, join(folder, name, 'kept')), limits, now)) {
        await fs.unlink(file.path)
        files++
        bytes += file.bytes
      }
      for (const path of await unusedSegments(fs, join(folder, name), limits.keptDays, now))
        await fs.unlink(path)
    }
    return { files, bytes }
  })
}

async function keptIn(fs: FileSystem, folder: string): Promise<readonly KeptFile[]> {
  const names = await fs.names(folder).catch(() => [])
  const found: KeptFile[] = []
  for (const name of names) {
    const path = join(folder, name)
    const stat = await fs.stat(path).catch(() => null)
    if (stat?.kind === 'file') found.push({ path, bytes: stat.bytes, usedAt: stat.modifiedMs })
  }
  return found
}
