// The memories of a folder, looked at: which files there are, what they say of themselves, and what the ledger knows of
// exactly these bytes. Looks only. A file that is a link, has a second name or is too large is passed over and named.
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { refused } from '../disk/failure.ts'
import { attempt, unlessMissing, type Result, type FileStat, type FileSystem } from '../disk/fs.ts'
import { isTemporaryName } from '../disk/replace.ts'
import { readUnder, type GateOptions } from '../disk/under-root.ts'
import { defaults } from '../settings/defaults.ts'
import type { MemoryText } from './format/frontmatter.ts'
import { Ledger } from './keeping/ledger.ts'
import type { Written } from './keeping/records.ts'
import { diaryFolder, indexName, isOpen, type Memory, type MemoryPlace, type Standing } from './memory.ts'
import type { Listing } from './memory-store.ts'

export interface ListOptions {
  /** Only the newest so many are read. */
  readonly most?: number | undefined
  /** A ledger that is already open; it is refreshed. */
  readonly ledger?: Ledger | undefined
}

/** The memories of a folder. A folder that is not there holds none. */
export async function listMemories(
  fs: FileSystem,
  place: MemoryPlace,
  options: ListOptions = {},
): Promise<Result<Listing>> {
  const { most = defaults.memory.listed, ledger = new Ledger(fs, place) } = options
  const known = await ledger.refresh()
  if (!known.ok) return known
  const walked = await attempt(`listing the memories in ${place.root}`, () => filesBelow(fs, place.root))
  if (!walked.ok) return walked
  const newest = [...walked.files].sort(
    (a, b) => b.stat.modifiedMs - a.stat.modifiedMs || (a.file < b.file ? -1 : 1),
  )
  const skipped: { file: string; why: string }[] = [...walked.skipped]
  const memories: Memory[] = []
  const wanted = newest.slice(0, most)
  for (let at = 0; at < wanted.length; at += defaults.memory.parallel) {
    const some = wanted.slice(at, at + defaults.memory.parallel)
    const read = await Promise.all(some.map(({ file }) => readMemory(fs, place, file, ledger)))
    for (const [i, one] of read.entries()) {
      if (one.ok) memories.push(one.memory)
      else if (one.failure.code !== 'not-found')
        skipped.push({ file: some[i]!.file, why: one.failure.message })
    }
  }
  return { ok: true, memories, total: newest.length, skipped }
}

/** One memory with its text. The ledger must be fresh. */
export async function readMemory(
  fs: FileSystem,
  place: MemoryPlace,
  file: string,
  ledger: Ledger,
): Promise<Result<{ memory: Memory; text: string }>> {
  const strict = await readBytes(fs, place.root, file)
  const isOurs = !strict.ok && strict.failure.code === 'hardlink' && (await isLeftover(fs, place.root, file))
  const read = isOurs ? await readBytes(fs, place.root, file, { hardLinks: 'allow' }) : strict
  if (!read.ok) return read
  const text = read.bytes.toString('utf8')
  const sha256 = shaOf(read.bytes)
  // The reader of YAML is large: whoever has no memory does not load it.
  const { readMemoryText } = await import('./format/frontmatter.ts')
  const parsed = readMemoryText(text)
  const record = ledger.known(file, sha256)
  const memory: Memory = {
    ...parsed.head,
    file,
    bytes: read.bytes.length,
    modifiedMs: read.stat.modifiedMs,
    sha256,
    opening: openingOf(parsed),
    standing: standingOf(record),
    provenance: record?.by ?? null,
  }
  return { ok: true, memory, text }
}

/** What the ledger's record of exactly these bytes makes of them. */
export const standingOf = (record: Written | null): Standing =>
  record === null ? 'held' : isOpen(record.by.trust, record.head) ? 'open' : 'fenced'

/** Whether the only other name of a file is the one under which a writer that died had begun it, in the same folder. */
async function isLeftover(fs: FileSystem, root: string, file: string): Promise<boolean> {
  const folder = dirname(join(root, file))
  const found = await attempt(`looking for other names of ${file}`, async () => {
    const { identity, links } = await fs.stat(join(root, file))
    const names = (await fs.names(folder)).filter(isTemporaryName)
    const stats = await Promise.all(names.map((name) => fs.stat(join(folder, name))))
    return { isOurs: links === 2 && stats.some((stat) => stat.identity === identity) }
  })
  return found.ok && found.isOurs
}

/** The bytes of a file of the folder, through the gate. */
export async function readBytes(
  fs: FileSystem,
  root: string,
  file: string,
  options: GateOptions = {},
): Promise<Result<{ bytes: Buffer; stat: FileStat }>> {
  const most = defaults.memory.fileBytes
  const read = await readUnder(fs, root, file, most, options)
  return read.ok && read.stat.bytes > most
    ? refused('too-large', `${file} has ${read.stat.bytes} bytes; a memory has at most ${most}`)
    : read
}

export const shaOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

const openingOf = ({ body }: MemoryText): string =>
  body
    .trim()
    .split('\n', defaults.memory.openingLines)
    .join('\n')
    .slice(0, defaults.memory.openingChars)
    .toWellFormed()

export interface Walked {
  readonly files: { readonly file: string; readonly stat: FileStat }[]
  readonly skipped: { readonly file: string; readonly why: string }[]
}

/** The memory files below a folder, unread. */
export async function filesBelow(fs: FileSystem, root: string): Promise<Walked> {
  const walked: Walked = { files: [], skipped: [] }
  await walk(fs, root, '', 0, walked)
  return walked
}

async function walk(
  fs: FileSystem,
  root: string,
  below: string,
  depth: number,
  walked: Walked,
): Promise<void> {
  const found = await unlessMissing(fs.names(join(root, below)))
  const names = (found ?? []).filter((name) => isListed(name, below))
  for (let at = 0; at < names.length; at += defaults.memory.parallel) {
    const some = names.slice(at, at + defaults.memory.parallel)
    const stats = await Promise.all(some.map((name) => unlessMissing(fs.stat(join(root, below, name)))))
    for (const [i, stat] of stats.entries()) {
      const file = below === '' ? some[i]! : `${below}/${some[i]!}`
      if (stat === null || walked.files.length >= defaults.memory.scanned) continue
      if (stat.kind === 'folder') {
        if (depth < defaults.memory.depth) await walk(fs, root, file, depth + 1, walked)
      } else if (file.toLowerCase().endsWith('.md')) {
        if (stat.kind === 'file' && (stat.links === 1 || (await isLeftover(fs, root, file))))
          walked.files.push({ file, stat })
        else walked.skipped.push({ file, why: 'it is a link or has a second name, and is not read' })
      }
    }
  }
}

/** Names with a dot are temporary or not ours; the index and the diaries are no memories. */
const isListed = (name: string, below: string): boolean =>
  !name.startsWith('.') && !(below === '' && (name === indexName || name === diaryFolder))
