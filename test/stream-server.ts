// A server that streams what a test tells it to, over real HTTP, and the events of a Messages API stream.
import * as http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach } from 'vitest'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

export type Handler = (response: http.ServerResponse, asked: Asked, turn: number) => void | Promise<void>
export interface Asked {
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
  readonly socket: Socket
}

export async function serve(handler: Handler): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = {
        url: request.url ?? '',
        headers: request.headers,
        bytes: Buffer.concat(chunks),
        socket: request.socket,
      }
      asked.push(one)
      void handler(response, one, asked.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

export type Event = Record<string, unknown> & { type: string }
export const sse = (events: readonly Event[], newline = '\n'): string =>
  events
    .map((event) => `event: ${event.type}${newline}data: ${JSON.stringify(event)}${newline}${newline}`)
    .join('')
export const open = (response: http.ServerResponse): http.ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_1' })
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const usage = {
  input_tokens: 21,
  cache_creation_input_tokens: 188,
  cache_read_input_tokens: 20_480,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 88 },
  output_tokens: 1,
}
export const start: Event = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5',
    content: [],
    stop_reason: null,
    usage,
    diagnostics: { cache_miss_reason: null },
  },
}
export const block = (index: number, content_block: object, ...deltas: object[]): Event[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
export const text = (index: number, ...pieces: string[]): Event[] =>
  block(
    index,
    { type: 'text', text: '', citations: null },
    ...pieces.map((piece) => ({ type: 'text_delta', text: piece })),
  )
export const call = (index: number, id: string, ...pieces: string[]): Event[] =>
  block(
    index,
    { type: 'tool_use', id, name: 'read', input: {}, caller: { type: 'direct' } },
    ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  )
export const stop = (stop_reason: string, extra: object = {}): Event[] => [
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 89, input_tokens: null },
    ...extra,
  },
  { type: 'message_stop' },
]
export const hello = sse([start, ...text(0, 'Hel', 'lo'), ...stop('end_turn')])
export const overloaded: Event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
