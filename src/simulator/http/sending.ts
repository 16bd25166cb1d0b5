// Putting a response on the wire, whole or as a stream, and spoiling it where a fault says so. `delivered` is what the
// client could have read: complete, or cut somewhere.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Reply } from '../exchange.ts'
import { problem } from '../rules/problem.ts'
import type { Fault } from './faults.ts'
import type { WireBlock } from '../../model/wire.ts'
import type { EmittedBlock } from '../emission.ts'
import { stringOf } from '../rules/blocks.ts'

export interface Sending {
  readonly response: ServerResponse
  readonly reply: Reply
  readonly fault: Fault | null
  readonly delayMs: number
  readonly headers: Readonly<Record<string, string>>
}

export type Delivery = 'complete' | 'cut'

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

export function sendReply(sending: Sending, isStream: boolean): Promise<Delivery> {
  return isStream ? sendStream(sending) : sendWhole(sending)
}

/** Faults that count events strike a whole response at its first byte. */
async function sendWhole({ response, reply, fault, delayMs, headers }: Sending): Promise<Delivery> {
  const text = JSON.stringify(reply.response)
  await pause(response, fault?.kind === 'slow' ? fault.delayMs : delayMs)
  if (response.destroyed) return 'cut'
  if (fault?.kind === 'hang') return hang(response)
  if (fault?.kind === 'stream-error') {
    sendJson(response, 529, headers, streamError(fault))
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
  sendJson(response, 200, headers, reply.response)
  return 'complete'
}

async function sendStream({ response, reply, fault, delayMs, headers }: Sending): Promise<Delivery> {
  const eventDelayMs = fault?.kind === 'slow' ? fault.delayMs : delayMs
  const strikeAt = fault !== null && 'afterEvents' in fault ? (fault.afterEvents ?? Infinity) : Infinity
  let sent = 0
  response.writeHead(200, { ...headers, 'content-type': EVENT_STREAM, 'cache-control': 'no-cache' })
  reply.begin()
  for (const each of frames(reply)) {
    if (sent === strikeAt && fault !== null) {
      if (fault.kind === 'malformed') await write(response, MALFORMED_FRAME)
      else return strike(response, fault)
    }
    await pause(response, eventDelayMs)
    if (response.destroyed) return 'cut'
    await write(response, each)
    sent += 1
  }
  response.end()
  return 'complete'
}

const MALFORMED_FRAME =
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{\n\n'

async function strike(response: ServerResponse, fault: Fault): Promise<Delivery> {
  if (fault.kind === 'hang') return hang(response)
  if (fault.kind === 'stream-error') {
    await write(response, frame('error', streamError(fault)))
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

function streamError(fault: Extract<Fault, { kind: 'stream-error' }>): Readonly<Record<string, unknown>> {
  return { ...problem(fault.type ?? 'overloaded_error', fault.message ?? 'Overloaded') }
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

// A finished answer as server-sent events: text, reasoning and call inputs in several pieces, signatures at
// the end of their block, a ping after the start, cumulative usage in the last delta.

const LEAST_PIECE_CHARS = 12
/** A long text comes in larger pieces, not in ever more of them. */
const MOST_PIECES = 64
const LEAST_INPUT_PIECES = 2
/** What `message_start` reports before anything has been said. */
const FIRST_OUTPUT_TOKENS = 1

function frame(name: string, data: Readonly<Record<string, unknown>>): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
}

function* frames({ response, emission }: Reply): Generator<string> {
  const { context_management, input_transformations, usage, ...start } = response
  const message = {
    ...start,
    content: [],
    stop_reason: null,
    usage: { ...usage, output_tokens: FIRST_OUTPUT_TOKENS },
  }
  yield frame('message_start', { message })
  yield frame('ping', {})
  for (const [index, emitted] of emission.blocks.entries()) {
    yield frame('content_block_start', { index, content_block: opening(emitted.block) })
    for (const delta of deltas(emitted)) yield frame('content_block_delta', { index, delta })
    yield frame('content_block_stop', { index })
  }
  yield frame('message_delta', {
    delta: { stop_reason: response.stop_reason, stop_sequence: response.stop_sequence },
    usage,
    ...(context_management === undefined ? {} : { context_management }),
    ...(input_transformations === undefined ? {} : { input_transformations }),
  })
  yield frame('message_stop', {})
}

function opening(block: WireBlock): WireBlock {
  if (block.type === 'text') return { ...block, text: '' }
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function* deltas({ block, inputJson }: EmittedBlock): Generator<Readonly<Record<string, unknown>>> {
  if (block.type === 'text') {
    for (const text of pieces(stringOf(block['text']))) yield { type: 'text_delta', text }
  } else if (block.type === 'thinking') {
    for (const thinking of pieces(stringOf(block['thinking']))) yield { type: 'thinking_delta', thinking }
    yield { type: 'signature_delta', signature: block['signature'] }
  } else if (inputJson !== null) {
    yield { type: 'input_json_delta', partial_json: '' }
    for (const json of pieces(inputJson, LEAST_INPUT_PIECES))
      yield { type: 'input_json_delta', partial_json: json }
  }
}

function pieces(text: string, least = 1): readonly string[] {
  const few = Math.ceil(text.length / least)
  const size = Math.max(1, Math.min(few, Math.max(LEAST_PIECE_CHARS, Math.ceil(text.length / MOST_PIECES))))
  const cut: string[] = []
  for (let at = 0; at < text.length;) {
    const end = at + size
    // A pair of surrogates stays together, as it would in UTF-8.
    const next = isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end
    cut.push(text.slice(at, next))
    at = next
  }
  return cut
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
