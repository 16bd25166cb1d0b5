// Coding agents of other makers behind the gateway, offline: the same task direct and at every level, with the bill of the
// simulator. `npm run clients -- gateway [--steps=N] [--only=NAME] [--model=ID]`, with `--record` what each sends is written
// down for the tests, with `--long` a day's work of 200 calls
// (gateway-long), with `--start` each as `pal gateway -- CLIENT` starts it. Where one cannot be installed a line says so.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { claude, codex, gemini, opencode, pi, type Client } from './agents.ts'
import { openBench, ways, type Bill, type Way } from './behind-gateway.ts'
import { longTask } from './gateway-long.ts'
import { startClients } from './gateway-start.ts'
import { withoutWords, type Passed } from './hop.ts'
import { createVerdicts, installed } from './on-demand.ts'

const verdicts = createVerdicts()
const flag = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3)
const steps = Number(flag('steps') ?? 8)
const only = flag('only')

/** Each step prints about 24,000 characters. */
const task = [
  '<task name="gateway">',
  ...Array.from(
    { length: steps },
    (_, step) => `${step + 1}. run seq ${step * 10_000 + 10_000} ${step * 10_000 + 14_000}`,
  ),
  `${steps + 1}. say All steps are done.`,
  '</task>',
].join('\n')

interface Short extends Bill {
  readonly isDone: boolean
  readonly isAsSent: boolean
}

async function shortTask(client: Client, folder: string, way: Way): Promise<Short> {
  const bench = await openBench(client, folder, way, { model: flag('model') })
  const out = await bench.run(task)
  const bill = bench.bill()
  if (way === 'direct' && process.argv.includes('--record')) record(client, bench.sent())
  await bench.stop()
  return { ...bill, isDone: out.includes('All steps are done'), isAsSent: bench.isAsSent() }
}

/** Headers by which a gateway tells conversations and clients apart; the rest is of the machine it ran on. */
const told =
  /^(?:content-type|user-agent|anthropic-(?:version|beta)|session-id|thread-id|x-session-.*|x-claude-.*)$/u

/** Writes what a client sent down for the tests, without the words of its maker and without its key. */
function record(client: Client, sent: readonly Passed[]): void {
  const requests = sent.map(({ path, headers, body }) => ({
    path,
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        told.test(name) ? [[name, String(value).replaceAll(/ ?\([^)]*\)/gu, '')]] : [],
      ),
    ),
    body: withoutWords(body),
  }))
  const file = `${client.label.toLowerCase().replaceAll(/[^a-z0-9.]+/gu, '-')}.json.gz`
  const path = join(import.meta.dirname, '..', 'test', 'fixtures', 'gateway', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, gzipSync(JSON.stringify(requests)))
  process.stdout.write(`     ${client.label}: ${requests.length} requests recorded in ${path}\n`)
}

async function judge(client: Client): Promise<void> {
  const folder = installed(client.packages[0] ?? '', client.packages)
  if (folder === null)
    return verdicts.skip(client.label, `${client.packages.join(' ')} cannot be installed here`)
  if (process.argv.includes('--long'))
    return longTask(client, folder, verdicts, flag('session'), flag('ways'))
  const bills = new Map<Way, Short>()
  for (const way of ways) bills.set(way, await shortTask(client, folder, way))
  const direct = bills.get('direct')!
  for (const [way, { requests, refused, read, write, cost, isDone, isAsSent }] of bills) {
    const figures = `${requests} requests, ${refused} refused, cache read ${read}, write ${write}, $${cost.toFixed(3)}`
    process.stdout.write(`     ${client.label} ${way}: ${figures}\n`)
    verdicts.check(
      `${client.label}, ${way}: the task is done and nothing more is refused than direct`,
      isDone && refused <= direct.refused,
    )
    if (way === 'watch')
      verdicts.check(`${client.label}, watch: every body reached the API byte for byte`, isAsSent)
    if (way !== 'direct' && direct.cost > 0)
      verdicts.check(
        `${client.label}, ${way}: costs ${((100 * cost) / direct.cost).toFixed(1)}% of direct`,
        cost <= direct.cost * dearest,
      )
  }
}
/** What a longer path of a folder in the prompt may make a run dearer. */
const dearest = 1.02

if (process.argv.includes('--start')) {
  await startClients(verdicts, only)
  process.exit(verdicts.exitCode())
}
for (const client of [claude, opencode, pi, codex('gpt-6.1-sol'), gemini])
  if (only === undefined || client.label.toLowerCase().startsWith(only)) await judge(client)
process.exitCode = verdicts.exitCode()
