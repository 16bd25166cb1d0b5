// A file of JSON lines that several processes append to: a line is whole or not there, and what others have appended is read
// when it is asked for. A torn line, left by a crash, is skipped and never swallows the next.
import { objectIn } from '../transcript/json.ts'
import { dirname } from 'node:path'
import {
  attempt,
  makeFolders,
  readAt,
  writeAll,
  type FileSystem,
  type OpenFile,
  type Result,
} from '../disk/fs.ts'

type Fields = Readonly<Record<string, unknown>>

export const folderMode = 0o700
export const fileMode = 0o600
const newline = 0x0a

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
  append(records: readonly Fields[], durable: boolean): Promise<Result<object>> {
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
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return fs.open(path, 'append')
    throw error
  }
}
