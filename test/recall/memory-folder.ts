// Folders of memories for tests and benchmarks: files with a ledger that vouches for them, written at one stroke.
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { readMemoryText } from '../../src/memory/format/frontmatter.ts'
import { Ledger } from '../../src/memory/keeping/ledger.ts'
import type { MemoryPlace, Trust } from '../../src/memory/memory.ts'

export interface Planted {
  readonly file: string
  readonly text: string
  /** What the ledger says of it; null leaves the file unknown to it. */
  readonly trust?: Trust | null
}

export const placeIn = (folder: string): MemoryPlace => ({
  scope: 'project',
  root: join(folder, 'memory'),
  state: join(folder, 'memory-state'),
})

/** The text of a memory with its frontmatter. */
export function memoryText(
  description: string,
  body: string,
  more: {
    readonly type?: string
    readonly triggers?: readonly string[]
    readonly lines?: readonly string[]
  } = {},
): string {
  const { type = 'project', triggers = [], lines = [] } = more
  const listed = triggers.length === 0 ? [] : [`triggers: ${JSON.stringify(triggers)}`]
  const head = [`description: ${JSON.stringify(description)}`, `type: ${type}`, ...listed, ...lines]
  return `---\n${head.join('\n')}\n---\n${body}\n`
}

export async function plant(place: MemoryPlace, planted: readonly Planted[]): Promise<void> {
  await mkdir(place.state, { recursive: true })
  await mkdir(place.root, { recursive: true })
  const ledger = new Ledger(machineFileSystem, place)
  const fresh = await ledger.refresh()
  if (!fresh.ok) throw new Error(fresh.failure.message)
  const records = [...ledger.records()]
  for (const { file, text, trust = 'user' } of planted) {
    await mkdir(dirname(join(place.root, file)), { recursive: true })
    await writeFile(join(place.root, file), text)
    if (trust === null) continue
    records.push({
      n: records.length + 1,
      at: 1,
      do: 'write',
      file,
      sha: createHash('sha256').update(text).digest('hex'),
      before: null,
      head: readMemoryText(text).head,
      by: { kind: trust === 'data' ? 'tool' : 'user', trust, session: 's', message: null, from: [], at: 1 },
      via: 'user',
    })
  }
  let unique = 0
  const written = await ledger.rewrite(records, () => `planted-${place.scope}-${++unique}`)
  if (!written.ok) throw new Error(written.failure.message)
}
