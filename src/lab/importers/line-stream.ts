// A file of lines read by its offsets, piece by piece: what is in memory is one piece and one line, whatever the file
// weighs. Kinds of lines in which nobody speaks are passed over by their beginning, and never gathered.
import { open } from 'node:fs/promises'
import { defaults } from '../../settings/defaults.ts'
import { isUnspoken, readLine, type Fields, type ReadLine } from './lines.ts'

const NEWLINE = 0x0a
/** Enough of a line to know its kind by. */
const kindBytes = 256

export interface StreamOptions {
  readonly isWhole: (value: Fields) => boolean
  /** Where to begin, at the beginning of a line. */
  readonly from?: number | undefined
  readonly mostLineBytes?: number | undefined
}

/** Every line with an object in it, or why there is none; rejects where the file cannot be read. */
export async function* streamLines(path: string, options: StreamOptions): AsyncGenerator<ReadLine> {
  const most = options.mostLineBytes ?? defaults.lab.mostLineBytes
  const file = await open(path, 'r')
  try {
    const piece = Buffer.allocUnsafe(defaults.lab.pieceBytes)
    const open = new OpenLine(most)
    let line = 0
    for (let at = options.from ?? 0; ;) {
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0) break
      at += bytesRead
      for (let start = 0; start < bytesRead;) {
        const found = piece.subarray(0, bytesRead).indexOf(NEWLINE, start)
        const end = found < 0 ? bytesRead : found
        open.add(piece.subarray(start, end))
        start = end + 1
        if (found < 0) break
        line++
        yield open.read(line, options.isWhole)
      }
    }
    if (!open.isEmpty) yield open.read(line + 1, options.isWhole)
  } finally {
    await file.close()
  }
}

/** A line that is still being read. */
class OpenLine {
  readonly #most: number
  #pieces: Buffer[] = []
  #bytes = 0
  #isPassedOver = false

  constructor(most: number) {
    this.#most = most
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /** The piece is used again: what is kept of it is a copy. */
  add(piece: Uint8Array): void {
    const before = this.#bytes
    this.#bytes += piece.length
    if (this.#isPassedOver || piece.length === 0) return
    if (before < kindBytes) this.#isPassedOver = isUnspoken(this.#beginning(piece))
    if (this.#isPassedOver || this.#bytes > this.#most) this.#pieces = []
    else this.#pieces.push(Buffer.from(piece))
  }

  read(line: number, isWhole: (value: Fields) => boolean): ReadLine {
    const [pieces, bytes, isPassedOver] = [this.#pieces, this.#bytes, this.#isPassedOver]
    this.#pieces = []
    this.#bytes = 0
    this.#isPassedOver = false
    if (isPassedOver) return { record: null, skipped: null }
    if (bytes > this.#most)
      return { record: null, skipped: { line, why: `longer than ${this.#most} bytes (${bytes})` } }
    return readLine(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), line, isWhole)
  }

  #beginning(piece: Uint8Array): Uint8Array {
    return this.#pieces.length === 0 ? piece : Buffer.concat([...this.#pieces, piece.subarray(0, kindBytes)])
  }
}
