// The memories of one or more sources, kept ready to be ranked. A refresh looks at every file and reads those that have
// changed; in between the index stands as it was. Reading goes in small stretches, so that a request under way is not
// held up, and ends when the signal fires. What a file is worth is asked of the ledger anew at every refresh, and once
// more when its text is read (law M1).
import { join } from 'node:path'
import type { Failure, Result } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Memory } from '../memory.ts'
import { FileRanker, type RankedFile } from './file-ranker.ts'
import { Lexicon } from './lexicon/terms.ts'
import type { MarkedFile, MemorySource } from './memory-source.ts'

export interface IndexedMemory {
  /** Its name in manifests and facts: the file, with the scope before it where there are several sources. */
  readonly name: string
  readonly path: string
  readonly memory: Memory
  readonly source: MemorySource
}

interface Kept extends IndexedMemory {
  readonly mark: string
}

export class MemoryIndex {
  readonly #sources: readonly MemorySource[]
  readonly #kept = new Map<string, Kept>()
  #ranker: FileRanker | null = null
  #refreshing: Promise<Failure | null> | null = null
  #isWarm = false
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

  /** Brings the index up to date; one at a time, and those who come meanwhile wait for it. */
  async refresh(signal: AbortSignal): Promise<Failure | null> {
    this.#refreshing ??= this.#refresh(signal).finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  /** The text of a memory as it is now, with what is known of it now. */
  async read({ source, memory }: IndexedMemory): Promise<Result<{ memory: Memory; text: string }>> {
    const known = await source.renew()
    return known.ok ? await source.read(memory.file) : known
  }

  async #refresh(signal: AbortSignal): Promise<Failure | null> {
    const seen = new Set<string>()
    for (const source of this.#sources) {
      const listed = await source.files()
      if (!listed.ok) return listed.failure
      const changed: (MarkedFile & { readonly name: string })[] = []
      for (const { file, mark } of listed.files) {
        const name = this.#sources.length > 1 ? `${source.scope}/${file}` : file
        seen.add(name)
        const kept = this.#kept.get(name)
        if (kept?.mark !== mark) changed.push({ name, file, mark })
        else this.#kept.set(name, { ...kept, memory: source.judged(kept.memory) })
      }
      const failure = await this.#readAll(source, changed, signal)
      if (failure !== null) return failure
    }
    for (const name of this.#kept.keys()) if (!seen.has(name)) this.#drop(name)
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
        else this.#drop(name)
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

const fileWords = (file: string): string => file.replace(/\.md$/iu, '').replaceAll(/[/_.-]+/gu, ' ')
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
