// Speaks to a running inspector as its page does, and as others would.
import { request } from 'node:http'
import { decodeChunk } from '../../src/inspector/columns.ts'
import type { IndexChunk, LiveEvent } from '../../src/inspector/protocol.ts'
import type { Running, Workspace } from '../cli/pal.ts'
import { until } from '../until.ts'

export interface Raw {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

export interface Client {
  readonly port: number
  readonly token: string
  readonly get: <T>(path: string) => Promise<T>
  readonly post: (path: string, body: unknown) => Promise<{ readonly status: number; readonly body: unknown }>
  readonly raw: (options: RawOptions) => Promise<Raw>
  readonly chunks: (session: string, count?: number) => Promise<readonly IndexChunk[]>
  readonly live: (session: string | null) => Promise<LiveStream>
}
export interface RawOptions {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** False: no token goes along. */
  readonly withToken?: boolean
}
export interface LiveStream {
  readonly events: readonly LiveEvent[]
  close(): void
}

export function clientOf(port: number, token: string): Client {
  const raw = ({ path, method = 'GET', headers = {}, body, withToken = true }: RawOptions): Promise<Raw> =>
    new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          headers: { ...(withToken ? { authorization: `Bearer ${token}` } : {}), ...headers },
        },
        (response) => {
          const pieces: Buffer[] = []
          response.on('data', (piece: Buffer) => pieces.push(piece))
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              bytes: Buffer.concat(pieces),
            }),
          )
        },
      )
      asked.on('error', reject)
      asked.end(body)
    })
  const get = async <T>(path: string): Promise<T> => {
    const { status, bytes } = await raw({ path })
    if (status !== 200) throw new Error(`${path}: ${status} ${bytes.toString()}`)
    return JSON.parse(bytes.toString()) as T
  }
  return {
    port,
    token,
    raw,
    get,
    post: async (path, body) => {
      const headers = { 'content-type': 'application/json' }
      const answered = await raw({ path, method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answered.status, body: JSON.parse(answered.bytes.toString()) as unknown }
    },
    chunks: async (session, count = 1000) => {
      const chunks: IndexChunk[] = []
      for (let before: number | null = null; ;) {
        const query = `count=${count}${before === null ? '' : `&before=${before}`}`
        const { bytes } = await raw({ path: `/api/s/${session}/index?${query}` })
        const chunk = decodeChunk(bytes)!
        chunks.push(chunk)
        before = chunk.before
        if (before === null) return chunks
      }
    },
    live: async (session) => {
      const events: LiveEvent[] = []
      const abort = new AbortController()
      const query = session === null ? '' : `?session=${session}`
      const response = await fetch(`http://127.0.0.1:${port}/api/live${query}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: abort.signal,
      })
      void readEvents(response, events).catch(() => undefined)
      return { events, close: () => abort.abort() }
    },
  }
}

async function readEvents(response: Response, events: LiveEvent[]): Promise<void> {
  let text = ''
  const decoder = new TextDecoder()
  const reader = response.body!.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += decoder.decode(read.value, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [type, data] = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      events.push({
        type: type!.slice('event: '.length),
        ...(JSON.parse(data!.slice('data: '.length)) as object),
      } as LiveEvent)
    }
  }
}

export interface Inspected extends Client {
  /** With the token in its fragment. */
  readonly url: string
  readonly running: Running
  readonly stop: () => Promise<number | null>
}

/** `pal inspect` in a workspace, and a client for it; it ends with the test. */
export async function inspecting(
  at: Pick<Workspace, 'start'>,
  words: readonly string[] = [],
): Promise<Inspected> {
  const running = await at.start(['inspect', '--json', '--no-open', ...words])
  let out = ''
  running.child.stdout?.on('data', (text: string) => (out += text))
  await until(() => out.includes('\n') || running.child.exitCode !== null, 'the address of the inspector')
  const { url } = JSON.parse(out) as { readonly url: string }
  const { port, hash } = new URL(url)
  const client = clientOf(Number(port), hash.replace('#t=', ''))
  return {
    ...client,
    url,
    running,
    stop: async () => {
      running.child.kill('SIGINT')
      return (await running.ended).code
    },
  }
}
