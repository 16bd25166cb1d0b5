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
  attempt,
  readAt,
  syncFolder,
  systemCode,
  writeAll,
  type Result,
  type FileSystem,
} from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
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
  #header = noHeader
  #offset = 0
  #rest: Buffer = Buffer.alloc(0)
  #next = 1
  #records: LedgerRecord[] = []
  #byFile = new Map<string, (Written | Removed)[]>()
  #held = new Map<number, Held>()
  #forgotten = {
    sessions: new Map<string, number>(),
    sources: new Set<string>(),
    prints: new Map<string, number>(),
  }
  #damaged = 0

  constructor(fs: FileSystem, state: string) {
    this.#fs = fs
    this.#path = ledgerFile(state)
  }

  /** Reads what others appended meanwhile; everything again when the ledger was written anew. */
  async refresh(): Promise<Result<object>> {
    return await attempt(`reading the ledger ${this.#path}`, async () => {
      const file = await this.#open()
      if (file === null) {
        this.#clear(noHeader)
        return {}
      }
      try {
        const { bytes, kind, links } = await file.stat()
        if (kind !== 'file' || links > 1)
          throw Object.assign(new Error('it is no plain file of its own'), { code: 'EISDIR' })
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
          this.#take(block)
        }
        return {}
      } finally {
        await file.close()
      }
    })
  }

  /** Appends one record, synced. The caller holds the lock of the folder and has refreshed. */
  async append(record: NewRecord, unique: () => string): Promise<Result<{ record: LedgerRecord }>> {
    const numbered: LedgerRecord = { n: this.#next, ...record }
    const written = await attempt(`writing the ledger ${this.#path}`, async () => {
      const isNew = this.#offset === 0
      const file = await this.#fs.open(this.#path, isNew ? 'create' : 'append', defaults.memory.fileMode)
      try {
        // A torn line of somebody who died is ended, so that it costs itself alone.
        const start = isNew ? headerLine(unique(), unique()) : this.#rest.length > 0 ? '\n' : ''
        await writeAll(file, Buffer.from(start + lineOf(numbered)))
        await file.datasync()
        if (isNew) await syncFolder(this.#fs, dirname(this.#path))
      } finally {
        await file.close()
      }
      return {}
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

  /** Makes fingerprints that only this ledger can compare. */
  get salt(): string {
    return this.#header.salt
  }

  records(): readonly LedgerRecord[] {
    return this.#records
  }
  /** Lines that could not be read. */
  get damaged(): number {
    return this.#damaged + (this.#rest.length > 0 ? 1 : 0)
  }
  /** Versions of a file, oldest first. */
  versionsOf(file: string): readonly (Written | Removed)[] {
    return this.#byFile.get(file) ?? []
  }
  /** The newest record of a file that still stands; a removed one has none. */
  current(file: string): Written | null {
    const last = this.versionsOf(file).at(-1)
    return last?.do === 'write' ? last : null
  }
  /** Every file that stands, with its newest record. */
  standing(): readonly Written[] {
    return [...this.#byFile.values()].flatMap((versions) => {
      const last = versions.at(-1)
      return last?.do === 'write' ? [last] : []
    })
  }
  /** What is known of a file with these bytes: the newest record that wrote exactly them. */
  known(file: string, sha: string): Written | null {
    const found = this.versionsOf(file).findLast((one) => one.do === 'write' && one.sha === sha)
    return found?.do === 'write' ? found : null
  }
  held(): readonly Held[] {
    return [...this.#held.values()]
  }
  get forgotten(): {
    /** Each with when it was forgotten last. */
    readonly sessions: ReadonlyMap<string, number>
    readonly sources: ReadonlySet<string>
    readonly prints: ReadonlyMap<string, number>
  } {
    return this.#forgotten
  }

  async #open() {
    try {
      return await this.#fs.open(this.#path, 'read')
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null
      throw error
    }
  }

  #clear(header: Header): void {
    this.#header = header
    this.#offset = 0
    this.#rest = Buffer.alloc(0)
    this.#next = 1
    this.#records = []
    this.#byFile = new Map()
    this.#held = new Map()
    this.#forgotten = { sessions: new Map(), sources: new Set(), prints: new Map() }
    this.#damaged = 0
  }

  #take(block: Buffer): void {
    let bytes = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block])
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a)) {
      const line = bytes.subarray(0, end).toString('utf8')
      bytes = bytes.subarray(end + 1)
      if (line === '' || line.startsWith(headerStart)) continue
      const record = recordIn(line)
      if (record === null) this.#damaged++
      else this.#note(record)
    }
    this.#rest = Buffer.from(bytes)
  }

  #note(record: LedgerRecord): void {
    this.#records.push(record)
    this.#next = Math.max(this.#next, record.n + 1)
    if (record.do === 'write' || record.do === 'remove') {
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
const noHeader: Header = { id: '', salt: '' }
const headerStart = '{"v":1,"do":"ledger",'
/** Longer than any header. */
const headerBytes = 256
const headerLine = (id: string, salt: string): string => `${headerStart}"id":"${id}","salt":"${salt}"}\n`

function headerIn(text: string): Header {
  const match = /^\{"v":1,"do":"ledger","id":"([\w-]+)","salt":"([\w-]+)"\}\n/.exec(text)
  return match === null ? noHeader : { id: match[1]!, salt: match[2]! }
}
