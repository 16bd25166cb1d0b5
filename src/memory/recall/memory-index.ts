// The memories of one or more folders, kept ready to be ranked. A refresh looks at every file and reads those that have
// changed; in between the index stands as it was. Reading goes in small stretches, so that a request under way is not
// held up, and ends when the signal fires. What a file is worth is asked of the ledger anew at every refresh, and once
// more when its text is read (law M1).
import { join } from 'node:path'
import { attempt, type Failure, type Result, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { filesBelow, readMemory, standingOf } from '../files.ts'
import { Ledger } from '../keeping/ledger.ts'
import type { Memory, MemoryPlace } from '../memory.ts'
import { FileRanker, type RankedFile } from './file-ranker.ts'
import { Lexicon } from './lexicon/terms.ts'

export interface IndexedMemory {
  /** Its name in manifests and facts: the file, with the scope before it where there are several folders. */
  readonly name: string
  readonly path: string
  readonly memory: Memory
  readonly place: MemoryPlace
}

interface Kept extends IndexedMemory {
  readonly mark: string
}

export class MemoryIndex {
  readonly #fs: FileSystem
  readonly #places: readonly MemoryPlace[]
  readonly #ledgers: readonly Ledger[]
  readonly #kept = new Map<string, Kept>()
  #ranker: FileRanker | null = null
  #refreshing: Promise<Failure | null> | null = null
  #isWarm = false
  #superseded: ReadonlySet<string> = new Set()

  constructor(fs: FileSystem, places: readonly MemoryPlace[]) {
    this.#fs = fs
    this.#places = places
    this.#ledgers = places.map(({ state }) => new Ledger(fs, state))
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

  /** How many names lie in the folders, without looking at any of them. */
  async countNames(): Promise<number> {
    let count = 0
    for (const { root } of this.#places) {
      const found = await attempt(`listing ${root}`, async () => ({ names: await this.#fs.names(root) }))
      if (found.ok) count += found.names.length
    }
    return count
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

  /** The text of a memory as it is now, with what the ledger knows now. */
  async read(one: IndexedMemory): Promise<Result<{ memory: Memory; text: string }>> {
    const ledger = this.#ledgers[this.#places.indexOf(one.place)]!
    const known = await ledger.refresh()
    return known.ok ? await readMemory(this.#fs, one.place, one.memory.file, ledger) : known
  }

  async #refresh(signal: AbortSignal): Promise<Failure | null> {
    const seen = new Set<string>()
    for (const [at, place] of this.#places.entries()) {
      const ledger = this.#ledgers[at]!
      const known = await ledger.refresh()
      if (!known.ok) return known.failure
      const walked = await attempt(`listing the memories in ${place.root}`, () =>
        filesBelow(this.#fs, place.root),
      )
      if (!walked.ok) return walked.failure
      const changed: { readonly name: string; readonly file: string; readonly mark: string }[] = []
      for (const { file, stat } of walked.files) {
        const name = this.#places.length > 1 ? `${place.scope}/${file}` : file
        seen.add(name)
        const kept = this.#kept.get(name)
        if (kept?.mark !== stat.mark) changed.push({ name, file, mark: stat.mark })
        else this.#judge(kept, ledger)
      }
      const failure = await this.#readAll(place, ledger, changed, signal)
      if (failure !== null) return failure
    }
    for (const name of this.#kept.keys()) if (!seen.has(name)) this.#drop(name)
    this.#noteSuperseded()
    this.#isWarm = true
    return null
  }

  async #readAll(
    place: MemoryPlace,
    ledger: Ledger,
    changed: readonly { readonly name: string; readonly file: string; readonly mark: string }[],
    signal: AbortSignal,
  ): Promise<Failure | null> {
    const { readAtOnce } = defaults.recall
    for (let at = 0; at < changed.length; at += readAtOnce) {
      if (signal.aborted) return { code: 'aborted', message: 'reading the memories was given up' }
      const some = changed.slice(at, at + readAtOnce)
      const read = await Promise.all(some.map(({ file }) => readMemory(this.#fs, place, file, ledger)))
      for (const [i, { name, file, mark }] of some.entries()) {
        const one = read[i]!
        // What cannot be read is no candidate; it is looked at again next time.
        if (one.ok) this.#keep({ name, path: join(place.root, file), memory: one.memory, place, mark })
        else this.#drop(name)
      }
      await nextTurn()
    }
    return null
  }

  #noteSuperseded(): void {
    const paths = [...this.#kept.values()].flatMap(({ memory, place, path }) =>
      memory.standing === 'open'
        ? memory.supersedes.map((file) => join(place.root, file)).filter((older) => older !== path)
        : [],
    )
    this.#superseded = new Set(paths)
  }

  #judge(kept: Kept, ledger: Ledger): void {
    const record = ledger.known(kept.memory.file, kept.memory.sha256)
    const standing = standingOf(record)
    if (standing === kept.memory.standing) return
    const memory = { ...kept.memory, standing, provenance: record?.by ?? null }
    this.#kept.set(kept.name, { ...kept, memory })
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
