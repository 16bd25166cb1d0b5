// Bytes to lines, forwards and backwards, block by block. A line ends at byte 0x0A. A line that is longer than the
// cap is passed over in bounded memory: its place and length are given, its bytes are not.
import { blocksOf } from '../../../disk/replace.ts'
import { readAt, type OpenFile } from '../../../disk/fs.ts'
import { lineFeed } from './frame.ts'

export interface RawLine {
  /** Without its end; null when it is longer than the cap. */
  readonly bytes: Buffer | null
  readonly at: number
  /** Without its end. */
  readonly length: number
  /** False only for the last line of a file that does not end in a line feed. */
  readonly ended: boolean
}

export interface LineOptions {
  readonly blockBytes: number
  readonly capBytes: number
}

/** The lines from one place to another, as many at a time as a block completes. `from` is the beginning of a line. */
export async function* linesForward(
  file: OpenFile,
  from: number,
  to: number,
  options: LineOptions,
): AsyncIterable<readonly RawLine[]> {
  let lineAt = from
  let at = from
  let carried: Buffer[] = []
  let carriedBytes = 0
  const finish = (last: Buffer, ended: boolean): RawLine => {
    const length = carriedBytes + last.byteLength
    const bytes =
      length > options.capBytes ? null : carried.length === 0 ? last : Buffer.concat([...carried, last])
    const line = { bytes, at: lineAt, length, ended }
    lineAt += length + 1
    carried = []
    carriedBytes = 0
    return line
  }
  for await (const block of blocksOf(file, options.blockBytes, from, to)) {
    const lines: RawLine[] = []
    let start = 0
    for (let end = block.indexOf(lineFeed); end !== -1; end = block.indexOf(lineFeed, start)) {
      lines.push(finish(block.subarray(start, end), true))
      start = end + 1
    }
    carriedBytes += block.byteLength - start
    if (carriedBytes > options.capBytes) carried = []
    else if (start < block.byteLength) carried.push(block.subarray(start))
    at += block.byteLength
    if (lines.length > 0) yield lines
  }
  if (at > lineAt) yield [finish(Buffer.alloc(0), false)]
}

/** The lines before a place, newest first. `before` is the beginning of a line or the end of the file. */
export async function* linesBack(
  file: OpenFile,
  before: number,
  options: LineOptions,
): AsyncIterable<readonly RawLine[]> {
  let carried: Buffer[] = []
  let carriedBytes = 0
  let ended = false
  const finish = (first: Buffer, at: number): RawLine => {
    const length = first.byteLength + carriedBytes
    const bytes =
      length > options.capBytes ? null : carried.length === 0 ? first : Buffer.concat([first, ...carried])
    carried = []
    carriedBytes = 0
    return { bytes, at, length, ended }
  }
  let top = before
  while (top > 0) {
    const base = Math.max(0, top - options.blockBytes)
    const block = await readAt(file, base, top - base)
    if (block.byteLength < top - base)
      throw Object.assign(new Error('the file became shorter while it was read'), { code: 'EIO' })
    const lines: RawLine[] = []
    let end = block.byteLength
    for (let feed = block.lastIndexOf(lineFeed); feed !== -1; feed = lastFeedBefore(block, feed)) {
      const isFileEnd = base + feed + 1 === before
      if (!isFileEnd) lines.push(finish(block.subarray(feed + 1, end), base + feed + 1))
      ended = true
      end = feed
    }
    carriedBytes += end
    if (carriedBytes > options.capBytes) carried = []
    else if (end > 0) carried.unshift(block.subarray(0, end))
    top = base
    if (lines.length > 0) yield lines
  }
  if (carriedBytes > 0 || ended) yield [finish(Buffer.alloc(0), 0)]
}

const lastFeedBefore = (block: Buffer, at: number): number =>
  at === 0 ? -1 : block.lastIndexOf(lineFeed, at - 1)
