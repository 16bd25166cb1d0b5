// The ledger: what this program knows about the memories of one folder. It lies beside the folder, never in it.
//
// Format. `ledger.jsonl`, one record a line, only ever appended to (`forget` alone writes it anew, without what is
// forgotten). `n` counts the records; versions are named by it. Texts lie in `versions/<sha256>`.
//
//   {"v":1,"do":"ledger","id":"…","salt":"…"}                       always the first line; `id` is new when it is written anew
//   {"v":1,"n":7,"at":…,"do":"write","file":"a.md","sha":"…","before":"…"|null,"head":{…},"by":{…},"via":"session"}
//   {"v":1,"n":8,"at":…,"do":"remove","file":"a.md","before":"…","by":{…},"via":"user"}
//   {"v":1,"n":9,"at":…,"do":"hold","file":"a.md","sha":"…"|null,"before":"…"|null,"head":{…},"by":{…},"why":"…"}
//   {"v":1,"n":10,"at":…,"do":"settle","held":9,"how":"accepted"|"rejected"}
//   {"v":1,"n":11,"at":…,"do":"forget","sessions":[…],"sources":[…],"prints":[…]}
//
// A record is written before the file it speaks of. What a file is worth is looked up by its bytes among the records of
// its name, so a crash between the two leaves a file that is still known as what it was. A line that cannot be read
// costs itself: the bytes it spoke of are then unknown, which means held, never trusted.
import { dirname, join } from 'node:path'
import {
  closing,
  attempt,
  readAt,
  syncFolder,
  unlessMissing,
  writeAll,
  type Result,
  type FileSystem,
} from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import type { MemoryPlace } from '../memory.ts'
import {
  lineOf,
  recordIn,
  type Held,
  type LedgerRecord,
  type NewRecord,
  type Removed,
  type Written,
} from './records.ts'

export const ledgerFile = (state: string): string => join(state, 'ledger.jsonl')

export class Ledger {
  readonly #fs: FileSystem
  readonly #path: string
  readonly #isByContent: boolean
  #header = noHeader
  #offset = 0
  /** What was read and not yet taken apart: most of a process asks for a few records, and a ledger has very many. */
  #unparsed: Buffer[] = []
  #rest: Buffer = Buffer.alloc(0)
  #lookups = 0
  #next = 1
  #records: LedgerRecord[] = []
  #byFile = new Map<string, (Written | Removed)[]>()
  #bySha = new Map<string, Written>()
  #held = new Map<number, Held>()
  #forgotten = {
    sessions: new Map<string, number>(),
    sources: new Set<string>(),
    prints: new Map<string, number>(),
  }
  #damaged = 0
  #reading: Promise<unknown> = Promise.resolve()

  /** A team's knows contents by their hash alone: who moves a file asks nobody to look at it once more. */
  constructor(fs: FileSystem, { state, scope }: Pick<MemoryPlace, 'state'> & Partial<MemoryPlace>) {
    this.#fs = fs
    this.#path = ledgerFile(state)
    this.#isByContent = scope === 'team'
  }

  /** Reads what others appended meanwhile; everything again when the ledger was written anew. One after the other. */
  async refresh(): Promise<Result<object>> {
    const mine = this.#reading.then(() => this.#refresh())
    this.#reading = mine
    return await mine
  }

  async #refresh(): Promise<Result<object>> {
    return await attempt(`reading the ledger ${this.#path}`, async () => {
      const file = await unlessMissing(this.#fs.open(this.#path, 'read'))
      if (file === null) return this.#clear(noHeader)
      await closing(file, async () => {
        const { bytes, kind, links } = await file.stat()
        if (kind !== 'file' || links > 1)
          throw Object.assign(new Error('it is not a regular file of its own'), { code: 'EISDIR' })
        if (bytes > defaults.memory.ledgerBytes)
          throw Object.assign(new Error(`it is longer than ${defaults.memory.ledgerBytes} bytes`), {
            code: 'EFBIG',
          })
        const header = headerIn((await readAt(file, 0, Math.min(bytes, headerBytes))).toString('utf8'))
        if (header.id !== this.#header.id || bytes < this.#offset) this.#clear(header)
        while (this.#offset < bytes) {
          const block = await readAt(
            file,
            this.#offset,
            Math.min(defaults.memory.ledgerBlockBytes, bytes - this.#offset),
          )
          if (block.length === 0) break
          this.#offset += block.length
          this.#unparsed.push(block)
        }
      })
    })
  }

  /** Appends one record, synced. The caller holds the lock of the folder and has refreshed. */
  async append(record: NewRecord, unique: () => string): Promise<Result<{ record: LedgerRecord }>> {
    this.#parse()
    const numbered: LedgerRecord = { n: this.#next, ...record }
    const written = await attempt(`writing the ledger ${this.#path}`, async () => {
      const isNew = this.#offset === 0
      const file = await this.#fs.open(this.#path, isNew ? 'create' : 'append', defaults.memory.fileMode)
      await closing(file, async () => {
        // A torn line of somebody who died is ended, so that it costs itself alone.
        const start = isNew ? headerLine(unique(), unique()) : this.#rest.length > 0 ? '\n' : ''
        await writeAll(file, Buffer.from(start + lineOf(numbered)))
        await file.datasync()
        if (isNew) await syncFolder(this.#fs, dirname(this.#path))
      })
    })
    if (!written.ok) return written
    const read = await this.refresh()
    return read.ok ? { ok: true, record: numbered } : read
  }

  /** Writes the ledger anew with these records alone. The caller holds the lock and has refreshed. */
  async rewrite(records: readonly LedgerRecord[], unique: () => string): Promise<Result<object>> {
    const header = headerLine(unique(), this.salt === '' ? unique() : this.salt)
    const bytes = Buffer.from([header, ...records.map(lineOf)].join(''))
    const written = await replaceFile(this.#fs, this.#path, bytes, { mode: defaults.memory.fileMode, unique })
    return written.ok ? await this.refresh() : written
  }

  /** Another one once something was forgotten. */
  get id(): string {
    return this.#header.id
  }
  /** Makes fingerprints that only this ledger can compare. */
  get salt(): string {
    return this.#header.salt
  }

  /** The number of the record that comes next. */
  get next(): number {
    this.#parse()
    return this.#next
  }

  records(): readonly LedgerRecord[] {
    this.#parse()
    return this.#records
  }
  /** How many bytes of it were read. */
  get bytes(): number {
    return this.#offset
  }
  /** The records behind so many bytes, which end a line, without a look at those before; null where they do not. */
  behind(bytes: number): readonly LedgerRecord[] | null {
    if (!this.#isWhole || bytes > this.#offset || bytes === 0) return null
    const all = this.#joined()
    return all[bytes - 1] === newLine
      ? linesIn(all.subarray(bytes)).flatMap((line) => recordIn(line) ?? [])
      : null
  }
  /** Lines that could not be read. */
  get damaged(): number {
    this.#parse()
    return this.#damaged + (this.#rest.length > 0 ? 1 : 0)
  }
  /** Versions of a file, oldest first. */
  versionsOf(file: string): readonly (Written | Removed)[] {
    if (this.#isWhole && this.#unparsed.length > 0 && ++this.#lookups <= fewLookups)
      return this.#mentioning(file)
    this.#parse()
    return this.#byFile.get(file) ?? []
  }
  /** The newest record of a file that still stands; a removed one has none. */
  current(file: string): Written | null {
    const last = this.versionsOf(file).at(-1)
    return last?.do === 'write' ? last : null
  }
  /** Every file that stands, with its newest record. */
  standing(): readonly Written[] {
    this.#parse()
    return [...this.#byFile.values()].flatMap((versions) => {
      const last = versions.at(-1)
      return last?.do === 'write' ? [last] : []
    })
  }
  /** What is known of a file with these bytes: the newest record that wrote exactly them. */
  known(file: string, sha: string): Written | null {
    if (this.#isByContent) {
      this.#parse()
      return this.#bySha.get(sha) ?? null
    }
    const found = this.versionsOf(file).findLast((one) => one.do === 'write' && one.sha === sha)
    return found?.do === 'write' ? found : null
  }
  held(): readonly Held[] {
    this.#parse()
    return [...this.#held.values()]
  }
  get forgotten(): {
    /** Each with when it was forgotten last. */
    readonly sessions: ReadonlyMap<string, number>
    readonly sources: ReadonlySet<string>
    readonly prints: ReadonlyMap<string, number>
  } {
    this.#parse()
    return this.#forgotten
  }

  #clear(header: Header): void {
    this.#header = header
    this.#offset = 0
    this.#unparsed = []
    this.#rest = Buffer.alloc(0)
    this.#next = 1
    this.#records = []
    this.#byFile = new Map()
    this.#bySha = new Map()
    this.#held = new Map()
    this.#forgotten = { sessions: new Map(), sources: new Set(), prints: new Map() }
    this.#damaged = 0
  }

  /** Whether nothing was taken apart yet. */
  get #isWhole(): boolean {
    return this.#records.length === 0 && this.#rest.length === 0
  }

  #joined(): Buffer {
    const all = this.#unparsed.length === 1 ? this.#unparsed[0]! : Buffer.concat(this.#unparsed)
    this.#unparsed = [all]
    return all
  }

  /** The records of one file in what was not taken apart: only lines that name it are. */
  #mentioning(file: string): readonly (Written | Removed)[] {
    const all = this.#joined()
    const name = Buffer.from(`"file":${JSON.stringify(file)}`)
    const found: (Written | Removed)[] = []
    for (let at = all.indexOf(name); at !== -1;) {
      const [start, end] = [all.lastIndexOf(newLine, at) + 1, all.indexOf(newLine, at)]
      if (end === -1) break
      const record = recordIn(all.subarray(start, end).toString('utf8'))
      if ((record?.do === 'write' || record?.do === 'remove') && record.file === file) found.push(record)
      at = all.indexOf(name, end)
    }
    return found
  }

  #parse(): void {
    if (this.#unparsed.length === 0) return
    const bytes = Buffer.concat([this.#rest, ...this.#unparsed])
    this.#unparsed = []
    const end = bytes.lastIndexOf(newLine) + 1
    this.#rest = Buffer.from(bytes.subarray(end))
    for (const line of linesIn(bytes.subarray(0, end))) {
      if (line === '' || line.startsWith(headerStart)) continue
      const record = recordIn(line)
      if (record === null) this.#damaged++
      else this.#note(record)
    }
  }

  #note(record: LedgerRecord): void {
    this.#records.push(record)
    this.#next = Math.max(this.#next, record.n + 1)
    if (record.do === 'write' || record.do === 'remove') {
      if (record.do === 'write') this.#bySha.set(record.sha, record)
      const versions = this.#byFile.get(record.file)
      if (versions === undefined) this.#byFile.set(record.file, [record])
      else versions.push(record)
    } else if (record.do === 'hold') this.#held.set(record.n, record)
    else if (record.do === 'settle') this.#held.delete(record.held)
    else {
      for (const session of record.sessions) this.#forgotten.sessions.set(session, record.at)
      for (const source of record.sources) this.#forgotten.sources.add(source)
      for (const print of record.prints) this.#forgotten.prints.set(print, record.at)
    }
  }
}

interface Header {
  readonly id: string
  readonly salt: string
}
const newLine = 0x0a
/** For so many files the lines that name them are looked for; for more all are read. */
const fewLookups = 16
const linesIn = (bytes: Buffer): readonly string[] => bytes.toString('utf8').split('\n')
const noHeader: Header = { id: '', salt: '' }
const headerStart = '{"v":1,"do":"ledger",'
/** Longer than any header. */
const headerBytes = 256
const headerLine = (id: string, salt: string): string => `${headerStart}"id":"${id}","salt":"${salt}"}\n`

function headerIn(text: string): Header {
  const match = /^\{"v":1,"do":"ledger","id":"([\w-]+)","salt":"([\w-]+)"\}\n/.exec(text)
  return match === null ? noHeader : { id: match[1]!, salt: match[2]! }
}

/** What became of memories. */
export interface MemoryFigures {
  /** Versions that were written, without those that brought an older one back. */
  readonly saved: number
  /** Wait for the user now. */
  readonly held: number
  readonly reverted: number
  /** Times that something was forgotten. */
  readonly forgotten: number
  /** Stand there now with a doubt. */
  readonly doubtful: number
}

/** The ledger must be fresh. */
export function figuresOf(ledger: Ledger): MemoryFigures {
  const records = ledger.records()
  const written = records.filter((record) => record.do === 'write')
  const reverted = written.filter(({ via }) => via === 'revert').length
  return {
    saved: written.length - reverted,
    held: ledger.held().length,
    reverted,
    forgotten: records.filter((record) => record.do === 'forget').length,
    doubtful: ledger.standing().filter(({ head }) => head.doubtful !== undefined).length,
  }
}
