// Putting a response on the wire, whole or as a stream, and spoiling it where a fault says so. `delivered` is what the
// client could have read: complete, or cut somewhere.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { LoggedRequest } from '../log.ts'
import type { Fault } from './faults.ts'

/** A finished answer in the form of its wire. */
export interface Sendable {
  whole(): unknown
  frames(): Iterable<string>
  /** The first byte goes out now. */
  begin(): void
  /** An error after the answer has begun, and the same before it has. */
  failed(fault: Extract<Fault, { kind: 'stream-error' }>): {
    readonly status: number
    readonly body: unknown
    readonly frame: string
  }
  /** A frame that is not JSON. */
  readonly malformed: string
  readonly contentType?: string
}

export interface Sending {
  readonly response: ServerResponse
  readonly reply: Sendable
  readonly fault: Fault | null
  readonly delayMs: number
  readonly headers: Readonly<Record<string, string>>
}

type Delivery = 'complete' | 'cut'

export function sendJson(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8'

/** Faults that strike before anybody answers, so that a script does not move on; false for all others. */
export async function strikeEarly(response: ServerResponse, fault: Fault | null): Promise<boolean> {
  if (fault?.kind === 'hang' && fault.afterEvents === undefined) {
    await hang(response)
    return true
  }
  if (fault?.kind !== 'reset') return false
  if (fault.when === 'after-headers') {
    response.writeHead(200, { 'content-type': EVENT_STREAM }).flushHeaders()
    await wait(HEADERS_LEAVE_MS)
  }
  response.socket?.resetAndDestroy()
  return true
}

/** A reset throws away what has not been sent yet, and the headers must have been. */
const HEADERS_LEAVE_MS = 20

/** Puts a reply on the wire; the log says when it began and, if it did, when it was complete. */
export async function deliver(
  sending: Sending,
  isStream: boolean,
  logged: LoggedRequest,
  now: () => number,
): Promise<void> {
  const { reply } = sending
  const begin = (): void => {
    logged.firstByteAt = now()
    logged.status = 200
    reply.begin()
  }
  const send = isStream ? sendStream : sendWhole
  if ((await send({ ...sending, reply: { ...reply, begin } })) === 'complete') logged.endedAt = now()
}

/** A fault of the test's own answerer must reach the client, or the test would hang without a word. */
export const answererFailed = (error: unknown): string =>
  `The answerer failed: ${error instanceof Error ? error.message : String(error)}`

export const retryAfter = (seconds: number | undefined): Readonly<Record<string, string>> =>
  seconds === undefined ? {} : { 'retry-after': String(seconds) }

/** Faults that count events strike a whole response at its first byte. */
async function sendWhole({ response, reply, fault, delayMs, headers }: Sending): Promise<Delivery> {
  const text = JSON.stringify(reply.whole())
  await pause(response, fault?.kind === 'slow' ? fault.delayMs : delayMs)
  if (response.destroyed) return 'cut'
  if (fault?.kind === 'hang') return hang(response)
  if (fault?.kind === 'stream-error') {
    const { status, body } = reply.failed(fault)
    sendJson(response, status, headers, body)
    return 'cut'
  }
  reply.begin()
  if (fault?.kind === 'malformed' || fault?.kind === 'cut') {
    const half = text.slice(0, Math.ceil(text.length / 2))
    const isClean = fault.kind === 'malformed' || fault.clean === true
    const length = { 'content-length': Buffer.byteLength(isClean ? half : text) }
    response.writeHead(200, { ...headers, 'content-type': 'application/json', ...length })
    if (isClean) response.end(half)
    else response.write(half, () => response.destroy())
    return 'cut'
  }
  sendJson(response, 200, headers, reply.whole())
  return 'complete'
}

async function sendStream({ response, reply, fault, delayMs, headers }: Sending): Promise<Delivery> {
  const eventDelayMs = fault?.kind === 'slow' ? fault.delayMs : delayMs
  const strikeAt = fault !== null && 'afterEvents' in fault ? (fault.afterEvents ?? Infinity) : Infinity
  let sent = 0
  response.writeHead(200, {
    ...headers,
    'content-type': reply.contentType ?? EVENT_STREAM,
    'cache-control': 'no-cache',
  })
  reply.begin()
  for (const each of reply.frames()) {
    if (sent === strikeAt && fault !== null) {
      if (fault.kind === 'malformed') await write(response, reply.malformed)
      else return strike(response, fault, reply)
    }
    await pause(response, eventDelayMs)
    if (response.destroyed) return 'cut'
    await write(response, each)
    sent += 1
  }
  response.end()
  return 'complete'
}

async function strike(response: ServerResponse, fault: Fault, reply: Sendable): Promise<Delivery> {
  if (fault.kind === 'hang') return hang(response)
  if (fault.kind === 'stream-error') {
    await write(response, reply.failed(fault).frame)
    response.end()
    return 'cut'
  }
  if (fault.kind === 'cut' && fault.clean === true) response.end()
  else {
    // What was written before the break must have left, or the fault would strike earlier than it says.
    await new Promise<void>((resolve) => response.write('', () => resolve()))
    await wait(HEADERS_LEAVE_MS)
    response.destroy()
  }
  return 'cut'
}

/** Until the client gives up or the server stops. */
async function hang(response: ServerResponse): Promise<Delivery> {
  if (!response.destroyed) await once(response, 'close')
  return 'cut'
}

async function pause(response: ServerResponse, ms: number): Promise<void> {
  if (ms > 0) await whileThere(response, (signal) => wait(ms, undefined, { signal }))
}

async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed || response.write(text)) return
  await whileThere(response, (signal) => once(response, 'drain', { signal }))
}

/** Waits no longer than the client stays. */
async function whileThere(
  response: ServerResponse,
  waiting: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const gone = new AbortController()
  const leave = (): void => gone.abort()
  response.once('close', leave)
  // The only rejection is our own abort: the client has left, and the caller looks at that next.
  await waiting(gone.signal).catch(() => undefined)
  response.off('close', leave)
}
