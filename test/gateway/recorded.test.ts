// What real clients send (recorded by `npm run clients -- gateway --record`, their makers' words taken out) through a gateway.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chainOf } from '../../src/fit/chain.ts'
import { readRequest } from '../../src/fit/layouts.ts'
import { sha256 } from '../../src/gateway/digest.ts'
import { routeOf } from '../../src/gateway/identity.ts'
import { newWorld, send, startStub, type Reply, type Stub, type World } from './world.ts'

interface Recorded {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
const folder = join(import.meta.dirname, '..', 'fixtures', 'gateway')
const clients = readdirSync(folder).map((name) => ({
  name: name.replace('.json.gz', ''),
  requests: JSON.parse(gunzipSync(readFileSync(join(folder, name))).toString()) as readonly Recorded[],
}))

let world: World
let stub: Stub
beforeEach(async () => {
  world = newWorld()
  stub = await startStub(() => ({ status: 200, pieces: ['{}'] }))
})
afterEach(async () => {
  await world.end()
  await stub.stop()
})

async function play(url: string, requests: readonly Recorded[]): Promise<readonly Reply[]> {
  const replies: Reply[] = []
  for (const { path, headers, body } of requests) replies.push(await send(url + path, body, headers))
  return replies
}

/** The beginnings of a request, by content alone. */
function linksOf(path: string, body: Uint8Array): readonly string[] {
  const pathname = path.split('?')[0]!
  const route = routeOf('POST', { pathname, hasKey: false }, () => undefined)
  const request = route.kind === 'answer' ? readRequest(route.wire, body, pathname) : null
  return request === null ? [] : chainOf('', request, sha256).links
}

describe('requests of real clients', () => {
  it('are at hand for five of them', () => {
    expect(clients.map(({ name }) => name)).toEqual([
      'claude-code-2.1.325',
      'codex-0.166.0-with-gpt-6.1-sol',
      'gemini-cli-0.61.0',
      'opencode-1.18.33',
      'pi-0.87.1',
    ])
  })

  it.each(clients)(
    '[GW3] G1: $name: watch sends every one byte for byte, in one session',
    async ({ requests }) => {
      const { url } = await world.gateway(stub.url, { level: 'watch' })
      const replies = await play(url, requests)
      expect(stub.got.map(({ body }) => body.toString())).toEqual(requests.map(({ body }) => body))
      const sessions = replies.flatMap(({ headers }) => headers['x-palimpsest-session'] ?? [])
      expect(sessions.length).toBeGreaterThan(3)
      expect(new Set(sessions).size).toBe(1)
    },
  )

  it.each(clients)(
    '[GW4] G2: $name: trim sends every beginning as it sent it before',
    async ({ requests }) => {
      const { url } = await world.gateway(stub.url)
      const replies = await play(url, requests)
      const ofTask = stub.got.flatMap(({ path, body }, at) =>
        replies[at]!.headers['x-palimpsest-session'] === undefined ? [] : [linksOf(path, body)],
      )
      expect(ofTask.length).toBeGreaterThan(3)
      for (const [at, links] of ofTask.entries())
        if (at > 0) expect(links.slice(0, ofTask[at - 1]!.length)).toEqual(ofTask[at - 1])
      const size = (bodies: readonly { readonly length: number }[]): number => bodies.at(-1)!.length
      const largest = Math.max(...requests.map(({ body }) => largestText(body)))
      if (largest > 16_000)
        expect(size(stub.got.map(({ body }) => body))).toBeLessThan(
          size(requests.map(({ body }) => body)) / 1.5,
        )
    },
  )
})

/** The longest text of a body that is not its system prompt: what a tool has given. */
const largestText = (body: string): number =>
  Math.max(0, ...[...body.matchAll(/"(\d{5}\\n(?:[^"\\]|\\.)*)"/gu)].map(([, text]) => text!.length))
