// Where an index of memories takes them from: a folder, of which only the files that changed are read, or any store. A
// folder's ledger knows its memories without a look at their files, and its index is kept between processes beside it.
import { attempt, type FileSystem, type Result } from '../../disk/fs.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { filesBelow, readMemory, standingOf } from '../files.ts'
import { Ledger } from '../keeping/ledger.ts'
import type { Written } from '../keeping/records.ts'
import type { Memory, MemoryPlace, MemoryScope } from '../memory.ts'
import type { MemoryStore } from '../memory-store.ts'
import { readSmall } from '../../disk/small-file.ts'
import {
  decodeVectors,
  encodeVectors,
  storedVectorsFile,
  decodeIndex,
  encodeIndex,
  storedIndexFile,
  type Vectors,
  type DecodedIndex,
  type StoredIndex,
  type StoredMemory,
} from './stored-index.ts'

/** Of the tables that words are read by: they are large, and wait until there is an index to read or write. */
const printOfWords = async (): Promise<string> => (await import('./lexicon/terms.ts')).readingPrint()

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
  /** What is known without a look at any file; left out where only looking tells. */
  readonly recorded?: RecordedMemories | undefined
}

/** The memories of a source by what is written down of them, and their index between processes. */
export interface RecordedMemories {
  load(): Promise<Result<Recorded>>
  /** Keeps the index for later processes, which ask the ledger for the others where it does not hold all. That it could not be kept costs them time and nothing else. */
  keep(index: StoredIndex, isWhole: boolean): Promise<void>
  /** Vectors that an earlier process kept, by the hash of the memory. */
  vectors(encoder: string): Promise<Vectors>
  keepVectors(vectors: Vectors, encoder: string): Promise<void>
}

export interface Recorded {
  /** What an earlier process kept, with those of its memories that are still the same bytes, by file. */
  readonly stored: { readonly index: StoredIndex; readonly same: ReadonlySet<string> } | null
  /** The others, each as its newest record says. */
  readonly heads: readonly Memory[]
}

/** With `unique` its index is kept beside the ledger; left out, it is only read. */
export function folderSource(fs: FileSystem, place: MemoryPlace, unique?: () => string): MemorySource {
  const { scope, root } = place
  const ledger = new Ledger(fs, place)
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
      const provenance = record?.by ?? null
      const isKnown = memory.standing === standing && memory.provenance === provenance
      return isKnown ? memory : { ...memory, ...record?.head, standing, provenance }
    },
    recorded: recordedIn(fs, place, ledger, unique),
  }
}

function recordedIn(
  fs: FileSystem,
  { state }: MemoryPlace,
  ledger: Ledger,
  unique: (() => string) | undefined,
): RecordedMemories {
  const path = storedIndexFile(state)
  /** Forgetting changes the ledger and then takes such files away: whoever wrote after that takes away its own. */
  const keepFile = async (file: string, bytes: Buffer, id: string): Promise<void> => {
    if (unique === undefined) return
    const written = await replaceFile(fs, file, bytes, { mode: defaults.memory.fileMode, unique })
    if (written.ok && (await ledger.refresh()).ok && ledger.id === id) return
    await attempt('taking an index away', async () => ({ gone: await removeIfThere(fs, file) }))
  }
  return {
    async load() {
      const [known, read] = await Promise.all([
        ledger.refresh(),
        readSmall(fs, path, defaults.recall.storedBytes),
      ])
      if (!known.ok) return known
      const stored = read.ok
        ? decodeIndex(read.bytes, { ledger: ledger.id, words: await printOfWords() })
        : null
      return { ok: true, ...(stored === null ? unstored(ledger) : withStored(ledger, stored)) }
    },
    async keep(index, isWhole) {
      const { id, bytes } = ledger
      const ledgerBytes = isWhole ? bytes : 0
      await keepFile(path, encodeIndex(index, { ledger: id, ledgerBytes, words: await printOfWords() }), id)
    },
    async vectors(encoder) {
      const read = await readSmall(fs, storedVectorsFile(state), defaults.encoder.storedBytes)
      return read.ok ? decodeVectors(read.bytes, { ledger: ledger.id, encoder }) : new Map()
    },
    async keepVectors(vectors, encoder) {
      const { id } = ledger
      await keepFile(storedVectorsFile(state), encodeVectors(vectors, { ledger: id, encoder }), id)
    },
  }
}

const unstored = (ledger: Ledger): Recorded => ({
  stored: null,
  heads: ledger.standing().map(recordedMemory),
})

/** What the ledger says of memories behind what was known when the index was stored; of all where that cannot be told. */
function withStored(ledger: Ledger, index: DecodedIndex): Recorded {
  const later = ledger.behind(index.ledgerBytes)
  if (later !== null) {
    const touched = new Set(later.flatMap((record) => ('file' in record ? [record.file] : [])))
    const same = new Set(index.memories.map(({ file }) => file).filter((file) => !touched.has(file)))
    const heads = [...touched].flatMap((file) => ledger.current(file) ?? []).map(recordedMemory)
    return { stored: { index, same }, heads }
  }
  const now = new Map(ledger.standing().map((record) => [record.file, record]))
  const isSame = ({ file, sha256, standing }: StoredMemory): boolean => {
    const record = now.get(file)
    return record?.sha === sha256 && standingOf(record) === standing
  }
  const same = new Set(index.memories.filter(isSame).map(({ file }) => file))
  const heads = [...now.values()].filter(({ file }) => !same.has(file)).map(recordedMemory)
  return { stored: { index, same }, heads }
}

const recordedMemory = (record: Written): Memory => ({
  ...record.head,
  file: record.file,
  bytes: 0,
  modifiedMs: record.at,
  sha256: record.sha,
  opening: '',
  standing: standingOf(record),
  provenance: record.by,
})

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
