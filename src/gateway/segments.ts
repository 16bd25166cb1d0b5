// What a gateway keeps on the disk, and when it goes. Lines that are remembered for a time go into the file of their days, and
// a file goes as a whole once nobody can need it any more. Nothing is ever rewritten, so a crash leaves nothing half done and
// other gateways on the same folder go on. Whoever still uses what an older file says writes it again into the newest.
import { join, dirname } from 'node:path'
import {
  attempt,
  makeFolders,
  type FileSystem,
  type Result,
  readAt,
  systemCode,
  writeAll,
  type OpenFile,
} from '../disk/fs.ts'
import type { Clock } from '../transcript/ids.ts'
import { objectIn, type Fields } from '../transcript/json.ts'

export const folderMode = 0o700
export const fileMode = 0o600
const newline = 0x0a

/**
 * A file of JSON lines that several processes append to: a line is whole or not there, and what others have appended is read
 * when it is asked for. A torn line, left by a crash, is skipped and never swallows the next.
 */
export class LineFile {
  readonly #file: OpenFile
  #read = 0
  #queue: Promise<unknown> = Promise.resolve()
  #reading: Promise<unknown> = Promise.resolve()

  private constructor(file: OpenFile) {
    this.#file = file
  }

  static open(fs: FileSystem, path: string): Promise<Result<{ file: LineFile }>> {
    return attempt(`opening ${path}`, async () => {
      await makeFolders(fs, dirname(path), folderMode)
      return { file: new LineFile(await openOrMake(fs, path)) }
    })
  }

  /** What was appended since it was last asked, here or by another process. */
  added(): Promise<readonly Fields[]> {
    // One after the other: two that read the same part would both go on behind it, and skip what follows.
    const found = this.#reading.then(() => this.#added())
    this.#reading = found.catch(() => undefined)
    return found
  }

  async #added(): Promise<readonly Fields[]> {
    const { bytes } = await this.#file.stat()
    if (bytes <= this.#read) return []
    const added = await readAt(this.#file, this.#read, bytes - this.#read)
    const end = added.lastIndexOf(newline) + 1
    this.#read += end
    return added
      .subarray(0, end)
      .toString()
      .split('\n')
      .map(objectIn)
      .filter((fields) => fields !== null)
  }

  /** Appends records; `durable` waits until they are on the disk. */
  append(records: readonly object[], durable: boolean): Promise<Result<object>> {
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    const done = this.#queue.then(() =>
      attempt('writing the state of the gateway', async () => {
        if (lines === '') return {}
        const { bytes } = await this.#file.stat()
        const last = bytes === 0 ? newline : (await readAt(this.#file, bytes - 1, 1))[0]
        await writeAll(this.#file, Buffer.from(last === newline ? lines : `\n${lines}`))
        if (durable) await this.#file.datasync()
        return {}
      }),
    )
    this.#queue = done
    return done
  }

  close(): Promise<void> {
    return this.#reading.then(() => this.#queue).then(() => this.#file.close())
  }
}

async function openOrMake(fs: FileSystem, path: string): Promise<OpenFile> {
  try {
    return await fs.open(path, 'create', fileMode)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return fs.open(path, 'append')
    throw error
  }
}

const dayMs = 24 * 60 * 60_000
const segmentDays = 10

const numberAt = (now: number): number => Math.floor(now / (segmentDays * dayMs))

/** A line and the number of the file that holds it. */
interface SegmentLine {
  readonly segment: number
  readonly fields: Fields
}

export class Segments {
  readonly #fs: FileSystem
  readonly #folder: string
  readonly #name: string
  readonly #clock: Clock
  readonly #files = new Map<number, LineFile>()
  /** Those of earlier days were read once; nobody appends to them any more. */
  #isFirst = true
  #opening: Promise<unknown> = Promise.resolve()

  private constructor(fs: FileSystem, folder: string, name: string, clock: Clock) {
    this.#fs = fs
    this.#folder = folder
    this.#name = name
    this.#clock = clock
  }

  static open(
    fs: FileSystem,
    folder: string,
    name: string,
    clock: Clock,
  ): Promise<Result<{ file: Segments }>> {
    return attempt(`opening ${join(folder, name)}`, async () => {
      await makeFolders(fs, folder, folderMode)
      const file = new Segments(fs, folder, name, clock)
      for (const number of await segmentsIn(fs, folder, name)) await file.#opened(number)
      await file.#opened(file.newest)
      return { file }
    })
  }

  /** The number of the file that is written to now. */
  get newest(): number {
    return numberAt(this.#clock.now())
  }

  /** What was appended since it was last asked, here or by another process. */
  async added(): Promise<readonly SegmentLine[]> {
    const { newest } = this
    // On a full disk there is none; what is known goes on.
    await this.#opened(newest).catch(() => undefined)
    const lines: SegmentLine[] = []
    for (const [segment, file] of this.#files) {
      if (!this.#isFirst && segment < newest - 1) continue
      for (const fields of await file.added()) lines.push({ segment, fields })
    }
    this.#isFirst = false
    return lines
  }

  async append(records: readonly object[], durable: boolean): Promise<Result<object>> {
    const opened = await attempt('writing the state of the gateway', async () => ({
      file: await this.#opened(this.newest),
    }))
    return opened.ok ? opened.file.append(records, durable) : opened
  }

  /** One after the other: a file is opened once. Rejects with what the system said. */
  #opened(number: number): Promise<LineFile> {
    const opening = this.#opening.then(async () => {
      const known = this.#files.get(number)
      if (known !== undefined) return known
      const opened = await LineFile.open(this.#fs, join(this.#folder, `${this.#name}-${number}.jsonl`))
      if (!opened.ok) throw new Error(opened.failure.message)
      this.#files.set(number, opened.file)
      return opened.file
    })
    this.#opening = opening.catch(() => undefined)
    return opening
  }

  async close(): Promise<void> {
    await this.#opening
    for (const file of this.#files.values()) await file.close()
  }
}

const pattern = /^([a-z]+)-(\d+)\.jsonl$/u

async function segmentsIn(fs: FileSystem, folder: string, name: string): Promise<readonly number[]> {
  const numbers = (await fs.names(folder)).flatMap((file) => {
    const [, of, number] = pattern.exec(file) ?? []
    return of === name ? [Number(number)] : []
  })
  return numbers.toSorted((a, b) => a - b)
}

/** The oldest number of which a line may have been used within so many days. */
export const oldestKept = (days: number, now: number): number => numberAt(now - days * dayMs)

/** The files of a folder of which no line was used within so many days. */
async function unusedSegments(
  fs: FileSystem,
  folder: string,
  days: number,
  now: number,
): Promise<readonly string[]> {
  const oldest = oldestKept(days, now)
  return (await fs.names(folder))
    .filter((file) => Number(pattern.exec(file)?.[2] ?? Infinity) < oldest)
    .map((file) => join(folder, file))
}

// Pruning removes kept texts and decisions that nobody needs: of conversations that have not gone on for long, and the oldest
// texts where all take too much. A text is marked as used whenever a request goes out in which it was cut, so what a living
// conversation names stays.

export interface KeptLimits {
  /** Days after its last use. */
  readonly keptDays: number
  /** All texts of one credential together. */
  readonly keptBytes: number
}

interface KeptFile {
  readonly path: string
  readonly bytes: number
  readonly usedAt: number
}

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
): Promise<Result<object>> {
  return attempt(`pruning ${folder}`, async () => {
    for (const { name, kind } of await fs.entries(folder)) {
      if (kind !== 'folder') continue
      for (const { path } of toPrune(await keptIn(fs, join(folder, name, 'kept')), limits, now))
        await fs.unlink(path)
      for (const path of await unusedSegments(fs, join(folder, name), limits.keptDays, now))
        await fs.unlink(path)
    }
    return {}
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
