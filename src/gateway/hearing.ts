// Hears an answer on its way to the client and gives it as a message: streamed or whole, encoded or not. Bytes go to the client
// as they come, and a copy is decoded and read here. An answer that cannot be read gives null, and the session says that it
// was not recorded; the client never notices.
import { jsonIn } from '../transcript/json.ts'
import type { IncomingMessage } from 'node:http'
import type { ServerRefusal } from '../model/failure.ts'
import type { WireName } from '../model/model.ts'
import type { Answered } from './recorder.ts'
import { wires } from '../wires/routing.ts'
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
} from 'node:zlib'
import type { Transform } from 'node:stream'

export interface HeardAnswer {
  write(bytes: Uint8Array): void
  /** What came, once nothing more can; null where it was no answer or could not be read. */
  end(): Promise<Answered | null>
  /** Something was said already. */
  hasContent(): boolean
  /** An error inside the stream, or null. */
  refusal(): ServerRefusal | null
  /** What tells a client of this wire that the stream still lives. */
  readonly ping: string
}

const pings: Readonly<Record<WireName, string>> = {
  anthropic: 'event: ping\ndata: {"type":"ping"}\n\n',
  'openai-chat': ': ping\n\n',
  'openai-responses': ': ping\n\n',
  gemini: ': ping\n\n',
}

export const isEventStream = (headers: IncomingMessage['headers']): boolean =>
  (headers['content-type'] ?? '').includes('text/event-stream')

/** `asked` is the model of the request; of an answer that takes more than `most` bytes nothing is made. */
export function hearAnswer(
  name: WireName,
  { statusCode, headers }: IncomingMessage,
  asked: string,
  most: number,
): HeardAnswer | null {
  const wire = wires[name]
  if (statusCode !== 200) return null
  const reader = wire.createReader(asked)
  const isStream = isEventStream(headers)
  const events = new EventText((event) => void reader.feed(event))
  const whole: string[] = []
  const tap = tapFor(headers['content-encoding'], most, (piece) =>
    isStream ? events.push(piece) : whole.push(piece),
  )
  if (tap === null) return null
  return {
    ping: pings[name],
    hasContent: () => reader.hasContent,
    refusal: () => reader.refusal ?? null,
    write: (bytes) => tap.write(bytes),
    async end() {
      if (!(await tap.end())) return null
      if (isStream) events.end()
      const message = isStream ? reader.message() : wire.parse(jsonIn(whole.join('')), asked)
      return message === null ? null : { ...message, isPartial: isStream && !reader.complete }
    },
  }
}

// Some upstreams begin a stream before they know whether the prompt fits, and refuse it there. The beginning of such a stream,
// before anything was said, is held back for a moment: a refusal in it can still be answered, and the client never sees it.

/** Where a refusal for length may come inside a stream. */
const mayRefuseLate: ReadonlySet<WireName> = new Set(['openai-responses', 'openai-chat'])

export const isDelayed = (wire: WireName, { statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 200 && mayRefuseLate.has(wire) && isEventStream(headers)

/** A stream that ended without a word; null where it says something, or takes its time: all of it is still to be read. */
export interface EndedEarly {
  readonly bytes: Buffer
  readonly refusal: ServerRefusal | null
}

/** Rejects where the stream is cut before a word: nothing of it has reached the client. */
export async function endedEarly(
  answer: IncomingMessage,
  heard: HeardAnswer,
  mostMs: number,
): Promise<EndedEarly | null> {
  const spoke = (piece: Buffer): boolean => {
    heard.write(piece)
    return heard.hasContent()
  }
  const bytes = await wholeUnless(answer, spoke, mostMs)
  if (bytes === null) return null
  await heard.end()
  return { bytes, refusal: heard.refusal() }
}

/** All of an answer; null where it is more than that many bytes. */
export function wholeOf(answer: IncomingMessage, most: number): Promise<Buffer | null> {
  let length = 0
  return wholeUnless(answer, (piece) => (length += piece.length) > most, null)
}

/** All of an answer; null where a piece is enough to let go of it, or the time is over: whoever reads it then gets all of it. */
function wholeUnless(
  answer: IncomingMessage,
  isEnough: (piece: Buffer) => boolean,
  mostMs: number | null,
): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  return new Promise((resolve, reject) => {
    const finish = (whole: Buffer | null): void => {
      clearTimeout(timer)
      answer.off('data', onData).off('end', onEnd).off('error', reject)
      resolve(whole)
    }
    const onData = (piece: Buffer): void => {
      pieces.push(piece)
      if (isEnough(piece)) letGo()
    }
    const onEnd = (): void => finish(Buffer.concat(pieces))
    const letGo = (): void => {
      answer.pause()
      if (pieces.length > 0) answer.unshift(Buffer.concat(pieces))
      finish(null)
    }
    const timer = mostMs === null ? undefined : setTimeout(letGo, mostMs)
    answer.on('data', onData).once('end', onEnd).once('error', reject)
  })
}

interface Coding {
  readonly decoder: () => Transform
  readonly decode: (bytes: Uint8Array, limit: { maxOutputLength: number }) => Buffer
}
const gzip: Coding = { decoder: createGunzip, decode: gunzipSync }
const codings: Readonly<Record<string, Coding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: { decoder: createInflate, decode: inflateSync },
  br: { decoder: createBrotliDecompress, decode: brotliDecompressSync },
}

/** Of the codings that a client takes those that can be heard here, in its own words. */
export function heardCodings(accepted: string): string {
  const heard = accepted.split(',').filter((each) => {
    const name = each.split(';')[0]!.trim().toLowerCase()
    return name === 'identity' || Object.hasOwn(codings, name)
  })
  return heard.length === 0 ? 'identity' : heard.join(',').trim()
}

/** A copy of an answer's bytes; `text` is told its pieces once they are decoded. Null where the encoding is not known here. */
interface Tap {
  write(bytes: Uint8Array): void
  /** Everything was heard, or nothing more can be; false where it was more than is listened to. */
  end(): Promise<boolean>
}

/** `most`: so many decoded bytes are listened to; a few can unpack to very many. */
function tapFor(encoding: string | undefined, most: number, text: (piece: string) => void): Tap | null {
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
  const coding = codings[encoding.trim().toLowerCase()]
  if (coding === undefined) return null
  const decoder = coding.decoder()
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

/** A small answer as text; empty where it cannot be read, or unpacks to more than that many bytes. */
export function unpacked(encoding: string | undefined, bytes: Uint8Array, most: number): string {
  try {
    return (
      codings[encoding ?? '']?.decode(bytes, { maxOutputLength: most }) ?? Buffer.from(bytes)
    ).toString()
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
