// What the gateway adds to a request: wall and processor time at 100K and 1M tokens beside the same request sent directly,
// 64 clients at once, and the memory of 50 open conversations of 1M tokens. Upstream and clients are another process, so that
// the gateway's own time and memory are told. `npm run bench -- gateway`
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gatewayBefore } from './gateway-before.ts'

const runs = 41
/** A gateway runs for a day: what is measured is not its first requests. */
const warmUp = 60
const clients = 64
const conversations = 50

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

const answer = JSON.stringify({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
})

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
      incoming.once('end', () =>
        incoming.statusCode === 200
          ? resolve(performance.now() - begun)
          : reject(new Error(`status ${incoming.statusCode ?? 0}`)),
      )
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}

/** What the other process is asked: requests of a size to an address, so many at once, so often. */
interface Job {
  readonly url: string
  readonly tokens: number
  readonly seeds: readonly number[]
  readonly atOnce: number
}

/** Milliseconds of each, in order. */
async function done({ url, tokens, seeds, atOnce }: Job): Promise<readonly number[]> {
  const times: number[] = []
  for (let at = 0; at < seeds.length; at += atOnce) {
    const bodies = seeds.slice(at, at + atOnce).map((seed) => bodyOf(tokens, seed))
    times.push(...(await Promise.all(bodies.map((body) => timed(url, body)))))
  }
  return times
}

async function serve(): Promise<void> {
  const server = createServer((incoming, response) => {
    incoming.resume()
    incoming.once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.on('message', (job: Job) => {
    void done(job).then((times) => process.send?.(times))
  })
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

const ms = (value: number): string => `${value.toFixed(1)} ms`
const medianOf = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pal-bench-gateway-'))
  const other = fork(process.argv[1]!, ['--serve'], { execArgv: [] })
  const told = <T>(): Promise<T> =>
    new Promise((resolve) => other.once('message', (value: T) => resolve(value)))
  const upstream = await told<string>()
  const ask = (job: Job): Promise<readonly number[]> => {
    const answered = told<readonly number[]>()
    other.send(job)
    return answered
  }
  const same = (count: number): readonly number[] => Array.from({ length: count }, () => 0)
  for (const tokens of [100_000, 1_000_000]) {
    const direct = medianOf(await ask({ url: upstream, tokens, seeds: same(runs), atOnce: 1 }))
    for (const level of ['watch', 'trim'] as const) {
      const gateway = await gatewayBefore(upstream, join(folder, level), { level, recorder: null })
      await ask({ url: gateway.url, tokens, seeds: same(warmUp), atOnce: 1 })
      const before = process.cpuUsage()
      const through = medianOf(await ask({ url: gateway.url, tokens, seeds: same(runs), atOnce: 1 }))
      const cpu = cpuMs(before) / runs
      await gateway.stop()
      process.stdout.write(
        `${tokens / 1000}K tokens (${(bodyOf(tokens, 0).length / 1e6).toFixed(1)} MB), ${level}: direct ${ms(direct)}, through ${ms(through)}, added ${ms(through - direct)} (median of ${runs}); processor time of the gateway ${ms(cpu)} a request\n`,
      )
    }
  }
  const gateway = await gatewayBefore(upstream, join(folder, 'many'), { recorder: null })
  const seeds = Array.from({ length: clients }, (_, at) => at)
  const begun = performance.now()
  await ask({ url: gateway.url, tokens: 100_000, seeds, atOnce: clients })
  process.stdout.write(
    `${clients} clients at once with 100K tokens each: all answered in ${ms(performance.now() - begun)}\n`,
  )
  for (let seed = 0; seed < conversations; seed++)
    await ask({ url: gateway.url, tokens: 1_000_000, seeds: [1000 + seed], atOnce: 1 })
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  process.stdout.write(
    `${conversations} open conversations of 1M tokens: ${(heapUsed / 1e6).toFixed(0)} MB of heap, ${(rss / 1e6).toFixed(0)} MB resident\n`,
  )
  await gateway.stop()
  other.kill()
  rmSync(folder, { recursive: true, force: true })
}

await (process.argv.includes('--serve') ? serve() : measure())
