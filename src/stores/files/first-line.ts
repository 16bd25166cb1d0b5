// The first line of a transcript says what the session is and what it was forked from; without it a fork would lose all that
// it began with. So a copy of it lies beside the transcript. It is only a copy: where it cannot be written nothing is wrong.
import { closing, attempt, readAt, writeAll, type FileSystem, type OpenFile } from '../../disk/fs.ts'
import { removeIfThere } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import type { StoredEntry } from '../../transcript/fact.ts'
import { fileMode, type Layout } from './layout.ts'
import { lineFeed, unframe } from './line-frame.ts'
import { readSmall } from '../../disk/small-file.ts'

/** Writes the copy where there is none, if the first line is sound. */
export async function keepFirstLine(fs: FileSystem, layout: Layout, transcript: OpenFile): Promise<void> {
  const known = await attempt('looking for the copy of the first line', () => fs.stat(layout.firstLine))
  if (known.ok) return
  const line = await attempt('reading the first line', async () => ({ bytes: await firstLineOf(transcript) }))
  if (!line.ok || line.bytes === null) return
  const { bytes } = line
  const written = await attempt('copying the first line', async () =>
    closing(await fs.open(layout.firstLine, 'create', fileMode), (file) => writeAll(file, bytes)),
  )
  // Half a copy would stand in the way of a whole one.
  if (!written.ok && written.failure.code !== 'exists') await removeIfThere(fs, layout.firstLine)
}

/** The copy, or null where there is none that is sound. */
export async function copiedFirstLine(fs: FileSystem, layout: Layout): Promise<StoredEntry | null> {
  const read = await readSmall(fs, layout.firstLine, defaults.store.firstLineBytes)
  const end = read.ok ? read.bytes.indexOf(lineFeed) : -1
  const line = read.ok && end !== -1 ? unframe(read.bytes.subarray(0, end)) : null
  return line !== null && line.ok && line.checked ? line.entry : null
}

async function firstLineOf(file: OpenFile): Promise<Buffer | null> {
  const bytes = await readAt(file, 0, defaults.store.firstLineBytes)
  const end = bytes.indexOf(lineFeed)
  const line = end === -1 ? null : unframe(bytes.subarray(0, end))
  return line !== null && line.ok && line.checked ? bytes.subarray(0, end + 1) : null
}
