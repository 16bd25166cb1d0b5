// A session of any length as the inspector's server would answer it, made up and served from memory: what is measured is the
// page, not the server. The columns are encoded by the real encoder.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeChunk } from '../src/inspector/columns.ts'
import type {
  About,
  Carried,
  IndexChunk,
  Lines,
  RequestChunk,
  SessionHead,
  SessionRow,
} from '../src/inspector/protocol.ts'

const kinds = ['user-message', 'assistant-message', 'tool-result', 'request-sent', 'view-edit']
const labels = ['Bash', 'Read', 'Edit', 'main', 'microcompact']
const started = 1_763_200_000_000
/** One request for so many entries. */
const entriesPerRequest = 10

const kindAt = (seq: number): number => (seq % entriesPerRequest === 0 ? 3 : seq % 97 === 0 ? 4 : seq % 3)
const tokensAt = (seq: number): number => (kindAt(seq) < 3 ? 40 + ((seq * 7919) % 4000) : 0)

export class MadeSession {
  #count: number

  constructor(count: number) {
    this.#count = count
  }

  get head(): number {
    return this.#count - 1
  }

  grow(by: number): void {
    this.#count += by
  }

  #totals() {
    const requests = Math.ceil(this.#count / entriesPerRequest)
    return {
      requests,
      input: requests * 20,
      read: requests * 60_000,
      written: requests * 900,
      output: requests * 300,
      dollars: requests * 0.02,
      unpriced: 0,
      estimated: 0,
    }
  }

  row(): SessionRow {
    return {
      session: 'big',
      kind: 'own',
      title: 'a made-up session',
      purpose: 'main',
      startedBy: null,
      cwd: '/made/up',
      bytes: this.#count * 2000,
      modifiedAt: started,
      owner: null,
      damage: null,
      figures: this.#totals(),
      window: { tokens: 60_000, limit: 200_000 },
      lastBreak: null,
    }
  }

  headAnswer(): SessionHead {
    const totals = this.#totals()
    return {
      ...this.row(),
      first: 0,
      head: this.head,
      totals,
      forks: { tokens: 0, dollars: 0 },
      requests: totals.requests,
      edits: 0,
      breaks: 0,
      models: ['claude-sonnet-5'],
      parent: null,
      readOnlyFrom: null,
    }
  }

  index(before: number, count: number): Uint8Array {
    const to = Math.min(this.head, before - 1)
    const from = Math.max(0, to - count + 1)
    const length = to - from + 1
    const chunk: IndexChunk = {
      from,
      to,
      at: started + from * 1000,
      head: this.head,
      before: from === 0 ? null : from,
      kinds,
      labels,
      bytes: Uint32Array.from({ length }, () => 2000),
      delta: Int32Array.from({ length }, () => 1000),
      tokens: Uint32Array.from({ length }, (_, at) => tokensAt(from + at)),
      label: Uint16Array.from({ length }, (_, at) =>
        kindAt(from + at) === 2 ? (from + at) % 3 : kindAt(from + at) === 3 ? 3 : 65_535,
      ),
      kind: Uint8Array.from({ length }, (_, at) => kindAt(from + at)),
      flags: Uint8Array.from({ length }, (_, at) => (tokensAt(from + at) > 0 ? 1 : 0)),
    }
    return encodeChunk(chunk)
  }

  requests(before: number, count: number): RequestChunk {
    const last = Math.floor(Math.min(this.head, before - 1) / entriesPerRequest)
    const first = Math.max(0, last - count + 1)
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const held = (at: number): number[] => {
      const grown = (at * 611) % 150_000
      return [
        4000,
        9000,
        2000 + (grown % 1000),
        Math.round(grown * 0.3),
        Math.round(grown * 0.6),
        at % 400 > 200 ? 8000 : 0,
      ]
    }
    const all = <T>(value: T): T[] => numbers.map(() => value)
    return {
      before: first === 0 ? null : first * entriesPerRequest,
      head: this.head,
      seq: numbers.map((at) => at * entriesPerRequest),
      number: numbers.map((at) => at + 1),
      at: numbers.map((at) => started + at * 10_000),
      source: all(0),
      sources: ['main'],
      model: all(0),
      models: ['claude-sonnet-5'],
      input: all(20),
      read: numbers.map((at) => (at % 50 === 0 ? 0 : 60_000)),
      written: numbers.map((at) => (at % 50 === 0 ? 60_000 : 900)),
      output: all(300),
      dollars: numbers.map((at) => (at % 50 === 0 ? 0.2 : 0.02)),
      tokens: numbers.map((at) => held(at).reduce((sum, tokens) => sum + tokens, 0)),
      byHolder: numbers.map(held),
      limit: all(200_000),
      answer: numbers.map((at) => at * entriesPerRequest + 1),
      break: all(null),
      firstMs: all(null),
      ms: all(null),
      tries: all(null),
    }
  }

  lines(from: number, to: number): Lines {
    const line = (seq: number): string =>
      JSON.stringify({
        v: 1,
        seq,
        fact: {
          type: kinds[kindAt(seq)],
          content: [
            { type: 'text', text: `entry ${seq} says something of the usual length, as most of them do` },
          ],
        },
      })
    const lines = Array.from({ length: to - from + 1 }, (_, at) => ({
      seq: from + at,
      line: line(from + at),
    }))
    return { lines, next: null, damage: [] }
  }

  carried(from: number, to: number): Carried {
    const all = Array.from({ length: to - from + 1 }, (_, at) => (from + at) % 300)
    return { from, to, requests: all, dollars: all.map((count) => count * 0.0003) }
  }
}

export interface MadeServer {
  readonly url: string
  readonly session: MadeSession
  /** Tells the pages that the session has grown. */
  tell(from: number): void
  stop(): Promise<void>
}

/** Serves the files of a built page and one made-up session. */
export async function serveMade(folder: string, count: number): Promise<MadeServer> {
  const session = new MadeSession(count)
  const streams = new Set<ServerResponse>()
  const about: About = { version: '0', protocol: 1, session: null, canChange: false }
  const types: Readonly<Record<string, string>> = {
    html: 'text/html',
    js: 'text/javascript',
    css: 'text/css',
  }
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://made')
    const number = (name: string): number => Number(searchParams.get(name))
    const json = (value: unknown): void =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
    const path = pathname.replace(/^\/api/, '')
    if (path === '/live') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: alive\ndata: {}\n\n')
      streams.add(response)
      incoming.on('close', () => streams.delete(response))
    } else if (path === '/about') json(about)
    else if (path === '/sessions') json({ sessions: [session.row()], problems: [] })
    else if (path === '/s/big') json(session.headAnswer())
    else if (path === '/s/big/index') response.end(session.index(number('before'), number('count')))
    else if (path === '/s/big/requests') json(session.requests(number('before'), number('count')))
    else if (path === '/s/big/lines') json(session.lines(number('from'), number('to')))
    else if (path === '/s/big/carried') json(session.carried(number('from'), number('to')))
    else if (path === '/s/big/edits') json({ edits: [] })
    else if (path === '/s/big/breaks') json({ breaks: [] })
    else {
      const name = pathname === '/' ? 'index.html' : pathname.slice(1)
      try {
        response.setHeader('content-type', types[name.split('.').at(-1) ?? ''] ?? 'text/plain')
        response.end(readFileSync(join(folder, name)))
      } catch {
        response.writeHead(404).end()
      }
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/#t=bench`,
    session,
    tell: (from) => {
      const data = { session: 'big', from, head: session.head, stale: null, requests: 0, edits: 0, breaks: 0 }
      for (const stream of streams) stream.write(`event: grew\ndata: ${JSON.stringify(data)}\n\n`)
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
