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
  /** Everything was heard, or nothing more can be. */
  end(): Promise<void>
}

export function tapFor(encoding: string | undefined, text: (piece: string) => void): Tap | null {
  const utf8 = new TextDecoder()
  const heard = (bytes: Uint8Array): void => text(utf8.decode(bytes, { stream: true }))
  if (encoding === undefined || encoding === '' || encoding === 'identity')
    return { write: heard, end: async () => text(utf8.decode()) }
  const make = decoders[encoding.trim().toLowerCase()]
  if (make === undefined) return null
  const decoder = make()
  const over = new Promise<void>((resolve) => {
    decoder.on('data', (bytes: Uint8Array) => heard(bytes))
    decoder.once('end', resolve)
    // Cut in the middle: what came before the cut was heard.
    decoder.once('error', () => resolve())
  })
  return {
    write: (bytes) => void decoder.write(bytes),
    end: () => {
      decoder.end()
      return over
    },
  }
}

const whole: Readonly<Record<string, (bytes: Uint8Array) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}

/** A small answer as text; empty where it cannot be read. */
export function unpacked(encoding: string | undefined, bytes: Uint8Array): string {
  try {
    return (whole[encoding ?? '']?.(bytes) ?? Buffer.from(bytes)).toString()
  } catch {
    return ''
  }
}

/** Server-sent events in pieces of text, each handed on as the value of its data. */
export class EventText {
  readonly #heard: (event: unknown) => void
  #rest = ''

  constructor(heard: (event: unknown) => void) {
    this.#heard = heard
  }

  push(piece: string): void {
    this.#rest += piece
    for (;;) {
      const end = /\r?\n\r?\n/u.exec(this.#rest)
      if (end === null) return
      this.#event(this.#rest.slice(0, end.index))
      this.#rest = this.#rest.slice(end.index + end[0].length)
    }
  }

  /** What came without the blank line that ends it. */
  end(): void {
    if (this.#rest.trim() !== '') this.#event(this.#rest)
    this.#rest = ''
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
