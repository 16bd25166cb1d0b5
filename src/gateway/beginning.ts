// Some upstreams begin a stream before they know whether the prompt fits, and refuse it there. The beginning of such a stream,
// before anything was said, is held back for a moment: a refusal in it can still be answered, and the client never sees it.
import type { IncomingMessage } from 'node:http'
import type { ServerRefusal } from '../model/failure.ts'
import type { WireName } from '../model/model.ts'
import type { HeardAnswer } from './hearing.ts'

export type Beginning =
  /** It says something, or takes its time: all of it is still to be read. */
  | { readonly isOver: false }
  /** It ended without a word. */
  | { readonly isOver: true; readonly bytes: Buffer; readonly refusal: ServerRefusal | null }

/** Where a refusal for length may come inside a stream. */
const mayRefuseLate: ReadonlySet<WireName> = new Set(['openai-responses', 'openai-chat'])

export const isDelayed = (wire: WireName, { statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 200 &&
  mayRefuseLate.has(wire) &&
  (headers['content-type'] ?? '').includes('text/event-stream')

/** Rejects where the stream is cut before a word: nothing of it has reached the client. */
export async function beginningOf(
  answer: IncomingMessage,
  heard: HeardAnswer,
  mostMs: number,
): Promise<Beginning> {
  const pieces: Buffer[] = []
  const isOver = await new Promise<boolean>((resolve, reject) => {
    const finish = (over: boolean): void => {
      clearTimeout(timer)
      answer.off('data', onData).off('end', onEnd).off('error', reject)
      resolve(over)
    }
    const onData = (bytes: Buffer): void => {
      pieces.push(bytes)
      heard.write(bytes)
      if (heard.hasContent()) goOn()
    }
    const onEnd = (): void => finish(true)
    const goOn = (): void => {
      answer.pause()
      // Whoever reads it from here on gets all of it.
      if (pieces.length > 0) answer.unshift(Buffer.concat(pieces))
      finish(false)
    }
    const timer = setTimeout(goOn, mostMs)
    answer.on('data', onData).once('end', onEnd).once('error', reject)
  })
  if (!isOver) return { isOver }
  await heard.end()
  return { isOver, bytes: Buffer.concat(pieces), refusal: heard.refusal() }
}

/** All of an answer; null where it is more than that many bytes: whoever reads it from here on gets all of it. */
export function wholeOf(answer: IncomingMessage, most: number): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    const finish = (whole: Buffer | null): void => {
      answer.off('data', onData).off('end', onEnd).off('error', reject)
      resolve(whole)
    }
    const onEnd = (): void => finish(Buffer.concat(pieces))
    const onData = (bytes: Buffer): void => {
      pieces.push(bytes)
      length += bytes.length
      if (length <= most) return
      answer.pause()
      answer.unshift(Buffer.concat(pieces))
      finish(null)
    }
    answer.on('data', onData).once('end', onEnd).once('error', reject)
  })
}
