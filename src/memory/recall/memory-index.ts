// The memories of one or more sources, kept ready to be ranked. Opening takes what is written down of them: the index that
// an earlier process kept, and for what is not in it the heads that the ledger has. A refresh looks at every file and reads
// those that have changed; in between the index stands as it was. Reading goes in small stretches, so that a request under
// way is not held up, and ends when the signal fires. What a file is worth is asked of the ledger anew at every opening and
// refresh, and once more when its text is read (law M1).
import { join, normalize, sep } from 'node:path'
import type { Failure, Result } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Memory } from '../memory.ts'
import { FileRanker, type RankedFile } from './file-ranker.ts'
import { Lexicon } from './lexicon/terms.ts'
import type { MarkedFile, MemorySource, Recorded } from './memory-source.ts'

export interface IndexedMemory {
  /** Its name in manifests and facts: the file, with the scope before it where there are several sources. */
  readonly name: string
  readonly path: string
  readonly memory: Memory
  readonly source: MemorySource
}

interface Kept extends IndexedMemory {
  /** Empty where only its head is known. */
  readonly mark: string
}

export class MemoryIndex {
  readonly #sources: readonly MemorySource[]
  readonly #kept = new Map<string, Kept>()
  #ranker: FileRanker | null = null
  #refreshing: Promise<Failure | null> | null = null
  #isWarm = false
  /** Whether the last look left out something that it could not read. */
  #hasMissed = false
  #opening: Promise<Failure | null> | null = null
  /** How many were read since the index was kept on disk. */
  #unsaved = 0
  #superseded: ReadonlySet<string> = new Set()

  constructor(sources: readonly MemorySource[]) {
    this.#sources = sources
  }

  /** Whether everything has been read once. */
  get isWarm(): boolean {
    return this.#isWarm
  }

  get size(): number {
    return this.#kept.size
  }

  /** Whether every source says what it has without a look at its files. */
  get isRecorded(): boolean {
    return this.#sources.every(({ recorded }) => recorded !== undefined)
  }

  /** How many are known by their heads alone. */
  get unread(): number {
    return this.#unread().length
  }

  #unread(): readonly Kept[] {
    return [...this.#kept.values()].filter(({ mark }) => mark === '')
  }

  all(): readonly IndexedMemory[] {
    return [...this.#kept.values()]
  }

  get(name: string): IndexedMemory | undefined {
    return this.#kept.get(name)
  }

  /** Whether a memory that may be shown takes its place. */
  isSuperseded({ path }: IndexedMemory): boolean {
    return this.#superseded.has(path)
  }

  /** About how many there are, without looking at any of them. */
  async count(): Promise<number> {
    const counts = await Promise.all(this.#sources.map((source) => source.count()))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  rank(query: string, most: number, isWanted: (one: IndexedMemory) => boolean): RankedFile[] {
    return this.#ranked().rank(query, most, (name) => isWanted(this.#kept.get(name)!))
  }

  /** Takes what is written down of the memories; once, and no file of them is looked at. */
  async open(): Promise<Failure | null> {
    this.#opening ??= this.#open()
    const failure = await this.#opening
    if (failure !== null) this.#opening = null
    return failure
  }

  /** Reads those that are known by their heads alone. */
  async readUnread(signal: AbortSignal): Promise<void> {
    for (const one of this.#unread()) {
      if (signal.aborted) return
      const read = await one.source.read(one.memory.file)
      // Its mark stays empty: whether the file changes afterwards is seen by the next look at the folder.
      if (read.ok) this.#keep({ ...one, memory: read.memory })
      else this.#drop(one.name)
    }
  }

  /** Brings the index up to date; one at a time, and those who come meanwhile wait for it. */
  async refresh(signal: AbortSignal): Promise<Failure | null> {
    this.#refreshing ??= this.#refresh(signal).finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  /** Keeps the index for later processes, where it holds much that they would have to read. */
  async store(): Promise<void> {
    if (this.#unsaved < Math.min(defaults.recall.storedFrom, this.size)) return
    this.#unsaved = 0
    for (const source of this.#sources) {
      const read = [...this.#kept.values()].filter((one) => one.source === source && one.mark !== '')
      if (source.recorded === undefined || read.length < defaults.recall.storedFrom) continue
      const { documents, postings } = this.#ranked().stored(read.map(({ name }) => name))
      const memories = read.map(({ memory, mark }, at) => ({
        ...memory,
        mark,
        triggerWords: documents[at]!.triggers,
      }))
      await source.recorded.keep({ memories, postings }, this.#isWarm && !this.#hasMissed)
    }
  }

  /** The text of a memory as it is now, with what is known of it now. */
  async read({ source, memory }: IndexedMemory): Promise<Result<{ memory: Memory; text: string }>> {
    const known = await source.renew()
    return known.ok ? await source.read(memory.file) : known
  }

  async #open(): Promise<Failure | null> {
    for (const source of this.#sources) {
      if (source.recorded === undefined) continue
      const loaded = await source.recorded.load()
      if (!loaded.ok) return loaded.failure
      if (loaded.stored !== null) this.#adopt(source, loaded.stored)
      for (const memory of loaded.heads) {
        const name = this.#nameOf(source, memory.file)
        this.#keep({ name, path: join(source.root, memory.file), memory, source, mark: '' })
      }
    }
    this.#noteSuperseded()
    return null
  }

  /** Of those that are still the same bytes; names and descriptions come with the first look at the folder. */
  #adopt(source: MemorySource, { index, same }: NonNullable<Recorded['stored']>): void {
    const documents = index.memories.map(({ file, triggerWords }) => ({
      id: this.#nameOf(source, file),
      triggers: triggerWords,
    }))
    this.#ranked().adopt({ documents, postings: index.postings })
    const folder = join(source.root, sep)
    for (const [at, stored] of index.memories.entries()) {
      const { file, sha256, bytes, modifiedMs, standing, type, supersedes, expires, mark } = stored
      const name = documents[at]!.id
      if (!same.has(file)) {
        this.#drop(name)
        continue
      }
      // Written out: there are thousands, and a request waits.
      const memory: Memory = {
        file,
        sha256,
        bytes,
        modifiedMs,
        standing,
        type,
        supersedes,
        expires,
        name: '',
        description: '',
        triggers: none,
        opening: '',
        provenance: null,
      }
      this.#kept.set(name, {
        name,
        path: folder + (sep === '/' ? file : normalize(file)),
        memory,
        source,
        mark,
      })
    }
  }

  #nameOf(source: MemorySource, file: string): string {
    return this.#sources.length > 1 ? `${source.scope}/${file}` : file
  }

  async #refresh(signal: AbortSignal): Promise<Failure | null> {
    const unopened = await this.open()
    if (unopened !== null) return unopened
    this.#hasMissed = false
    const seen = new Set<string>()
    for (const source of this.#sources) {
      const listed = await source.files()
      if (!listed.ok) return listed.failure
      const changed: (MarkedFile & { readonly name: string })[] = []
      for (const { file, mark } of listed.files) {
        const name = this.#nameOf(source, file)
        seen.add(name)
        const kept = this.#kept.get(name)
        if (kept?.mark !== mark) changed.push({ name, file, mark })
        else this.#kept.set(name, { ...kept, memory: source.judged(kept.memory) })
      }
      const failure = await this.#readAll(source, changed, signal)
      if (failure !== null) return failure
    }
    // A map may lose what it is gone through by.
    for (const name of this.#kept.keys()) {
      if (seen.has(name)) continue
      this.#drop(name)
      this.#unsaved += 1
    }
    this.#noteSuperseded()
    this.#isWarm = true
    return null
  }

  async #readAll(
    source: MemorySource,
    changed: readonly (MarkedFile & { readonly name: string })[],
    signal: AbortSignal,
  ): Promise<Failure | null> {
    const { readAtOnce } = defaults.recall
    for (let at = 0; at < changed.length; at += readAtOnce) {
      if (signal.aborted) return { code: 'aborted', message: 'reading the memories was given up' }
      const some = changed.slice(at, at + readAtOnce)
      const read = await Promise.all(some.map(({ file }) => source.read(file)))
      for (const [i, { name, file, mark }] of some.entries()) {
        const one = read[i]!
        // What cannot be read is no candidate; it is looked at again next time.
        if (one.ok) this.#keep({ name, path: join(source.root, file), memory: one.memory, source, mark })
        else {
          this.#drop(name)
          this.#hasMissed = true
        }
        this.#unsaved += 1
      }
      await nextTurn()
    }
    return null
  }

  #noteSuperseded(): void {
    const paths = [...this.#kept.values()].flatMap(({ memory, source, path }) =>
      memory.standing === 'open'
        ? memory.supersedes.map((file) => join(source.root, file)).filter((older) => older !== path)
        : [],
    )
    this.#superseded = new Set(paths)
  }

  #keep(one: Kept): void {
    const { name, memory } = one
    const { fields } = defaults.ranking
    this.#kept.set(name, one)
    this.#ranked().set(name, {
      fields: [
        { text: `${memory.name} ${fileWords(memory.file)}`, weight: fields.name },
        { text: memory.description, weight: fields.description },
        { text: memory.triggers.join('\n'), weight: fields.triggers },
        { text: memory.opening, weight: fields.body },
      ],
      triggers: memory.triggers,
    })
  }

  #drop(name: string): void {
    this.#kept.delete(name)
    this.#ranked().delete(name)
  }

  /** Made when it is first needed: its table of words takes a few milliseconds. */
  #ranked(): FileRanker {
    this.#ranker ??= new FileRanker(new Lexicon())
    return this.#ranker
  }
}

const none: readonly string[] = []
const fileWords = (file: string): string => file.replace(/\.md$/iu, '').replaceAll(/[/_.-]+/gu, ' ')
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
