// Hears an answer while it passes: bytes go to the client as they come, and a copy is decoded and read here. Whatever cannot
// be read is left unread; the client never notices.
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
} from 'node:zlib'
import type { Transform } from 'node:stream'

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** A copy of an answer's bytes; `text` is told its pieces once they are decoded. Null where the encoding is not known here. */
export interface Tap {
  write(bytes: Uint8Array): void
  /** Everything was heard, or nothing more can be; false where it was more than is listened to. */
  end(): Promise<boolean>
}

/** `most`: so many decoded bytes are listened to; a few can unpack to very many. */
export function tapFor(
  encoding: string | undefined,
  most: number,
  text: (piece: string) => void,
): Tap | null {
  const utf8 = new TextDecoder()
  let bytesHeard = 0
  const isWithin = (): boolean => bytesHeard <= most
  const heard = (bytes: Uint8Array): void => {
    bytesHeard += bytes.length
    if (isWithin()) text(utf8.decode(bytes, { stream: true }))
  }
  const last = (): boolean => {
    if (isWithin()) text(utf8.decode())
    return isWithin()
  }
  if (encoding === undefined || encoding === '' || encoding === 'identity')
    return { write: heard, end: async () => last() }
  const make = decoders[encoding.trim().toLowerCase()]
  if (make === undefined) return null
  const decoder = make()
  const over = new Promise<void>((resolve) => {
    decoder.on('data', (bytes: Uint8Array) => {
      heard(bytes)
      if (!isWithin()) decoder.destroy()
    })
    decoder.once('end', resolve).once('close', resolve)
    // Cut in the middle: what came before the cut was heard.
    decoder.once('error', () => resolve())
  })
  return {
    write: (bytes) => {
      if (!decoder.destroyed) decoder.write(bytes)
    },
    end: async () => {
      decoder.end()
      await over
      return last()
    },
  }
}

const whole: Readonly<Record<string, (bytes: Uint8Array, limit: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}

/** A small answer as text; empty where it cannot be read, or unpacks to more than that many bytes. */
export function unpacked(encoding: string | undefined, bytes: Uint8Array, most: number): string {
  try {
    return (whole[encoding ?? '']?.(bytes, { maxOutputLength: most }) ?? Buffer.from(bytes)).toString()
  } catch {
    return ''
  }
}

const blankLine = /\r?\n\r?\n/u
/** All but the last character of the longest one. */
const blankChars = 3

/** Server-sent events in pieces of text, each handed on as the value of its data. */
export class EventText {
  readonly #heard: (event: unknown) => void
  /** What came of the event that is under way: put together once it is whole, since one may be a picture of many megabytes. */
  #pieces: string[] = []
  /** The last of it, where the blank line may have begun. */
  #last = ''

  constructor(heard: (event: unknown) => void) {
    this.#heard = heard
  }

  push(piece: string): void {
    const seam = this.#last + piece
    this.#pieces.push(piece)
    let rest = blankLine.test(seam) ? this.#pieces.join('') : null
    if (rest !== null) {
      for (let end = blankLine.exec(rest); end !== null; end = blankLine.exec(rest)) {
        this.#event(rest.slice(0, end.index))
        rest = rest.slice(end.index + end[0].length)
      }
      this.#pieces = [rest]
    }
    this.#last = (rest ?? seam).slice(-blankChars)
  }

  /** What came without the blank line that ends it. */
  end(): void {
    const rest = this.#pieces.join('')
    if (rest.trim() !== '') this.#event(rest)
    this.#pieces = []
    this.#last = ''
  }

  #event(text: string): void {
    const data = text
      .split(/\r?\n/u)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length).replace(/^ /u, ''))
      .join('\n')
    if (data === '' || data === '[DONE]') return
    try {
      this.#heard(JSON.parse(data))
    } catch {
      // An event that is no JSON says nothing we could keep.
    }
  }
}
