// What tests of the gateway stand on: a gateway with its own folder in front of an upstream, and a small foreign agent that
// works as real clients do (string and list contents, a moving cache breakpoint, everything sent again every time).
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gatewayBefore } from '../../bench/gateway-before.ts'
import type { Gateway, GatewayOptions } from '../../src/gateway/index.ts'

export interface World {
  readonly folder: string
  readonly lines: string[]
  gateway(upstream: string, options?: Partial<GatewayOptions>): Promise<Gateway>
  end(): Promise<void>
}

export function newWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), 'pal-gateway-'))
  const running: Gateway[] = []
  const lines: string[] = []
  return {
    folder,
    lines,
    async gateway(upstream, options = {}) {
      const tell = (line: string): void => void lines.push(line)
      const gateway = await gatewayBefore(upstream, folder, { tell, ...options })
      running.push(gateway)
      return gateway
    },
    async end() {
      for (const gateway of running) await gateway.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A plain request, with nothing a library would add. */
export function send(
  url: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  method = 'POST',
  hear: (piece: string) => void = () => undefined,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      { method, headers: { 'content-type': 'application/json', 'x-api-key': 'k-canary-123', ...headers } },
      (incoming) => {
        const pieces: Buffer[] = []
        incoming.on('data', (bytes: Buffer) => {
          pieces.push(bytes)
          hear(bytes.toString())
        })
        incoming.once('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(pieces).toString(),
          }),
        )
        incoming.once('error', reject)
      },
    )
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}

/** What an upstream got, byte for byte, and what it answers. */
export interface Stub {
  readonly url: string
  readonly got: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[]
  stop(): Promise<void>
}

export type StubAnswer = (request: { readonly number: number; readonly body: Buffer }) => {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly pieces: readonly (string | Buffer)[]
  /** Cut the connection behind the last piece. */
  readonly cut?: boolean
}

export async function startStub(answer: StubAnswer): Promise<Stub> {
  const got: Stub['got'] = []
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = []
    incoming.on('data', (bytes: Buffer) => pieces.push(bytes))
    incoming.once('end', () => {
      const body = Buffer.concat(pieces)
      got.push({ path: incoming.url ?? '', headers: incoming.headers, body })
      const { status, headers = {}, pieces: said, cut } = answer({ number: got.length, body })
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      for (const piece of said) response.write(piece)
      // Only once the system has what was said.
      if (cut === true) response.write(' ', () => response.destroy())
      else response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface Block {
  readonly type: string
  readonly [key: string]: unknown
}

export interface AgentOptions {
  readonly model?: string
  readonly steps: number
  readonly resultChars: number
  /** So many prompts one after the other, each with so many steps. */
  readonly prompts?: number
  /** Asked for before each request. */
  readonly headers?: () => Readonly<Record<string, string>>
  /** The client puts words of its own behind the first prompt, and clears reasoning, as Claude Code does. */
  readonly speaksForItself?: boolean
}

/** A task of so many calls, each with a result of so many characters. Gives every body it sent. */
export async function runAgent(url: string, options: AgentOptions): Promise<readonly string[]> {
  const { model = 'claude-opus-5', steps, resultChars, prompts = 1, headers = () => ({}) } = options
  const messages: { role: string; content: string | Block[] }[] = [{ role: 'user', content: 'do the task' }]
  const own = options.speaksForItself === true
  if (own) messages.push({ role: 'system', content: 'the environment of the client' })
  const bodies: string[] = []
  let asked = 1
  for (let step = 0; step < (steps + 1) * prompts; step++) {
    const sent = messages.map((message, at) => {
      if (at < messages.length - 1) return message
      const blocks =
        typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
      return {
        ...message,
        content: blocks.map((block, index) =>
          index === blocks.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
        ),
      }
    })
    const body = JSON.stringify({
      model,
      max_tokens: 1000,
      system: [
        { type: 'text', text: 'You are a foreign agent. '.repeat(200), cache_control: { type: 'ephemeral' } },
      ],
      tools: [
        { name: 'shell', description: 'runs a command', input_schema: { type: 'object', properties: {} } },
      ],
      messages: sent,
      stream: false,
    })
    bodies.push(body)
    const reply = await send(`${url}/v1/messages?beta=true`, body, {
      'anthropic-version': '2023-06-01',
      ...headers(),
    })
    if (reply.status !== 200) throw new Error(`${reply.status}: ${reply.body}`)
    const answer = JSON.parse(reply.body) as { content: Block[] }
    messages.push({ role: 'assistant', content: answer.content })
    const calls = answer.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) {
      if (asked++ >= prompts) break
      messages.push({ role: 'user', content: `prompt ${asked}: remember the canary-${asked} and go on` })
      continue
    }
    messages.push({
      role: 'user',
      content: calls.map((call) => ({
        type: 'tool_result',
        tool_use_id: call['id'],
        content: lines(resultChars, step),
      })),
    })
  }
  return bodies
}

export const lines = (chars: number, seed: number): string =>
  Array.from({ length: Math.ceil(chars / 40) }, (_, at) =>
    `line ${at} of result ${seed}: ${'x'.repeat(16)}`.padEnd(39),
  )
    .join('\n')
    .slice(0, chars)
