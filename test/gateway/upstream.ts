// An upstream that does as a test says, and a client that speaks HTTP by hand: for what no library would send or do.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Upstream {
  readonly url: string
  readonly got: { readonly method: string; readonly path: string; readonly body: string }[]
  /** Connections that are open. */
  readonly open: () => number
  stop(): Promise<void>
}

type Handler = (
  asked: { readonly body: string; readonly incoming: IncomingMessage; readonly number: number },
  response: ServerResponse,
) => void

export async function startUpstream(handler: Handler): Promise<Upstream> {
  const got: Upstream['got'] = []
  let open = 0
  const server = createServer({ maxHeaderSize: 1_000_000 }, (incoming, response) => {
    text(incoming).then(
      (body) => {
        got.push({ method: incoming.method ?? '', path: incoming.url ?? '', body })
        handler({ body, incoming, number: got.length }, response)
      },
      () => undefined,
    )
  })
  server.on('connection', (socket) => {
    open++
    socket.once('close', () => open--)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    open: () => open,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Writes bytes to a server and gives all it says until it closes, or until what it said has a word in it. */
export function speak(url: string, said: string, upTo = '\r\n\r\n'): Promise<string> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(said))
    let heard = ''
    socket.on('data', (bytes) => {
      heard += bytes.toString()
      if (heard.includes(upTo)) socket.destroy()
    })
    socket.once('close', () => resolve(heard))
    socket.once('error', reject)
  })
}

/** An answer of the Messages API. */
export const messageOf = (text: string, usage: object = {}): string =>
  JSON.stringify({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 10,
      output_tokens: 2,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 5,
      ...usage,
    },
  })

export const answers = (response: ServerResponse, body: string, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(body)

interface Turn {
  readonly role: string
  readonly content: unknown
}
/** The body of a request with these messages. */
export const asking = (messages: readonly Turn[], more: object = {}): string =>
  JSON.stringify({
    model: 'claude-opus-5',
    max_tokens: 100,
    tools: [{ name: 't', description: 'd', input_schema: { type: 'object' } }],
    messages,
    ...more,
  })

export const says = (content: string): Turn => ({ role: 'user', content })
export const replies = (text: string): Turn => ({ role: 'assistant', content: [{ type: 'text', text }] })
export const calls = (id: string): Turn => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 't', input: {} }],
})
export const gives = (id: string, content: string): Turn => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
})
