// A forwarder that notes what passes, byte for byte: before and behind a gateway, to compare what a client sent with what its
// API got, and to record what clients send without the words of their makers.
import { createHash } from 'node:crypto'
import { createServer, request, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Passed {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Hop {
  readonly url: string
  readonly passed: Passed[]
  stop(): Promise<void>
}

export async function startHop(to: string): Promise<Hop> {
  const passed: Passed[] = []
  const server = createServer((incoming, response) => {
    void buffer(incoming).then((body) => {
      const path = incoming.url ?? '/'
      const { headers, method = 'GET' } = incoming
      if (method === 'POST') passed.push({ path, headers, body })
      const sent = { ...headers, host: new URL(to).host }
      const outgoing = request(`${to}${path}`, { method, headers: sent }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      outgoing.once('error', () => response.destroy())
      outgoing.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** How often each body passed, whatever came first. */
export const countsOf = (passed: readonly Passed[]): string =>
  passed
    .map(({ path, body }) => `${path} ${createHash('sha256').update(body).digest('hex')}`)
    .toSorted()
    .join('\n')

/** Longer texts are somebody's words; shorter ones are the wire's. */
const longest = 24
/** Of our own task: what it runs and how large what it prints is. */
const ours = /^(?:\d+(?:\\n|$)){20}/u

/** The same bytes with every long text replaced: as long as it was, equal for equal texts, no word of it left. */
export const withoutWords = (body: Buffer): string =>
  body
    .toString()
    .replaceAll(/"((?:[^"\\]|\\.)*)"/gu, (whole, text: string) =>
      text.length <= longest || ours.test(text) ? whole : `"${fillerOf(text)}"`,
    )

function fillerOf(text: string): string {
  const name = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return name.repeat(Math.ceil(text.length / name.length)).slice(0, text.length)
}
