// Coding agents of other makers behind the gateway, offline: the same task direct and at every level, with the bill of the
// simulator. `npm run clients -- gateway [--steps=N] [--only=NAME]`, and with `--long` a day's work of 200 calls
// (gateway-long), with `--start` each as `pal gateway -- CLIENT` starts it. Where one cannot be installed a line says so.
import { systemClock } from '../src/transcript/ids.ts'
import { claude, codex, gemini, opencode, pi, type Client } from './agents.ts'
import { openBench, ways, type Bill, type Way } from './behind-gateway.ts'
import { longTask } from './gateway-long.ts'
import { startClients } from './gateway-start.ts'
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

async function shortTask(
  client: Client,
  folder: string,
  way: Way,
): Promise<Bill & { readonly isDone: boolean }> {
  const bench = await openBench(client, folder, way, systemClock)
  const out = await bench.run(task)
  const bill = bench.bill()
  await bench.stop()
  return { ...bill, isDone: out.includes('All steps are done') }
}

async function judge(client: Client): Promise<void> {
  const folder = installed(client.packages[0] ?? '', client.packages)
  if (folder === null)
    return verdicts.skip(client.label, `${client.packages.join(' ')} cannot be installed here`)
  if (process.argv.includes('--long'))
    return longTask(client, folder, verdicts, flag('session'), flag('ways'))
  const bills = new Map<Way, Bill & { readonly isDone: boolean }>()
  for (const way of ways) bills.set(way, await shortTask(client, folder, way))
  const direct = bills.get('direct')!
  for (const [way, { requests, refused, read, write, cost, isDone }] of bills) {
    const figures = `${requests} requests, ${refused} refused, cache read ${read}, write ${write}, $${cost.toFixed(3)}`
    process.stdout.write(`     ${client.label} ${way}: ${figures}\n`)
    verdicts.check(
      `${client.label}, ${way}: the task is done and nothing more is refused than direct`,
      isDone && refused <= direct.refused,
    )
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
