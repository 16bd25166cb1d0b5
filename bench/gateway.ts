// What the gateway adds to a request: the time until its upstream has it whole, at 100K and 1M tokens, beside the same request
// sent there directly, and the memory of 50 open conversations of 1M tokens. `npm run bench -- gateway`
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineFileSystem } from '../src/disk/fs.ts'
import { startGateway, Tenants, type Gateway } from '../src/gateway/index.ts'
import { modelTable } from '../src/model/models.ts'
import { defaults } from '../src/settings/defaults.ts'
import { systemClock } from '../src/transcript/ids.ts'

const runs = 15
const folder = mkdtempSync(join(tmpdir(), 'pal-bench-gateway-'))
const answer = JSON.stringify({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
})

/** A conversation of about so many tokens; `seed` makes it another. */
function bodyOf(tokens: number, seed: number): string {
  const text = `const value = "line of a file";\n  return compute(value, ${seed})\n`.repeat(60)
  const rounds = Math.ceil((tokens * 4) / (text.length + 300))
  const messages = Array.from({ length: rounds }, (_, at) => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `t${at}`, name: 'shell', input: { command: `cat ${seed}/${at}` } }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: [{ type: 'text', text }] }],
    },
  ]).flat()
  const tools = [{ name: 'shell', description: 'd', input_schema: { type: 'object' } }]
  return JSON.stringify({
    model: 'claude-opus-5',
    tools,
    messages: [{ role: 'user', content: `go ${seed}` }, ...messages],
  })
}

const server = createServer((incoming, response) => {
  incoming.resume()
  incoming.once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function gatewayAt(level: 'watch' | 'trim'): Promise<Gateway> {
  const url = new URL(upstream)
  return startGateway({
    level,
    upstreams: { anthropic: url, 'openai-chat': url, 'openai-responses': url, gemini: url },
    listen: { host: '127.0.0.1', port: 0 },
    token: 't',
    salt: 's',
    limits: defaults.gateway,
    keptFolder: join(folder, level),
    tenants: new Tenants(machineFileSystem, join(folder, level)),
    recorder: null,
    models: modelTable(),
    clock: systemClock,
    tell: () => undefined,
  })
}

function timed(url: string, body: string): Promise<number> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'x-api-key': 'k',
      'content-length': Buffer.byteLength(body),
    }
    const outgoing = request(`${url}/v1/messages`, { method: 'POST', headers }, (incoming) => {
      incoming.resume()
      incoming.once('end', () => resolve(performance.now() - begun))
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}

async function medianOf(url: string, body: string): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) times.push(await timed(url, body))
  return times.toSorted((a, b) => a - b)[Math.floor(runs / 2)]!
}

const ms = (value: number): string => `${value.toFixed(1)} ms`
for (const tokens of [100_000, 1_000_000]) {
  const body = bodyOf(tokens, 0)
  const direct = await medianOf(upstream, body)
  for (const level of ['watch', 'trim'] as const) {
    const gateway = await gatewayAt(level)
    const through = await medianOf(gateway.url, body)
    await gateway.stop()
    process.stdout.write(
      `${tokens / 1000}K tokens (${(body.length / 1e6).toFixed(1)} MB), ${level}: direct ${ms(direct)}, through ${ms(through)}, added ${ms(through - direct)} (${(through / direct).toFixed(1)}×)\n`,
    )
  }
}

const gateway = await gatewayAt('trim')
const heapAfter = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}
const before = heapAfter()
for (let seed = 0; seed < 50; seed++) await timed(gateway.url, bodyOf(1_000_000, seed))
process.stdout.write(
  `50 open conversations of 1M tokens hold ${(heapAfter() - before).toFixed(0)} MB of heap${globalThis.gc === undefined ? ' (uncollected; node --expose-gc tells it exactly)' : ''}, ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB resident\n`,
)
await gateway.stop()
server.close()
rmSync(folder, { recursive: true, force: true })
