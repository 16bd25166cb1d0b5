// Lines that are remembered for a time: each goes into the file of its days, and a file goes as a whole once nobody can need
// it any more. Nothing is ever rewritten, so a crash leaves nothing half done and other gateways on the same folder go on.
// Whoever still uses what an older file says writes it again into the newest.
import { join } from 'node:path'
import { attempt, makeFolders, type FileSystem, type Result } from '../disk/fs.ts'
import { isRecord } from '../transcript/content.ts'
import type { Clock } from '../transcript/ids.ts'
import { folderMode, LineFile } from './line-file.ts'

const dayMs = 24 * 60 * 60_000
const segmentDays = 10

const numberAt = (now: number): number => Math.floor(now / (segmentDays * dayMs))

/** A line and the number of the file that holds it. */
export interface SegmentLine {
  readonly segment: number
  readonly fields: Readonly<Record<string, unknown>>
}

export class Segments {
  readonly #fs: FileSystem
  readonly #folder: string
  readonly #name: string
  readonly #clock: Clock
  readonly #files: Map<number, LineFile>
  /** Those of earlier days were read once; nobody appends to them any more. */
  #isFirst = true
  #opening: Promise<unknown> = Promise.resolve()

  private constructor(fs: FileSystem, folder: string, name: string, clock: Clock) {
    this.#fs = fs
    this.#folder = folder
    this.#name = name
    this.#clock = clock
    this.#files = new Map()
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
      for (const fields of await file.added()) if (isRecord(fields)) lines.push({ segment, fields })
    }
    this.#isFirst = false
    return lines
  }

  async append(records: readonly object[], durable: boolean): Promise<Result<object>> {
    const opened = await attempt('writing the state of the gateway', async () => ({
      file: await this.#opened(this.newest),
    }))
    return opened.ok
      ? opened.file.append(
          records.map((record) => ({ ...record })),
          durable,
        )
      : opened
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
export async function unusedSegments(
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
